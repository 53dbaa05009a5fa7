/**
 * Wall clock times in named zones, by the browser's own time zone database.
 * A wall clock time is a text as date and time inputs hold it: "2026-03-29"
 * and "02:30", with seconds where there are some.
 */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formats.set(zone, format);
  }
  return format;
}

/** Names that browsers still give and hardly anybody there would write any more. */
const renamed: Record<string, string> = {
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Asia/Rangoon": "Asia/Yangon",
  "Europe/Kiev": "Europe/Kyiv",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Godthab": "America/Nuuk",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Pacific/Truk": "Pacific/Chuuk",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Enderbury": "Pacific/Kanton",
};

/** The name by which a zone is shown and stored. */
export function zoneName(zone: string): string {
  const name = renamed[zone];
  return name && isZone(name) ? name : zone;
}

/** The reader's zone. */
export function localZone(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // A browser without a set zone says so in ways that name no place.
  return zone && zone !== "Etc/Unknown" && isZone(zone) ? zoneName(zone) : "UTC";
}

/** Whether the browser knows a zone of that name. Offsets such as "+02:00" are no names. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Every zone that the browser offers, by name, with UTC. */
export function zoneNames(): string[] {
  return [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone").map(zoneName)])].sort();
}

export type Wall = { date: string; time: string };

const two = (n: number) => String(n).padStart(2, "0");

/** What clocks in the zone show, read as if it were UTC, in milliseconds. */
function wallMs(at: number, zone: string): number {
  const seconds = Math.floor(at / 1000) * 1000;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (at - seconds);
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function offsetAt(at: number, zone: string): number {
  return wallMs(at, zone) - at;
}

/** What clocks in the zone show at an instant. Seconds and less are left out when they are zero. */
export function wallAt(at: number, zone: string): Wall {
  const iso = new Date(wallMs(at, zone)).toISOString();
  const [date = "", clock = ""] = iso.replace("Z", "").split("T");
  return { date, time: clock.replace(/(:00)?\.000$/, "") };
}

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const timePattern = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?$/;

/** A wall clock time as if it were UTC; undefined when it is none, or of a year nobody plans in. */
function parseWall({ date, time }: Wall): number | undefined {
  const d = datePattern.exec(date);
  const t = timePattern.exec(time);
  if (!d || !t) return undefined;
  const [year, month, day] = [Number(d[1]), Number(d[2]), Number(d[3])];
  const [hour, minute, second] = [Number(t[1]), Number(t[2]), Number(t[3] ?? 0)];
  if (year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 59) return undefined;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second, Number((t[4] ?? "").padEnd(3, "0")));
  // 30 February is no day.
  return new Date(ms).toISOString().startsWith(date) ? ms : undefined;
}

// No zone has ever been further from UTC than sixteen hours, and no offset
// lasted only some hours.
const reachMs = 17 * 3_600_000;
const stepMs = 2 * 3_600_000;

export type Clock =
  /** Not a date and a time of day, at least not yet. */
  | { kind: "incomplete" }
  | { kind: "unique"; at: number }
  /** Clocks leave it out. What it would be by the clocks before and after the change. */
  | { kind: "missing"; later: number; earlier: number }
  /** Clocks show it twice. */
  | { kind: "doubled"; first: number; second: number };

/** The instants at which clocks in the zone show a wall clock time. */
export function readWall(wall: Wall, zone: string): Clock {
  const ms = parseWall(wall);
  if (ms === undefined) return { kind: "incomplete" };
  const offsets = new Set<number>();
  for (let at = ms - reachMs; at <= ms + reachMs; at += stepMs) offsets.add(offsetAt(at, zone));
  const found = [...offsets]
    .map((offset) => ms - offset)
    .filter((at) => wallMs(at, zone) === ms)
    .sort((a, b) => a - b);
  const [first, second] = found;
  if (first !== undefined) return second === undefined ? { kind: "unique", at: first } : { kind: "doubled", first, second };
  // The change lies between the two readings, and only there.
  const readings = [...offsets].map((offset) => ms - offset);
  const change = changeBetween(Math.min(...readings) - 1, Math.max(...readings) + 1, zone);
  return { kind: "missing", later: ms - offsetAt(change - 1, zone), earlier: ms - offsetAt(change, zone) };
}

/** "+05:30"; seconds only where a zone once had them. */
export function formatOffset(ms: number): string {
  const total = Math.round(Math.abs(ms) / 1000);
  const seconds = total % 60;
  return `${ms < 0 ? "-" : "+"}${two(Math.floor(total / 3600))}:${two(Math.floor(total / 60) % 60)}${seconds > 0 ? `:${two(seconds)}` : ""}`;
}

/** "UTC+05:30", or "UTC" where clocks show just that. */
export function offsetLabel(at: number, zone: string): string {
  const offset = offsetAt(at, zone);
  return offset === 0 ? "UTC" : `UTC${formatOffset(offset)}`;
}

/** The day after or before another, by days: "2026-03-01" and -1 give "2026-02-28". */
export function addDays(date: string, days: number): string {
  const d = datePattern.exec(date);
  if (!d) return date;
  return new Date(Date.UTC(Number(d[1]), Number(d[2]) - 1, Number(d[3]) + days)).toISOString().slice(0, 10);
}

/** The first instant of a day in a zone, also where clocks leave out midnight. */
export function startOfDay(date: string, zone: string): number {
  const clock = readWall({ date, time: "00:00" }, zone);
  switch (clock.kind) {
    case "unique":
      return clock.at;
    case "doubled":
      return clock.first;
    case "missing":
      // Where midnight is left out the day begins with the change itself.
      return changeBetween(clock.earlier - 1, clock.later + 1, zone);
    default:
      return Number.NaN;
  }
}

/** The instant between two at which the offset of the zone changes. */
function changeBetween(from: number, to: number, zone: string): number {
  const before = offsetAt(from, zone);
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, zone) === before) low = middle;
    else high = middle;
  }
  return high;
}

