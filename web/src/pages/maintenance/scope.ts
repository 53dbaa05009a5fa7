import type { Detail } from "./api";

/** Whether changes of its series still reach this occurrence. */
export function followsSeries(maintenance: Detail): boolean {
  return maintenance.series != null && maintenance.series.endedAt === null && maintenance.status === "scheduled" && !maintenance.detached;
}
