import { ApiError, type Issue } from "@/api/errors";
import type { FieldKinds } from "@/ui/record-form";
import type { Draft, Memory } from "./api";
import { readTags } from "./find";

/** What the form of a memory holds; systemId "" is a memory for oneself. */
export type Values = { systemId: string; hint: string; content: string; tags: string; always: boolean };

export const emptyValues: Values = { systemId: "", hint: "", content: "", tags: "", always: false };

export function valuesOf(memory: Memory): Values {
  return { systemId: memory.systemId ?? "", hint: memory.recallHint, content: memory.content, tags: (memory.tags ?? []).join(", "), always: memory.alwaysInject };
}

/** How the parts of the form are named and compared. */
export const kinds: FieldKinds<Values> = {
  systemId: { label: "For" },
  hint: { label: "When it matters", path: "recallHint" },
  content: { label: "What to know then" },
  tags: { label: "Tags", same: (a, b) => JSON.stringify(readTags(a)) === JSON.stringify(readTags(b)) },
  always: { label: "In every conversation", path: "alwaysInject", shown: (on) => (on ? "yes" : "no") },
};

/** What a path of the API is called in the form. */
export function labelOf(path: string): string | undefined {
  const tag = /^tags\[(\d+)\]/.exec(path);
  if (tag) return `Tag ${Number(tag[1]) + 1}`;
  if (path === "scope") return kinds.systemId.label;
  return Object.entries(kinds).find(([key, kind]) => (kind.path ?? key) === path)?.[1].label;
}

/** What can be said to be wrong without asking the server. */
export function problems(values: Values): Issue[] {
  const issues: Issue[] = [];
  if (values.hint.trim() === "") issues.push({ path: "recallHint", message: "is required" });
  if (values.content.trim() === "") issues.push({ path: "content", message: "is required" });
  return issues;
}

/** What to save. `mayAlways`: whether the person may make it part of every conversation, or end that. */
export function draftOf(values: Values, present: Memory | undefined, mayAlways: boolean): Draft {
  const forSystem = values.systemId !== "";
  return {
    scope: forSystem ? "system" : "user",
    ...(forSystem ? { systemId: values.systemId } : {}),
    recallHint: values.hint.trim(),
    content: values.content.trim(),
    tags: readTags(values.tags),
    ...(mayAlways ? { alwaysInject: values.always } : {}),
    ...(present ? { replaces: present.id, version: present.version } : {}),
  };
}

/** The hint of the memory that says nearly the same, when a save was refused for it. */
export function nearHint(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const quoted = /^A memory that says nearly the same .*?: ("(?:[^"\\]|\\.)*")/.exec(error.message)?.[1];
  try {
    const hint: unknown = quoted === undefined ? undefined : JSON.parse(quoted);
    return typeof hint === "string" ? hint : undefined;
  } catch {
    return undefined;
  }
}
