import type { Maintenance } from "./api";

export type Status = Maintenance["status"];

/** The states of a maintenance in the order in which it passes them. */
export const statuses: { value: Status; label: string }[] = [
  { value: "scheduled", label: "Scheduled" },
  { value: "in_progress", label: "In progress" },
  { value: "completed", label: "Completed" },
  { value: "cancelled", label: "Cancelled" },
];

export const pastStatuses = statuses.filter((each) => !isOpen({ status: each.value }));

export function statusLabel(status: string): string {
  return statuses.find((each) => each.value === status)?.label ?? status;
}

/** Scheduled or in progress: neither over nor called off. */
export function isOpen(maintenance: { status: string }): boolean {
  return maintenance.status === "scheduled" || maintenance.status === "in_progress";
}

/** Where a maintenance may go from here: what is over is over, and what has started is not scheduled again. */
export function nextStatuses(status: string): { value: Status; label: string }[] {
  switch (status) {
    case "scheduled":
      return statuses.filter((each) => each.value !== "scheduled");
    case "in_progress":
      return statuses.filter((each) => each.value === "completed" || each.value === "cancelled");
    default:
      return [];
  }
}

/** Up to `shown` names and how many more there are. */
export function namesLine(names: readonly string[], shown = 3): string {
  return names.length > shown ? `${names.slice(0, shown).join(", ")} and ${names.length - shown} more` : names.join(", ");
}
