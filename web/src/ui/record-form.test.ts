import { expect, test } from "vitest";
import { differing, foreignChanges, merged, type FieldKinds } from "./record-form";

type Values = { title: string; tags: string[]; pinned: boolean };
const kinds: FieldKinds<Values> = {
  title: { label: "Title" },
  tags: { label: "Tags", same: (a, b) => [...a].sort().join() === [...b].sort().join(), shown: (tags) => tags.join(", ") },
  pinned: { label: "Pinned", shown: (on) => (on ? "yes" : "no") },
};
const base: Values = { title: "Old", tags: ["a", "b"], pinned: false };

test("blanks around a text and another order are no difference", () => {
  expect(differing(kinds, base, { title: " Old ", tags: ["b", "a"], pinned: false })).toEqual([]);
  expect(differing(kinds, base, { title: "New", tags: ["a"], pinned: true })).toEqual(["title", "tags", "pinned"]);
});

test("what somebody else changed is told, and whether it was changed here as well", () => {
  const mine = { ...base, title: "Mine" };
  expect(foreignChanges(kinds, base, mine, { title: "Theirs", tags: [], pinned: false })).toEqual([
    { label: "Title", theirs: "Theirs", both: true },
    { label: "Tags", theirs: "empty", both: false },
  ]);
  // Both came to the same: there is nothing to decide.
  expect(foreignChanges(kinds, base, mine, { ...base, title: "Mine" })).toEqual([{ label: "Title", theirs: "Mine", both: false }]);
});

test("going on keeps what was typed here, also where theirs is taken", () => {
  const mine = { ...base, title: "Mine", pinned: true };
  const theirs = { ...base, title: "Theirs", tags: ["c"] };
  expect(merged(kinds, base, mine, theirs, "mine")).toEqual({ title: "Mine", tags: ["c"], pinned: true });
  // Taking theirs is about what both changed: the pin was changed here alone.
  expect(merged(kinds, base, mine, theirs, "theirs")).toEqual({ title: "Theirs", tags: ["c"], pinned: true });
});
