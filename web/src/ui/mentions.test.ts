import { expect, test } from "vitest";
import { mentionLimit, mentionMarkdown, mentionQuery, mentionsIn, parseMention, rankMentions } from "./mentions";

test("only a target of the stored form names a record", () => {
  expect(parseMention("checkstack:incident/0190a-1")).toEqual({ type: "incident", id: "0190a-1" });
  for (const href of [undefined, "", "https://example.com", "checkstack:incident", "checkstack:incident/", "checkstack:incident/a/b", "checkstack:incident/../x", "checkstack:Incident/1", "checkstack:incident/1?x", "javascript:alert(1)", " checkstack:incident/1"]) {
    expect(parseMention(href), String(href)).toBeUndefined();
  }
});

test("a title stays the label, whatever it contains", () => {
  expect(mentionMarkdown({ type: "incident", id: "1" }, "DB ](javascript:x) *down*\n`now`")).toBe("[DB \\](javascript\\:x) \\*down\\* \\`now\\`](checkstack:incident/1)");
});

test("texts are scanned once per record, in order, and not inside code", () => {
  const texts = ["See [A](checkstack:incident/1) and [B \\] c](checkstack:maintenance/2).", null, "Again [A](checkstack:incident/1), `[no](checkstack:incident/3)`\n```\n[no](checkstack:incident/4)\n```\n[yes](checkstack:incident/5)"];
  expect(mentionsIn(texts).map((ref) => `${ref.type}/${ref.id}`)).toEqual(["incident/1", "maintenance/2", "incident/5"]);
});

test("a title with escaped marks is found again", () => {
  for (const title of ["a ` b", "[x](y)", "\\", "back\\slash ]", "#1 <b>"]) {
    expect(mentionsIn([mentionMarkdown({ type: "incident", id: "7" }, title)]), title).toEqual([{ type: "incident", id: "7" }]);
  }
});

test("scanning a long hostile text takes no time", () => {
  const start = performance.now();
  mentionsIn([`${"[".repeat(20_000)}checkstack:`, `${"`".repeat(20_000)} checkstack:`, `${"[a](checkstack:".repeat(2000)}`]);
  expect(performance.now() - start).toBeLessThan(1000);
});

const items = [
  { title: "Zeta database", active: true },
  { title: "Database upgrade", active: false },
  { title: "Database down", active: true },
  { title: "Alpha", active: true },
  { title: "Database 10" },
  { title: "Database 9" },
];

test("active first, then a match at the start, then the alphabet", () => {
  expect(rankMentions(items.filter((item) => /database/i.test(item.title)), "DATA").map((item) => item.title)).toEqual(["Database 9", "Database 10", "Database down", "Zeta database", "Database upgrade"]);
});

test("without a query the owner's order stays, what is over comes last", () => {
  expect(rankMentions(items, "").map((item) => item.title)).toEqual(["Zeta database", "Database down", "Alpha", "Database 10", "Database 9", "Database upgrade"]);
});

test("suggestions are capped", () => {
  expect(rankMentions(Array.from({ length: 50 }, (_, i) => ({ title: `T${i}` })), "")).toHaveLength(mentionLimit);
});

test("a number sign opens the picker where a word starts", () => {
  const at = (text: string) => mentionQuery(text, text.length);
  expect(at("#")).toEqual({ start: 0, query: "" });
  expect(at("see #data")).toEqual({ start: 4, query: "data" });
  expect(at("(#data base")).toEqual({ start: 1, query: "data base" });
  expect(at("line\n#x")).toEqual({ start: 5, query: "x" });
  for (const text of ["", "x", "a#b", "##", "# Heading", "#x\n", "#one two three four five", "[#x](y)z", "issue #1) and"]) expect(at(text), text).toBeUndefined();
});

test("only what stands before the caret counts", () => {
  expect(mentionQuery("see #data and more", 7)).toEqual({ start: 4, query: "da" });
});
