import { expect, test } from "vitest";
import { diffLines, documentOf, effort } from "./diff";

const kinds = (before: string, after: string) => diffLines(before, after).map((row) => row.kind);

test("equal texts have only equal rows with both counters", () => {
  expect(diffLines("a\nb", "a\nb")).toEqual([
    { kind: "equal", left: "a", right: "a", leftNo: 1, rightNo: 1 },
    { kind: "equal", left: "b", right: "b", leftNo: 2, rightNo: 2 },
  ]);
});

test("a deletion followed by an insertion is one changed row with the words that differ", () => {
  expect(diffLines("every 30 seconds", "every 60 seconds")).toEqual([
    {
      kind: "changed",
      left: [{ text: "every ", changed: false }, { text: "30", changed: true }, { text: " seconds", changed: false }],
      right: [{ text: "every ", changed: false }, { text: "60", changed: true }, { text: " seconds", changed: false }],
      leftNo: 1,
      rightNo: 1,
    },
  ]);
});

test("leftovers are plain removed or added rows", () => {
  expect(kinds("a\nb\nc", "a\nc")).toEqual(["equal", "removed", "equal"]);
  expect(kinds("a", "a\nb")).toEqual(["equal", "added"]);
  expect(kinds("a\nb", "x")).toEqual(["changed", "removed"]);
});

test("an absent side is an empty document, null is not", () => {
  expect(diffLines("", "new")).toEqual([{ kind: "added", right: "new", rightNo: 1 }]);
  expect(documentOf({ path: "a", after: 1 }, "before")).toBe("");
  expect(documentOf({ path: "a", before: null, after: 1 }, "before")).toBe("null");
  expect(documentOf({ path: "a", after: { b: 1 } }, "after")).toBe('{\n  "b": 1\n}');
});

test("very long texts fall back to two blocks", () => {
  const long = Array.from({ length: 2001 }, (_, i) => `line ${i}`).join("\n");
  const rows = diffLines(long, long);
  expect(rows).toHaveLength(4002);
  expect(rows[0]?.kind).toBe("removed");
});

const parts = (before: string, after: string) => {
  const [row] = diffLines(before, after);
  return row?.kind === "changed" ? [row.left, row.right].map((side) => side.map((each) => (each.changed ? `[${each.text}]` : each.text)).join("")) : row?.kind;
};

test("words of every script are compared as words, and letters where there are no spaces", () => {
  expect(parts("Проверка раз в минуту", "Проверка раз в час")).toEqual(["Проверка раз в [минуту]", "Проверка раз в [час]"]);
  expect(parts("Größe prüfen", "Größe messen")).toEqual(["Größe [prüfen]", "Größe [messen]"]);
  expect(parts("支払いが遅い", "支払いが速い")).toEqual(["支払いが[遅]い", "支払いが[速]い"]);
  expect(parts("a😀b", "a😎b")).toEqual(["a[😀]b", "a[😎]b"]);
});

test("what was compared is all there again, equal ends too", () => {
  for (const [before, after] of [
    ["a b c d", "a x c d"],
    ["a a a", "a a"],
    ["x", ""],
    ["aXbXc\nsame\nlast", "aXc\nsame\nmore\nlast"],
    ["one\ntwo", "one\ntwo\nthree"],
  ] as const) {
    const rows = diffLines(before, after);
    const side = (name: "left" | "right") =>
      rows
        .flatMap((row) => {
          const value = name in row ? (row as Record<string, unknown>)[name] : undefined;
          return value === undefined ? [] : [typeof value === "string" ? value : (value as { text: string }[]).map((each) => each.text).join("")];
        })
        .join("\n");
    expect(side("left")).toBe(before);
    expect(side("right")).toBe(after);
  }
});

test("the work has a bound, whatever is compared", () => {
  const many = (count: number, each: (i: number) => string) => Array.from({ length: count }, (_, i) => each(i));
  const letters = (shift: number) => many(10_000, (i) => String.fromCodePoint(0x4e00 + ((i * 7 + shift) % 20_000))).join("");
  const used = (before: string, after: string) => {
    const budget = { left: effort };
    const rows = diffLines(before, after, budget);
    expect(rows.length).toBeGreaterThan(0);
    return effort - budget.left;
  };
  expect(used(letters(0), letters(1))).toBeLessThanOrEqual(effort);
  expect(used(many(20_000, (i) => `w${i}`).join(" "), many(20_000, (i) => `v${i}`).join(" "))).toBeLessThanOrEqual(effort);
  expect(used(many(2000, (i) => `line ${i} a b c d e f g h`).join("\n"), many(2000, (i) => `other ${i} h g f e d c b a`).join("\n"))).toBeLessThanOrEqual(effort);
  // Beyond it a line is one change; a small change in a long line is cheap, and still exact.
  expect(parts(letters(0), `${letters(1)}x`)).toEqual([`[${letters(0)}]`, `[${letters(1)}x]`]);
  const long = letters(0);
  expect(used(`${long}a${long}`, `${long}b${long}`)).toBe(2);
  expect(parts(`${long}, a, ${long}`, `${long}, b, ${long}`)).toEqual([`${long}, [a], ${long}`, `${long}, [b], ${long}`]);
});
