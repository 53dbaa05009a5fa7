import { expect, test } from "vitest";
import type { Skill } from "./api";
import { differing, foreignChanges } from "@/ui/record-form";
import { changeOf, draftOf, emptyValues, kinds, labelOf, problems, valuesOf } from "./draft";

const skill: Skill = {
  id: "s",
  name: "Postmortem",
  description: "Writes a postmortem",
  targets: ["chat"],
  systemPrompt: "Be brief.",
  tags: ["incident"],
  suggestedOutputFields: [{ key: "cause", type: "enum", description: "Why", options: ["human", "machine"] }],
  source: "user",
  canEdit: true,
  version: 4,
};

test("what is blank is left out of a new skill", () => {
  expect(draftOf({ ...emptyValues, name: " Triage ", description: "Looks first", systemPrompt: "Look.", promptTemplate: "  " })).toEqual({ name: "Triage", description: "Looks first", targets: ["chat"], systemPrompt: "Look." });
});

test("only what changed is sent, with the version it was made against", () => {
  expect(changeOf(skill, valuesOf(skill))).toEqual({ id: "s", version: 4 });
  expect(changeOf(skill, { ...valuesOf(skill), name: "Retrospective", targets: ["chat", "ai_analyze"] })).toEqual({ id: "s", version: 4, name: "Retrospective", targets: ["chat", "ai_analyze"] });
});

test("what was emptied is cleared, not left as it is", () => {
  expect(changeOf(skill, { ...valuesOf(skill), systemPrompt: "", promptTemplate: "Write it.", tags: "", fields: [] })).toEqual({ id: "s", version: 4, systemPrompt: null, promptTemplate: "Write it.", tags: null, suggestedOutputFields: null });
});

test("faults are named as the form names its fields", () => {
  expect(labelOf("systemPrompt")).toBe("Guidance");
  expect(labelOf("tags[1]")).toBe("Tag 2");
  expect(labelOf("suggestedOutputFields[0].key")).toBe("Field 1, key");
  expect(labelOf("suggestedOutputFields[2].options[1]")).toBe("Field 3, values");
  expect(labelOf("suggestedOutputFields")).toBe("Fields of a structured answer");
  expect(labelOf("something")).toBeUndefined();
});

test("what the form can see itself is said before the server is asked", () => {
  expect(problems(valuesOf(skill))).toEqual([]);
  expect(problems({ ...emptyValues, targets: [] }).map((issue) => issue.path)).toEqual(["name", "description", "targets", "systemPrompt"]);
  const row = { key: "cause", type: "string" as const, description: "", options: "" };
  expect(problems({ ...valuesOf(skill), fields: [row, { ...row, type: "enum" }, { ...row, key: "No" }, { ...row, key: " " }] }).map((issue) => issue.path)).toEqual([
    "suggestedOutputFields[1].key",
    "suggestedOutputFields[1].options",
    "suggestedOutputFields[2].key",
    "suggestedOutputFields[3].key",
  ]);
});

test("what somebody else changed is told in words", () => {
  const before = valuesOf(skill);
  expect(differing(kinds, before, { ...before, tags: " incident ,", targets: [...before.targets] })).toEqual([]);
  const theirs = valuesOf({ ...skill, targets: ["chat", "ai_analyze"], tags: [], suggestedOutputFields: [{ key: "open", type: "boolean", description: "Is it open?" }] });
  expect(foreignChanges(kinds, before, { ...before, tags: "mine" }, theirs)).toEqual([
    { label: "Used in", theirs: "Conversations, Runs without a person", both: false },
    { label: "Tags", theirs: "empty", both: true },
    { label: "Fields of a structured answer", theirs: "open (yes or no): Is it open?", both: false },
  ]);
});
