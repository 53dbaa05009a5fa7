/** Units a duration may be written in, with their length in milliseconds. */
export const unitMs = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type Unit = keyof typeof unitMs;

/** Writes a length of time the way people say it: "30 s", "1 h 30 min". */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  const parts: string[] = [];
  let rest = seconds;
  for (const [unit, size] of [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]] as const) {
    const n = Math.floor(rest / size);
    if (n > 0) parts.push(`${n} ${unit}`);
    rest -= n * size;
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}

/** Writes a measured latency: "230 ms", "2.3 s". */
export function formatLatency(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "–";
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return formatDuration(ms);
}

/** The largest unit in which the value is a whole number, for editing it. */
export function splitDuration(ms: number, smallest: Unit): { amount: number; unit: Unit } {
  const units: Unit[] = ["h", "min", "s", "ms"];
  const floor = unitMs[smallest];
  for (const unit of units) {
    const size = unitMs[unit];
    if (size >= floor && ms >= size && ms % size === 0) return { amount: ms / size, unit };
  }
  return { amount: ms / floor, unit: smallest };
}

/** Tells how long ago an instant was, or in how long it will be. */
export function relativeTime(at: Date, now: Date): string {
  const delta = now.getTime() - at.getTime();
  const ahead = delta < 0;
  const seconds = Math.floor(Math.abs(delta) / 1000);
  if (seconds < 2) return ahead ? "in a moment" : "just now";
  const text =
    seconds < 60
      ? `${seconds} s`
      : seconds < 3600
        ? `${Math.floor(seconds / 60)} min`
        : seconds < 86_400
          ? `${Math.floor(seconds / 3600)} h`
          : `${Math.floor(seconds / 86_400)} d`;
  return ahead ? `in ${text}` : `${text} ago`;
}

/** The instant itself, in the reader's zone, with the zone named. */
export function exactTime(at: Date): string {
  return new Intl.DateTimeFormat(undefined, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  }).format(at);
}

/** Clock time, with the day when it is not today, and the year when it is not this one. */
export function clockTime(at: Date, now: Date): string {
  const sameDay = at.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(undefined, {
    ...(sameDay ? {} : { weekday: "short", day: "numeric", month: "short" }),
    ...(at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(at);
}

/** Minutes and seconds until an instant, for a countdown: "9:41". */
export function countdown(until: Date, now: Date): string {
  const seconds = Math.max(0, Math.ceil((until.getTime() - now.getTime()) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
