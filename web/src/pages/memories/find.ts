import type { Memory } from "./api";

/** Tags as typed, separated by commas; each once, without blanks. */
export function readTags(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

/** Whether every word of the query is somewhere in the memory. */
export function matches(memory: Pick<Memory, "recallHint" | "content" | "tags" | "systemName">, query: string): boolean {
  const text = [memory.recallHint, memory.content, memory.systemName ?? "", ...(memory.tags ?? [])].join("\n").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
