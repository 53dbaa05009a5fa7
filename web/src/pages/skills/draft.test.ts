import { expect, test } from "vitest";
import type { Skill } from "./api";
import { changeOf, draftOf, emptyValues, valuesOf } from "./draft";

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
