import { expect, test } from "vitest";
import { diffLines, documentOf } from "./diff";

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
