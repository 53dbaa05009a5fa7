import type { Call } from "./api";

/** What the reader did on this page with one card. */
export type Outcome = { state: "applying" | "declining" } | { state: "applied"; result: unknown } | { state: "declined" } | { state: "failed"; message: string };

/**
 * The cards to show: those seen before keep their places, also when they no
 * longer wait, so that nothing moves under the pointer; new ones follow.
 */
export function mergeSeen(seen: readonly Call[], fresh: readonly Call[]): Call[] {
  const byId = new Map(fresh.map((call) => [call.toolCallId, call]));
  const known = new Set(seen.map((call) => call.toolCallId));
  return [...seen.map((call) => byId.get(call.toolCallId) ?? call), ...fresh.filter((call) => !known.has(call.toolCallId))];
}

export type Phase =
  /** Waits for a decision. */
  | "open"
  /** A decision of the reader is under way. */
  | "busy"
  | "applied"
  | "declined"
  | "expired"
  | "failed"
  /** Cannot be applied any more: what it would change has changed. */
  | "outdated"
  | "applying"
  /** No longer in the inbox, and the reader may not see what became of it. */
  | "gone";

/**
 * Where a card stands. What the reader did wins; then what the log says; then
 * whether it still is in the inbox; and last its time.
 */
export function phaseOf(call: Call, waiting: boolean, outcome: Outcome | undefined, log: Call | undefined, now: Date): Phase {
  if (outcome?.state === "applying" || outcome?.state === "declining") return "busy";
  if (outcome?.state === "applied" || outcome?.state === "declined") return outcome.state;
  const status = waiting ? call.status : (log?.status ?? (call.status === "proposed" ? undefined : call.status));
  const expired = call.expiresAt !== undefined && new Date(call.expiresAt) <= now;
  switch (status) {
    case "applied":
    case "executed":
      return "applied";
    case "rejected":
      return "declined";
    case "failed":
      return (log ?? call).outdated ? "outdated" : "failed";
    case "expired":
    case "applying":
      return status;
    case "proposed":
      return expired ? "expired" : waiting ? "open" : "gone";
    case undefined:
      return expired ? "expired" : "gone";
  }
}
