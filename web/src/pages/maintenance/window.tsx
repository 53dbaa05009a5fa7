import { useNow } from "@/ui/clock";
import { formatDuration, relativeTime } from "@/ui/time";
import { dateTimeText, localZone, offsetLabel, utcText, windowText } from "@/ui/zone";
import type { Maintenance } from "./api";

type Planned = Pick<Maintenance, "startAt" | "endAt" | "status" | "startedAt" | "endedAt">;

/** What the clock says about a maintenance: when it starts, how long it still lasts, when it was over. */
export function tense(maintenance: Planned, now: Date): string {
  const start = new Date(maintenance.startAt);
  const end = new Date(maintenance.endAt);
  switch (maintenance.status) {
    case "scheduled":
      return start > now ? `starts ${relativeTime(start, now)}` : "about to start";
    case "in_progress":
      return end > now ? `ends ${relativeTime(end, now)}` : "about to end";
    case "cancelled":
      return maintenance.endedAt ? `cancelled ${relativeTime(new Date(maintenance.endedAt), now)}` : "cancelled";
    default: {
      const ended = new Date(maintenance.endedAt ?? maintenance.endAt);
      return `ended ${relativeTime(ended, now)}`;
    }
  }
}

/** A window in the reader's zone; on hover with its offset and in UTC. */
export function WindowText({ maintenance, className }: { maintenance: Planned; className?: string }) {
  const zone = localZone();
  const [start, end] = [Date.parse(maintenance.startAt), Date.parse(maintenance.endAt)];
  return (
    <span className={className} title={`${windowText(start, end, zone)} ${offsetLabel(start, zone)} (${zone}) · ${dateTimeText(start, "UTC")} to ${utcText(end, "UTC")}`}>
      {windowText(start, end, zone)}
    </span>
  );
}

/** The same with what the clock says about it. */
export function WindowCell({ maintenance }: { maintenance: Planned }) {
  const now = useNow();
  return (
    <span className="text-ink-2">
      <WindowText maintenance={maintenance} />
      <span className="block text-sm text-ink-3">
        {tense(maintenance, now)} · {formatDuration(Date.parse(maintenance.endAt) - Date.parse(maintenance.startAt))}
      </span>
    </span>
  );
}

/** Says in which zone times are written. */
export function ZoneNote({ at, className }: { at?: number | undefined; className?: string }) {
  const zone = localZone();
  const offset = offsetLabel(at ?? Date.now(), zone);
  return (
    <p className={`text-sm text-ink-3 ${className ?? ""}`}>
      Times in {zone}
      {zone === offset ? "" : ` (${offset})`}
    </p>
  );
}
