import { expect, test } from "vitest";
import { typed } from "@/ui/date-time";
import type { Detail } from "./api";
import { changedFields, editOf, instantOf, seriesEditOf, seriesValuesOf, shownValue, valuesOf, withStart, withTheirs, withZone, type Values } from "./changes";

const stored = { title: "Database upgrade", description: null, systemIds: ["a", "b"], suppressNotifications: false, startAt: "2026-06-10T04:30:07.250Z", endAt: "2026-06-10T05:30:07.250Z" };
const opened = valuesOf(stored, "Asia/Kolkata");
const start = (values: Values) => instantOf(values.start, values.zone);
const end = (values: Values) => new Date(instantOf(values.end, values.zone) ?? Number.NaN).toISOString();

test("FC-002: with another title nothing but the title is sent", () => {
  expect(editOf(opened, { ...opened, title: "Database upgrade, moved" })).toEqual({ title: "Database upgrade, moved" });
  expect(editOf(opened, { ...opened, zone: "America/St_Johns" })).toEqual({});
  expect(editOf(opened, { ...opened, title: " Database upgrade " })).toEqual({});
});

test("FC-002: another day moves both ends and keeps both times of day", () => {
  const moved = withStart(opened, typed(opened.start, opened.zone, { date: "2026-06-11" }), start(opened));
  expect(editOf(opened, moved)).toEqual({ startAt: "2026-06-11T04:30:07.250Z", endAt: "2026-06-11T05:30:07.250Z" });
  const back = withStart(moved, typed(moved.start, moved.zone, { date: "2026-06-10" }), start(moved));
  expect(editOf(opened, back)).toEqual({});
});

test("the end waits while a start is being typed, and then follows", () => {
  const half = withStart(opened, typed(opened.start, opened.zone, { date: "" }), start(opened));
  expect(end(half)).toBe(stored.endAt);
  const whole = withStart(half, typed(half.start, half.zone, { date: "2026-07-01" }), start(opened));
  expect(end(whole)).toBe("2026-07-01T05:30:07.250Z");
});

test("the end stays when it was before the start: there is no length to keep", () => {
  const broken: Values = { ...opened, end: { at: Date.parse("2026-06-10T03:00:00Z") } };
  expect(end(withStart(broken, { at: Date.parse("2026-06-10T02:00:00Z") }, start(broken)))).toBe("2026-06-10T03:00:00.000Z");
});

test("an emptied description is cleared, and systems are a set", () => {
  expect(editOf({ ...opened, description: "x" }, { ...opened, description: "  " })).toEqual({ description: null });
  expect(changedFields(opened, { ...opened, systemIds: ["b", "a"] }, false)).toEqual([]);
});

const occurrence = {
  ...stored,
  id: "2",
  startAt: "2026-12-05T21:00:00Z",
  endAt: "2026-12-05T22:00:00Z",
  series: { title: "Weekly restart", description: "All nodes", systemIds: ["a"], suppressNotifications: true, rule: "FREQ=WEEKLY;BYDAY=SA", timeZone: "Europe/Berlin", startAt: "2026-11-07T21:00:00Z", endAt: "2026-11-07T22:00:00Z" },
} as unknown as Detail;

test("the form of a series starts from the series and the window of the occurrence", () => {
  const values = seriesValuesOf(occurrence);
  expect(values).toMatchObject({ title: "Weekly restart", zone: "Europe/Berlin", systemIds: ["a"], recurrence: { repeats: "weekly" } });
  expect(values && end(values)).toBe("2026-12-05T22:00:00.000Z");
});

test("of a series only what was touched is sent, and a window always with both ends", () => {
  const values = seriesValuesOf(occurrence) as Values;
  expect(seriesEditOf(values, { ...values, title: "Restart" })).toEqual({ title: "Restart" });
  expect(seriesEditOf(values, { ...values, recurrence: { ...values.recurrence, interval: "2" } })).toEqual({ rule: "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA" });
  const later = { ...values, end: { at: Date.parse("2026-12-05T23:00:00Z") } };
  expect(seriesEditOf(values, later)).toEqual({ startAt: "2026-12-05T21:00:00.000Z", endAt: "2026-12-05T23:00:00.000Z" });
  // Ten in the evening in Tokyo instead of in Berlin, said as an instant.
  expect(seriesEditOf(values, withZone(values, "Asia/Tokyo", "clocks"))).toEqual({ timeZone: "Asia/Tokyo", startAt: "2026-12-05T13:00:00.000Z", endAt: "2026-12-05T14:00:00.000Z" });
});

test("another zone keeps either the instants or what clocks show, of both ends alike", () => {
  const typedStart = withStart(opened, typed(opened.start, opened.zone, { time: "22:00" }), start(opened));
  const instants = withZone(typedStart, "UTC", "instants");
  expect([instantOf(instants.start, "UTC"), end(instants)]).toEqual([Date.parse("2026-06-10T16:30:00Z"), end(typedStart)]);
  const clocks = withZone(typedStart, "America/St_Johns", "clocks");
  expect([instantOf(clocks.start, clocks.zone), end(clocks)]).toEqual([Date.parse("2026-06-11T00:30:00Z"), "2026-06-11T01:30:00.000Z"]);
  // There and back again nothing has moved, not even the milliseconds.
  expect(editOf(opened, withZone(withZone(opened, "America/St_Johns", "instants"), "Asia/Kolkata", "instants"))).toEqual({});
  expect(editOf(opened, withZone(withZone(opened, "America/St_Johns", "clocks"), "Asia/Kolkata", "clocks"))).toEqual({});
});

test("what somebody else changed reads as it does in the form", () => {
  const theirs: Values = { ...opened, suppressNotifications: true, systemIds: ["a"], end: { at: Date.parse("2026-06-10T06:30:00Z") } };
  const fields = changedFields(opened, theirs, false);
  expect(fields).toEqual(["systemIds", "end", "suppressNotifications"]);
  expect(shownValue("end", theirs, String)).toMatch(/12:00 UTC\+05:30$/);
  expect(shownValue("recurrence", theirs, String)).toBe("does not repeat");
});

test("taking theirs is about what both changed: what only one side touched is never lost", () => {
  const mine = { ...opened, title: "Mine", description: "Only I wrote this." };
  const theirs = { ...valuesOf({ ...stored, title: "Theirs", systemIds: ["c"] }, "Europe/Lisbon") };
  expect(withTheirs(opened, mine, theirs, "theirs", false)).toMatchObject({ title: "Theirs", description: "Only I wrote this.", systemIds: ["c"], zone: opened.zone });
  expect(withTheirs(opened, mine, theirs, "mine", false)).toMatchObject({ title: "Mine", description: "Only I wrote this.", systemIds: ["c"], zone: opened.zone });
});
