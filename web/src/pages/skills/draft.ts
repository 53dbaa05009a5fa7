import type { Issue } from "@/api/errors";
import { readTags } from "@/pages/memories/find";
import type { FieldKinds } from "@/ui/record-form";
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

const sameTags = (a: string, b: string) => JSON.stringify(readTags(a)) === JSON.stringify(readTags(b));

/** How the parts of the form are named and compared. */
export const kinds: FieldKinds<Values> = {
  name: { label: "Name" },
  description: { label: "What it is good for" },
  targets: { label: "Used in", same: (a, b) => a.length === b.length && a.every((each) => b.includes(each)), shown: (chosen) => targets.filter((each) => chosen.includes(each.value)).map((each) => each.label).join(", ") },
  systemPrompt: { label: "Guidance" },
  promptTemplate: { label: "Text to begin with" },
  tags: { label: "Tags", same: sameTags },
  fields: {
    label: "Fields of a structured answer",
    path: "suggestedOutputFields",
    same: (a, b) => JSON.stringify(outputFields(a)) === JSON.stringify(outputFields(b)),
    shown: (rows) => rows.map((row) => `${row.key} (${row.type === "enum" ? `one of ${row.options}` : fieldTypes[row.type].toLowerCase()})${row.description.trim() === "" ? "" : `: ${row.description}`}`).join("; "),
  },
};

export const fieldTypes: Record<FieldRow["type"], string> = { string: "Text", number: "Number", boolean: "Yes or no", enum: "One of" };

const parts: Record<string, string> = { key: "key", type: "type", description: "meaning", options: "values" };

/** What a path of the API is called in the form: "Field 2, key" for suggestedOutputFields[1].key. */
export function labelOf(path: string): string | undefined {
  const [, root = "", index, part] = /^(\w+)(?:\[(\d+)\])?(?:\.(\w+))?/.exec(path) ?? [];
  if (root === "suggestedOutputFields" && index !== undefined) return `Field ${Number(index) + 1}${part && parts[part] ? `, ${parts[part]}` : ""}`;
  if (root === "tags" && index !== undefined) return `Tag ${Number(index) + 1}`;
  return Object.entries(kinds).find(([key, kind]) => (kind.path ?? key) === root)?.[1].label;
}

/** What can be said to be wrong without asking the server. */
export function problems(values: Values): Issue[] {
  const issues: Issue[] = [];
  const add = (path: string, message: string) => issues.push({ path, message });
  if (values.name.trim() === "") add("name", "is required");
  if (values.description.trim() === "") add("description", "is required");
  if (values.targets.length === 0) add("targets", "choose at least one");
  if (values.systemPrompt.trim() === "" && values.promptTemplate.trim() === "") add("systemPrompt", "write this, a text to begin with, or both");
  values.fields.forEach((row, i) => {
    const path = `suggestedOutputFields[${i}]`;
    if (row.key.trim() === "") add(`${path}.key`, "is required");
    else if (!/^[a-z][a-zA-Z0-9_]*$/.test(row.key.trim())) add(`${path}.key`, "must be a lower-case letter, then letters, digits or underscores");
    else if (values.fields.findIndex((other) => other.key.trim() === row.key.trim()) < i) add(`${path}.key`, "another field has the same key");
    if (row.type === "enum" && readTags(row.options).length === 0) add(`${path}.options`, "name at least one value");
  });
  return issues;
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
