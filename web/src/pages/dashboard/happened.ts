/** One entry of the activity feed, as far as its words depend on it. */
export type Happening = { source: string; kind: string; from?: string | undefined; to?: string | undefined };

const incidentWords: Record<string, string> = {
  opened: "incident opened",
  updated: "incident updated",
  resolved: "incident resolved",
};

const maintenanceWords: Record<string, string> = {
  scheduled: "maintenance scheduled",
  started: "maintenance started",
  completed: "maintenance completed",
  cancelled: "maintenance cancelled",
  updated: "maintenance updated",
};

/** What happened, in words that follow the title. A change of health has words of its own. */
export function happened({ source, kind, to }: Happening): string {
  switch (source) {
    case "incident":
      return incidentWords[kind] ?? (to ? `incident now ${to}` : "incident changed");
    case "maintenance":
      return maintenanceWords[kind] ?? "maintenance changed";
    default:
      return kind.replaceAll("_", " ");
  }
}