const texts = new Map<string, Intl.DateTimeFormat>();

function written(at: number, zone: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${zone}${JSON.stringify(options)}`;
  let format = texts.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone });
    texts.set(key, format);
  }
  return format.format(at);
}

const clockOptions: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const shortDayOptions: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short" };
const dayOptions: Intl.DateTimeFormatOptions = { ...shortDayOptions, year: "numeric" };

/** "22:00", with seconds where there are some. */
export function timeText(at: number, zone: string): string {
  return written(at, zone, at % 60_000 === 0 ? clockOptions : { ...clockOptions, second: "2-digit" });
}

/** "Sat, Dec 5, 2026", in the reader's order. */
export function dayText(at: number, zone: string): string {
  return written(at, zone, dayOptions);
}

/** Day and time of day. */
export function dateTimeText(at: number, zone: string): string {
  return `${dayText(at, zone)}, ${timeText(at, zone)}`;
}

/** The instant in UTC, with the day only where it is another one than in the zone. */
export function utcText(at: number, zone: string): string {
  const sameDay = wallAt(at, zone).date === wallAt(at, "UTC").date;
  return `${sameDay ? timeText(at, "UTC") : dateTimeText(at, "UTC")} UTC`;
}

/** The minute that an instant lies in, for overviews, where seconds are noise. */
export function wholeMinute(at: number): number {
  return Math.floor(at / 60_000) * 60_000;
}

/** From when to when, to the minute, day and year once if they are the same: "Sat, Dec 5, 2026, 22:00 to 23:30". */
export function windowText(since: number, until: number, zone: string): string {
  const [start, end] = [wholeMinute(since), wholeMinute(until)];
  const [from, to] = [wallAt(start, zone).date, wallAt(end, zone).date];
  if (from === to) return `${dateTimeText(start, zone)} to ${timeText(end, zone)}`;
  const day = from.slice(0, 4) === to.slice(0, 4) ? written(end, zone, shortDayOptions) : dayText(end, zone);
  return `${dateTimeText(start, zone)} to ${day}, ${timeText(end, zone)}`;
}
