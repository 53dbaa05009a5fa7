import type { Call } from "@/pages/approvals/api";
import { doors, statuses } from "@/pages/approvals/words";
import type { Filter } from "./api";

export const effects: { value: Call["effect"]; label: string; tone: "neutral" | "accent" | "danger" }[] = [
  { value: "read", label: "Read", tone: "neutral" },
  { value: "mutate", label: "Change", tone: "accent" },
  { value: "destructive", label: "Destructive change", tone: "danger" },
];

/** A day of the address, as an instant of the reader's zone; offset 1 is the day after. */
function dayStart(text: string | null, offset: number): string | undefined {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text ?? "");
  if (!parts) return undefined;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const date = new Date(year, month - 1, day + offset);
  if (Number.isNaN(date.getTime()) || (offset === 0 && date.getDate() !== day)) return undefined;
  return date.toISOString();
}

/** Reads the filter from the address; what it does not know is left out. */
export function readFilter(params: URLSearchParams): Filter {
  const who = /^(user|application):(.+)$/.exec(params.get("who") ?? "");
  return {
    mine: params.get("who") === "me" || undefined,
    principalKind: who ? (who[1] as "user" | "application") : undefined,
    principalId: who?.[2],
    toolName: params.get("tool") ?? undefined,
    effect: effects.find((each) => each.value === params.get("effect"))?.value,
    status: statuses.find((each) => each.value === params.get("status"))?.value,
    transport: doors.find((each) => each.value === params.get("door"))?.value,
    from: dayStart(params.get("from"), 0),
    to: dayStart(params.get("to"), 1),
  };
}

/** How long a call took, when that is known and means something: a change is timed from its approval. */
export function durationOf(call: Pick<Call, "status" | "createdAt" | "appliedAt" | "finishedAt">): number | undefined {
  // What was declined or ran out of time never ran.
  if (!call.finishedAt || !["executed", "applied", "failed"].includes(call.status)) return undefined;
  const ms = new Date(call.finishedAt).getTime() - new Date(call.appliedAt ?? call.createdAt).getTime();
  return ms >= 0 ? ms : undefined;
}
