import { readWall, wallAt, type Clock, type Wall } from "./zone";

/**
 * What a date and time field holds. An instant that nobody touched stays that
 * instant to the millisecond, whatever the zone; what somebody typed stays what
 * clocks show.
 */
export type DateTime =
  | { at: number }
  | (Wall & {
      /** Which of two is meant where clocks show the time twice. */
      choice?: "first" | "second" | undefined;
      /** The instant that was there before anything was typed. */
      was?: number | undefined;
    });

/** The texts of the two inputs. */
export function shownWall(value: DateTime, zone: string): Wall {
  return "at" in value ? wallAt(value.at, zone) : { date: value.date, time: value.time };
}

/** The value after typing into one of the inputs; the other keeps its text. */
export function typed(value: DateTime, zone: string, change: Partial<Wall>): DateTime {
  const wall = { ...shownWall(value, zone), ...change };
  const was = "at" in value ? value.at : value.was;
  // Whoever types back what was there has changed nothing, not even the seconds.
  if (was !== undefined) {
    const before = wallAt(was, zone);
    if (before.date === wall.date && plainTime(before.time) === plainTime(wall.time)) return { at: was };
  }
  return { ...wall, was };
}

/** The time of day without seconds that are zero, so that two writings of one time are equal. */
function plainTime(time: string): string {
  return time.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/^(\d\d:\d\d):00$/, "$1");
}

/** Says which of two instants is meant. */
export function chosen(value: DateTime, zone: string, choice: "first" | "second"): DateTime {
  return { ...shownWall(value, zone), choice, was: "at" in value ? value.at : value.was };
}

/** What the inputs mean: the instant, unless the clocks leave it open, and how the clocks stand to it. */
export function readDateTime(value: DateTime, zone: string): { at: number | undefined; clock: Clock } {
  const clock = readWall(shownWall(value, zone), zone);
  if ("at" in value) return { at: value.at, clock };
  if (clock.kind === "unique") return { at: clock.at, clock };
  if (clock.kind === "doubled" && value.choice) return { at: clock[value.choice], clock };
  return { at: undefined, clock };
}

/** Which of the two instants of a doubled time is meant, if that is settled. */
export function choiceOf(value: DateTime, zone: string): "first" | "second" | undefined {
  const { at, clock } = readDateTime(value, zone);
  if (clock.kind !== "doubled" || at === undefined) return undefined;
  return at === clock.first ? "first" : "second";
}

/** Why the inputs name no instant, for people; undefined when they do. */
export function dateTimeFault(value: DateTime, zone: string): string | undefined {
  const { at, clock } = readDateTime(value, zone);
  if (at !== undefined) return undefined;
  switch (clock.kind) {
    case "missing":
      return `does not exist: clocks go forward and leave out ${shownWall(value, zone).time}`;
    case "doubled":
      return `comes twice: choose which ${shownWall(value, zone).time} is meant`;
    default:
      return "needs a date and a time of day";
  }
}
