import type { Issue } from "@/api/errors";
import { formatDuration } from "@/ui/time";

export type SpendCap = { tokenBudget: number; windowMinutes: number };

/** Reads the two fields of a spend cap: both blank is no cap, one alone is a fault. */
export function readCap(budget: string, minutes: string): { value: SpendCap | null; issues: Issue[] } {
  const given = [
    { path: "spendCap.tokenBudget", text: budget.trim() },
    { path: "spendCap.windowMinutes", text: minutes.trim() },
  ];
  if (given.every(({ text }) => text === "")) return { value: null, issues: [] };
  const issues = given.flatMap(({ path, text }): Issue[] => {
    if (text === "") return [{ path, message: "is needed too, or leave both blank" }];
    const value = Number(text);
    return Number.isInteger(value) && value > 0 ? [] : [{ path, message: "must be a whole number above 0" }];
  });
  return issues.length > 0 ? { value: null, issues } : { value: { tokenBudget: Number(budget), windowMinutes: Number(minutes) }, issues };
}

/** The cap in words: "200,000 tokens per 1 h". */
export function capText(cap: SpendCap): string {
  return `${cap.tokenBudget.toLocaleString()} tokens per ${formatDuration(cap.windowMinutes * 60_000)}`;
}
