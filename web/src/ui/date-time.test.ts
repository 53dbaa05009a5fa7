import { expect, test } from "vitest";
import { choiceOf, chosen, dateTimeFault, readDateTime, shownWall, typed, type DateTime } from "./date-time";

const at = (iso: string) => Date.parse(iso);
const instant = (value: DateTime, zone: string) => {
  const { at: ms } = readDateTime(value, zone);
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

test.each([
  ["Asia/Kolkata", "2026-06-10T04:30:00.000Z", "2026-06-11T04:30:00.000Z"],
  ["America/St_Johns", "2026-06-10T12:30:00.000Z", "2026-06-11T12:30:00.000Z"],
  ["Asia/Kathmandu", "2026-06-10T04:15:00.000Z", "2026-06-11T04:15:00.000Z"],
])("FC-002: in %s an untouched field keeps its instant, another day keeps the time of day", (zone, stored, moved) => {
  const value: DateTime = { at: at(stored) };
  expect(shownWall(value, zone)).toEqual({ date: "2026-06-10", time: "10:00" });
  expect(instant(value, zone)).toBe(stored);
  const next = typed(value, zone, { date: "2026-06-11" });
  expect(shownWall(next, zone)).toEqual({ date: "2026-06-11", time: "10:00" });
  expect(instant(next, zone)).toBe(moved);
});

test("FC-002: another day over a change of the clocks keeps the time of day, and so another offset", () => {
  const next = typed({ at: at("2026-03-28T09:00:00Z") }, "Europe/Berlin", { date: "2026-03-29" });
  expect(shownWall(next, "Europe/Berlin").time).toBe("10:00");
  expect(instant(next, "Europe/Berlin")).toBe("2026-03-29T08:00:00.000Z");
});

test("seconds that nobody sees survive: untouched, on another day, and when the same is typed again", () => {
  const value: DateTime = { at: at("2026-06-10T08:00:07.250Z") };
  expect(instant(value, "Europe/Berlin")).toBe("2026-06-10T08:00:07.250Z");
  const other = typed(value, "Europe/Berlin", { date: "2026-06-11" });
  expect(instant(other, "Europe/Berlin")).toBe("2026-06-11T08:00:07.250Z");
  expect(typed(other, "Europe/Berlin", { date: "2026-06-10" })).toEqual(value);
  const whole: DateTime = { at: at("2026-06-10T08:00:00Z") };
  const away = typed(whole, "Europe/Berlin", { time: "" });
  expect(readDateTime(away, "Europe/Berlin").at).toBeUndefined();
  expect(typed(away, "Europe/Berlin", { time: "10:00:00" })).toEqual(whole);
});

test("FC-003: the hour that does not exist names no instant, and what it would be is known", () => {
  const value = typed({ at: at("2026-03-28T09:00:00Z") }, "Europe/Berlin", { date: "2026-03-29", time: "02:30" });
  const { at: meant, clock } = readDateTime(value, "Europe/Berlin");
  expect(meant).toBeUndefined();
  expect(clock).toEqual({ kind: "missing", later: at("2026-03-29T01:30:00Z"), earlier: at("2026-03-29T00:30:00Z") });
  expect(dateTimeFault(value, "Europe/Berlin")).toBe("does not exist: clocks go forward and leave out 02:30");
});

test("FC-003: the hour that comes twice names no instant until one is chosen", () => {
  const value = typed({ at: at("2026-10-24T09:00:00Z") }, "Europe/Berlin", { date: "2026-10-25", time: "02:30" });
  expect(instant(value, "Europe/Berlin")).toBeUndefined();
  expect(dateTimeFault(value, "Europe/Berlin")).toMatch(/choose which/);
  const first = chosen(value, "Europe/Berlin", "first");
  expect(instant(first, "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
  expect(dateTimeFault(first, "Europe/Berlin")).toBeUndefined();
  const second = chosen(first, "Europe/Berlin", "second");
  expect(instant(second, "Europe/Berlin")).toBe("2026-10-25T01:30:00.000Z");
  // Typing on asks anew.
  expect(instant(typed(second, "Europe/Berlin", { time: "02:40" }), "Europe/Berlin")).toBeUndefined();
});

test("a stored instant in the doubled hour is settled, and can be changed to the other", () => {
  const value: DateTime = { at: at("2026-10-25T01:30:00Z") };
  expect(choiceOf(value, "Europe/Berlin")).toBe("second");
  expect(instant(chosen(value, "Europe/Berlin", "first"), "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
});

test("another zone keeps an untouched instant, and the clock time of what was typed", () => {
  const untouched: DateTime = { at: at("2026-06-01T08:00:00Z") };
  expect(shownWall(untouched, "Asia/Tokyo")).toEqual({ date: "2026-06-01", time: "17:00" });
  const value = typed(untouched, "Europe/Berlin", { time: "22:00" });
  expect(instant(value, "Asia/Tokyo")).toBe("2026-06-01T13:00:00.000Z");
});

test("half a date is no instant", () => {
  const value = typed({ at: at("2026-06-01T08:00:00Z") }, "Europe/Berlin", { date: "0002-06-01" });
  expect(dateTimeFault(value, "Europe/Berlin")).toBe("needs a date and a time of day");
});
