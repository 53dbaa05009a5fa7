import type { Incident } from "./api";

export type Status = Incident["status"];
export type Severity = Incident["severity"];

/** The states of an incident in the order in which it usually passes them. */
export const statuses: { value: Status; label: string }[] = [
  { value: "investigating", label: "Investigating" },
  { value: "identified", label: "Identified" },
  { value: "fixing", label: "Fixing" },
  { value: "monitoring", label: "Monitoring" },
  { value: "resolved", label: "Resolved" },
];

export const activeStatuses = statuses.filter((each) => each.value !== "resolved");

export const severities: { value: Severity; label: string; help: string }[] = [
  { value: "critical", label: "Critical", help: "People cannot work" },
  { value: "major", label: "Major", help: "Something important is broken" },
  { value: "minor", label: "Minor", help: "Annoying, with a way around" },
];

export const overrides: { value: string; label: string }[] = [
  { value: "", label: "As the checks measure it" },
  { value: "degraded", label: "At least degraded" },
  { value: "unhealthy", label: "Unhealthy" },
];

export function statusLabel(status: string): string {
  return statuses.find((each) => each.value === status)?.label ?? status;
}

export function severityLabel(severity: string): string {
  return severities.find((each) => each.value === severity)?.label ?? severity;
}

export function isActive(incident: { status: string }): boolean {
  return incident.status !== "resolved";
}

/** Up to `shown` names and how many more there are. */
export function namesLine(names: readonly string[], shown = 3): string {
  return names.length > shown ? `${names.slice(0, shown).join(", ")} and ${names.length - shown} more` : names.join(", ");
}
