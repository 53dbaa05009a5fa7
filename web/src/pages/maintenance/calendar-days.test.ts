import { expect, test } from "vitest";
import { addMonths, blocksOf, clockChange, dayByKey, lanesOf, monthOf, onDay, weekOf, type Span } from "./calendar-days";

const span = (id: string, start: string, end: string): Span => ({ id, start: Date.parse(start), end: Date.parse(end) });
const berlin = "Europe/Berlin";

test("weeks begin where people begin them", () => {
  expect(weekOf("2026-12-05", 1)).toEqual(["2026-11-30", "2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04", "2026-12-05", "2026-12-06"]);
  expect(weekOf("2026-12-05", 7)[0]).toBe("2026-11-29");
  expect(weekOf("2026-12-06", 7)[0]).toBe("2026-12-06");
  expect(weekOf("2026-12-05", 6)[0]).toBe("2026-12-05");
});

test("a month shows every week that it touches, once", () => {
  expect(monthOf("2026-12-15", 1).map((week) => week[0])).toEqual(["2026-11-30", "2026-12-07", "2026-12-14", "2026-12-21", "2026-12-28"]);
  expect(monthOf("2027-02-01", 1)).toHaveLength(4); // from Monday the 1st to Sunday the 28th
  expect(monthOf("2026-08-01", 1)).toHaveLength(6);
});

test("another month has the same day, or its last", () => {
  expect(addMonths("2026-01-31", 1)).toBe("2026-02-28");
  expect(addMonths("2026-01-31", -1)).toBe("2025-12-31");
  expect(addMonths("2024-02-29", 12)).toBe("2025-02-28");
  expect(addMonths("2026-12-15", 1)).toBe("2027-01-15");
});

test("a window belongs to the days of the reader's zone, over midnight to both, and not to a day that it ends on at midnight", () => {
  const night = span("night", "2026-12-05T21:00:00Z", "2026-12-06T01:00:00Z"); // 22:00 to 02:00 in Berlin
  const evening = span("evening", "2026-12-05T20:00:00Z", "2026-12-05T23:00:00Z"); // until midnight
  const pieces = (date: string, zone: string) => onDay([night, evening], date, zone).map(({ span: { id }, continues, goesOn }) => [id, continues, goesOn]);
  expect(pieces("2026-12-05", berlin)).toEqual([
    ["evening", false, false],
    ["night", false, true],
  ]);
  expect(pieces("2026-12-06", berlin)).toEqual([["night", true, false]]);
  expect(pieces("2026-12-07", berlin)).toEqual([]);
  expect(pieces("2026-12-06", "Asia/Tokyo")).toEqual([
    ["evening", false, false],
    ["night", false, false],
  ]);
});

test("a window over several days keeps its line, and others find another", () => {
  const spans = [span("long", "2026-12-01T08:00:00Z", "2026-12-04T08:00:00Z"), span("early", "2026-12-01T06:00:00Z", "2026-12-01T07:00:00Z"), span("late", "2026-12-03T06:00:00Z", "2026-12-03T07:00:00Z")];
  const days = weekOf("2026-12-01", 1).map((date) => onDay(spans, date, berlin));
  const lanes = lanesOf(days);
  expect(lanes.get("early")).toBe(0);
  expect(lanes.get("long")).toBe(1);
  expect(lanes.get("late")).toBe(0);
});

test("windows that overlap stand beside each other, the next free of them has the whole width", () => {
  const spans = [span("a", "2026-12-01T08:00:00Z", "2026-12-01T10:00:00Z"), span("b", "2026-12-01T09:00:00Z", "2026-12-01T11:00:00Z"), span("c", "2026-12-01T10:30:00Z", "2026-12-01T12:00:00Z"), span("d", "2026-12-01T15:00:00Z", "2026-12-01T15:05:00Z")];
  const blocks = blocksOf(onDay(spans, "2026-12-01", berlin), "2026-12-01", berlin);
  expect(blocks.map(({ span: { id }, top, bottom, column, columns }) => [id, top, bottom, column, columns])).toEqual([
    ["a", 540, 660, 0, 2],
    ["b", 600, 720, 1, 2],
    ["c", 690, 780, 0, 2],
    ["d", 960, 1005, 0, 1],
  ]);
});

test("a window fills the days between its ends, and stays inside of each", () => {
  const spans = [span("days", "2026-12-01T21:00:00Z", "2026-12-03T05:00:00Z"), span("last", "2026-12-01T22:50:00Z", "2026-12-01T22:55:00Z")];
  const on = (date: string) => blocksOf(onDay(spans, date, berlin), date, berlin).map(({ span: { id }, top, bottom }) => [id, top, bottom]);
  expect(on("2026-12-01")).toEqual([
    ["days", 1320, 1440],
    ["last", 1395, 1440],
  ]);
  expect(on("2026-12-02")).toEqual([["days", 0, 1440]]);
  expect(on("2026-12-03")).toEqual([["days", 0, 360]]);
});

test("an hour that clocks show twice does not turn a window around", () => {
  const twice = span("twice", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z"); // 02:45 first time to 02:15 second time
  const [block] = blocksOf(onDay([twice], "2026-10-25", berlin), "2026-10-25", berlin);
  expect(block?.top).toBe(165);
  expect(block?.bottom).toBe(210);
});

test("days on which clocks change are known", () => {
  expect(clockChange("2026-03-29", berlin)).toBe(60);
  expect(clockChange("2026-10-25", berlin)).toBe(-60);
  expect(clockChange("2026-04-05", "Australia/Lord_Howe")).toBe(-30);
  expect(clockChange("2026-03-28", berlin)).toBe(0);
});

test("keys lead to days as in a calendar grid", () => {
  const keys: [string, boolean, string | undefined][] = [
    ["ArrowLeft", false, "2026-12-04"],
    ["ArrowRight", false, "2026-12-06"],
    ["ArrowUp", false, "2026-11-28"],
    ["ArrowDown", false, "2026-12-12"],
    ["Home", false, "2026-11-30"],
    ["End", false, "2026-12-06"],
    ["PageUp", false, "2026-11-05"],
    ["PageDown", true, "2027-12-05"],
    ["x", false, undefined],
  ];
  for (const [key, shift, day] of keys) expect(dayByKey(key, shift, "2026-12-05", 1), key).toBe(day);
});
