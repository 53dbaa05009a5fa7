import type { Call } from "./api";
import { countdown, formatDuration } from "@/ui/time";

export type Door = Call["transport"];
export type CallStatus = Call["status"];

/** By which way a call came, after "asked". */
export const doorPhrases: Record<Door, string> = {
  chat: "in the assistant",
  api: "over the API",
  mcp: "through an outside agent",
  automation: "by an automation",
};

export const doors: { value: Door; label: string }[] = [
  { value: "chat", label: "Assistant" },
  { value: "api", label: "API" },
  { value: "mcp", label: "Outside agent (MCP)" },
  { value: "automation", label: "Automation" },
];

export const statuses: { value: CallStatus; label: string; tone: "neutral" | "accent" | "danger" | "good" | "warn" }[] = [
  { value: "executed", label: "Done", tone: "neutral" },
  { value: "proposed", label: "Waiting", tone: "accent" },
  { value: "applying", label: "Being applied", tone: "accent" },
  { value: "applied", label: "Applied", tone: "good" },
  { value: "rejected", label: "Declined", tone: "neutral" },
  { value: "expired", label: "Expired", tone: "neutral" },
  { value: "failed", label: "Failed", tone: "danger" },
];

export const statusOf = (value: CallStatus) => statuses.find((each) => each.value === value) ?? { value, label: value, tone: "neutral" as const };

/** The name of whoever called, in the reader's eyes. */
export function whoName(who: Call["requestedBy"], you = false): string {
  if (you) return "You";
  const name = who.name?.trim();
  if (name) return name;
  return who.kind === "application" ? "A deleted application" : "A deleted account";
}

/** Time left: minutes and seconds below an hour, otherwise in words. */
export function timeLeft(until: Date, now: Date): string {
  const ms = until.getTime() - now.getTime();
  return ms >= 3_600_000 ? formatDuration(ms) : countdown(until, now);
}
