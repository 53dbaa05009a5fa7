import { expect, test } from "vitest";
import { ApiError } from "@/api/errors";
import { foreignChanges } from "@/ui/record-form";
import type { Memory } from "./api";
import { draftOf, emptyValues, kinds, labelOf, nearHint, problems, valuesOf } from "./draft";

const memory: Memory = {
  id: "m",
  scope: "system",
  systemId: "s",
  systemName: "Payments",
  recallHint: "When payments time out",
  content: "Restart the queue.",
  tags: ["queue"],
  alwaysInject: true,
  mine: true,
  canManage: true,
  canEdit: true,
  version: 3,
  createdAt: "2026-07-01T00:00:00Z",
  updatedAt: "2026-07-01T00:00:00Z",
};

test("a change names what it replaces and the version it was made against", () => {
  expect(draftOf({ ...valuesOf(memory), content: " Wait. ", tags: "queue, slow" }, memory, true)).toEqual({
    scope: "system",
    systemId: "s",
    recallHint: "When payments time out",
    content: "Wait.",
    tags: ["queue", "slow"],
    alwaysInject: true,
    replaces: "m",
    version: 3,
  });
});

test("who may not pin a memory of a system leaves its pin as it is", () => {
  expect(draftOf(valuesOf(memory), memory, false)).not.toHaveProperty("alwaysInject");
});

test("a new memory without a system is for oneself", () => {
  expect(draftOf({ ...emptyValues, hint: "a", content: "b" }, undefined, true)).toEqual({ scope: "user", recallHint: "a", content: "b", tags: [], alwaysInject: false });
  expect(problems(emptyValues).map((issue) => issue.path)).toEqual(["recallHint", "content"]);
});

test("faults and foreign changes are named as the form names its fields", () => {
  expect([labelOf("recallHint"), labelOf("tags[2]"), labelOf("scope"), labelOf("alwaysInject")]).toEqual(["When it matters", "Tag 3", "For", "In every conversation"]);
  const before = valuesOf(memory);
  expect(foreignChanges(kinds, before, { ...before, content: "Mine." }, { ...before, content: "Theirs.", always: false })).toEqual([
    { label: "What to know then", theirs: "Theirs.", both: true },
    { label: "In every conversation", theirs: "no", both: false },
  ]);
});

test("a refusal for a memory that says nearly the same names it; another conflict does not", () => {
  const refusal = (message: string, status = 409) => new ApiError({ code: "CONFLICT", message, status });
  expect(nearHint(refusal('A memory that says nearly the same has been saved in the meantime: "When \\"the\\" queue is full". Propose the change again to see what it would replace'))).toBe('When "the" queue is full');
  expect(nearHint(refusal("There are 500 memories already; delete one first"))).toBeUndefined();
  expect(nearHint(refusal('A memory that says nearly the same exists: "x"', 400))).toBeUndefined();
});
