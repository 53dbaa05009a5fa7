import { readTags } from "@/pages/memories/find";
import type { OutputField, Skill, SkillChange, SkillDraft } from "./api";

export type Target = SkillDraft["targets"][number];
export const targets: { value: Target; label: string; help: string }[] = [
  { value: "chat", label: "Conversations", help: "People choose it for a message." },
  { value: "ai_analyze", label: "Runs without a person", help: "Automations use it to look at something and answer in fields." },
];

/** A field of a structured answer while it is edited; options are one text. */
export type FieldRow = { key: string; type: OutputField["type"]; description: string; options: string };

/** What the form holds. */
export type Values = { name: string; description: string; targets: Target[]; systemPrompt: string; promptTemplate: string; tags: string; fields: FieldRow[] };

export const emptyValues: Values = { name: "", description: "", targets: ["chat"], systemPrompt: "", promptTemplate: "", tags: "", fields: [] };

export function valuesOf(skill: Skill): Values {
  return {
    name: skill.name,
    description: skill.description,
    targets: [...(skill.targets ?? [])],
    systemPrompt: skill.systemPrompt ?? "",
    promptTemplate: skill.promptTemplate ?? "",
    tags: (skill.tags ?? []).join(", "),
    fields: (skill.suggestedOutputFields ?? []).map((field) => ({ key: field.key, type: field.type, description: field.description, options: (field.options ?? []).join(", ") })),
  };
}

function outputFields(rows: readonly FieldRow[]): OutputField[] {
  return rows.map((row) => ({ key: row.key.trim(), type: row.type, description: row.description.trim(), ...(row.type === "enum" ? { options: readTags(row.options) } : {}) }));
}

/** The new skill to publish; what is blank is left out. */
export function draftOf(values: Values): SkillDraft {
  const tags = readTags(values.tags);
  return {
    name: values.name.trim(),
    description: values.description.trim(),
    targets: values.targets,
    ...(values.systemPrompt.trim() === "" ? {} : { systemPrompt: values.systemPrompt }),
    ...(values.promptTemplate.trim() === "" ? {} : { promptTemplate: values.promptTemplate }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(values.fields.length === 0 ? {} : { suggestedOutputFields: outputFields(values.fields) }),
  };
}

/** What changed, so that a change somebody else made to other parts stays; null clears. */
export function changeOf(skill: Skill, values: Values): SkillChange {
  const before = draftOf(valuesOf(skill));
  const after = draftOf(values);
  const change: Record<string, unknown> = {};
  for (const key of ["name", "description", "targets", "systemPrompt", "promptTemplate", "tags", "suggestedOutputFields"] as const) {
    if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) change[key] = after[key] ?? null;
  }
  return { id: skill.id, ...(skill.version ? { version: skill.version } : {}), ...change };
}
