import type { Issue } from "@/api/errors";
import { formatDuration } from "@/ui/time";

export type SpendCap = { tokenBudget: number; windowMinutes: number };

/** A whole number above 0 as people write one, also with its thousands apart: "200,000". */
function readWhole(text: string): number | undefined {
  const digits = /^\d{1,3}([ ,_\u00a0\u202f]\d{3})+$/.test(text) ? text.replace(/\D/g, "") : text;
  const value = /^\d+$/.test(digits) ? Number(digits) : 0;
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

/** Reads the two fields of a spend cap: both blank is no cap, one alone is a fault. */
export function readCap(budget: string, minutes: string): { value: SpendCap | null; issues: Issue[] } {
  const given = [
    { path: "spendCap.tokenBudget", text: budget.trim() },
    { path: "spendCap.windowMinutes", text: minutes.trim() },
  ];
  if (given.every(({ text }) => text === "")) return { value: null, issues: [] };
  const issues = given.flatMap(({ path, text }): Issue[] => {
    if (text === "") return [{ path, message: "is needed too, or leave both blank" }];
    return readWhole(text) === undefined ? [{ path, message: "must be a whole number above 0" }] : [];
  });
  return issues.length > 0 ? { value: null, issues } : { value: { tokenBudget: readWhole(budget.trim()) ?? 0, windowMinutes: readWhole(minutes.trim()) ?? 0 }, issues };
}

/** Reads how many tokens a model can take at once; blank leaves it to the server. */
export function readContext(text: string): { value: number | null; issues: Issue[] } {
  if (text.trim() === "") return { value: null, issues: [] };
  const value = readWhole(text.trim());
  return value === undefined ? { value: null, issues: [{ path: "contextWindowTokens", message: "must be a whole number above 0" }] } : { value, issues: [] };
}

/** The cap in words: "200,000 tokens per 1 h". */
export function capText(cap: SpendCap): string {
  return `${cap.tokenBudget.toLocaleString()} tokens per ${formatDuration(cap.windowMinutes * 60_000)}`;
}
