import { addDays, offsetAt, startOfDay, wallAt } from "@/ui/zone";

/** A window as the calendar needs it. */
export type Span = { id: string; start: number; end: number };

/** The part of a window that lies in one day. */
export type Piece<T extends Span> = {
  span: T;
  /** In the week before, or on the day before, it had begun already. */
  continues: boolean;
  /** It goes on after this day. */
  goesOn: boolean;
};

/** Days of one week; the first day of a week is 1 for Monday to 7 for Sunday. */
export function weekOf(date: string, firstDay: number): string[] {
  const weekday = ((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
  const first = addDays(date, -((weekday - firstDay + 7) % 7));
  return Array.from({ length: 7 }, (_, i) => addDays(first, i));
}

/** The weeks that a month touches. */
export function monthOf(date: string, firstDay: number): string[][] {
  const first = `${date.slice(0, 7)}-01`;
  const weeks: string[][] = [];
  for (let week = weekOf(first, firstDay); ; week = weekOf(addDays(week[6] ?? first, 1), firstDay)) {
    weeks.push(week);
    if (addDays(week[6] ?? first, 1).slice(0, 7) > first.slice(0, 7)) return weeks;
  }
}

/** The same day of another month, or its last day where it is shorter. */
export function addMonths(date: string, months: number): string {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0));
  return new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(day, last.getUTCDate()))).toISOString().slice(0, 10);
}

/** The windows that touch a day of a zone, soonest first. A window that ends at midnight does not touch the next day. */
export function onDay<T extends Span>(spans: readonly T[], date: string, zone: string): Piece<T>[] {
  const from = startOfDay(date, zone);
  const to = startOfDay(addDays(date, 1), zone);
  return spans
    .filter((span) => span.start < to && (span.end > from || span.start === from) && to > from)
    .map((span) => ({ span, continues: span.start < from, goesOn: span.end > to }))
    .sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end || (a.span.id < b.span.id ? -1 : 1));
}

/**
 * Gives each window of a week the line in which it stands on all of its days,
 * so that one over several days reads as one. Long ones come first.
 */
export function lanesOf<T extends Span>(days: readonly Piece<T>[][]): Map<string, number> {
  const lanes = new Map<string, number>();
  const taken: Set<number>[] = days.map(() => new Set<number>());
  days.forEach((pieces) => {
    for (const { span } of pieces) {
      if (lanes.has(span.id)) continue;
      const touched = days.flatMap((other, at) => (other.some((piece) => piece.span.id === span.id) ? [at] : []));
      let lane = 0;
      while (touched.some((at) => taken[at]?.has(lane))) lane++;
      for (const at of touched) taken[at]?.add(lane);
      lanes.set(span.id, lane);
    }
  });
  return lanes;
}

/** A piece of a window in the column of a day: from when to when in minutes of the clock, and in which of how many columns. */
export type Block<T extends Span> = Piece<T> & { top: number; bottom: number; column: number; columns: number };

const dayMinutes = 24 * 60;
/** What a short window takes at least, so that it can be read and hit. */
const leastMinutes = 45;

/** Lays out the windows of a day by what clocks show; those that overlap stand beside each other. */
export function blocksOf<T extends Span>(pieces: readonly Piece<T>[], date: string, zone: string): Block<T>[] {
  const minutes = (at: number) => {
    const [hours = 0, rest = 0] = wallAt(at, zone).time.split(":").map(Number);
    return hours * 60 + rest;
  };
  const placed = pieces.map((piece) => {
    const top = piece.continues ? 0 : minutes(piece.span.start);
    const endDate = wallAt(piece.span.end, zone).date;
    const bottom = piece.goesOn || endDate > date ? dayMinutes : minutes(piece.span.end);
    const start = Math.min(top, dayMinutes - leastMinutes);
    // Where clocks go back a window may end earlier on the clock than it began.
    return { ...piece, top: start, bottom: Math.min(dayMinutes, Math.max(bottom, start + leastMinutes)), column: 0, columns: 1 };
  });
  placed.sort((a, b) => a.top - b.top || b.bottom - a.bottom);
  let group: typeof placed = [];
  let until = -1;
  const close = () => {
    const columns = Math.max(...group.map((each) => each.column + 1));
    for (const each of group) each.columns = columns;
    group = [];
  };
  for (const each of placed) {
    if (group.length > 0 && each.top >= until) close();
    const busy = new Set(group.filter((other) => other.bottom > each.top).map((other) => other.column));
    while (busy.has(each.column)) each.column++;
    group.push(each);
    until = group.length === 1 ? each.bottom : Math.max(until, each.bottom);
  }
  if (group.length > 0) close();
  return placed;
}

/** By how many minutes the clocks go forward (or, negative, back) within a day. */
export function clockChange(date: string, zone: string): number {
  return (offsetAt(startOfDay(addDays(date, 1), zone), zone) - offsetAt(startOfDay(date, zone), zone)) / 60_000;
}

/** The day that a key of a calendar grid leads to; undefined for other keys. */
export function dayByKey(key: string, shift: boolean, date: string, firstDay: number): string | undefined {
  const week = weekOf(date, firstDay);
  switch (key) {
    case "ArrowLeft":
      return addDays(date, -1);
    case "ArrowRight":
      return addDays(date, 1);
    case "ArrowUp":
      return addDays(date, -7);
    case "ArrowDown":
      return addDays(date, 7);
    case "Home":
      return week[0];
    case "End":
      return week[6];
    case "PageUp":
      return addMonths(date, shift ? -12 : -1);
    case "PageDown":
      return addMonths(date, shift ? 12 : 1);
    default:
      return undefined;
  }
}
