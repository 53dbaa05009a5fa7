import { describe, expect, test } from "vitest";
import { addDays, formatOffset, isZone, offsetAt, offsetLabel, readWall, startOfDay, utcText, wallAt, windowText, zoneNames } from "./zone";

const at = (iso: string) => Date.parse(iso);
const read = (zone: string, date: string, time: string) => {
  const clock = readWall({ date, time }, zone);
  const iso = (ms: number) => new Date(ms).toISOString().replace(".000", "");
  switch (clock.kind) {
    case "unique":
      return iso(clock.at);
    case "missing":
      return `missing ${iso(clock.later)} ${iso(clock.earlier)}`;
    case "doubled":
      return `doubled ${iso(clock.first)} ${iso(clock.second)}`;
    default:
      return "incomplete";
  }
};

describe("a wall clock time is read in its zone", () => {
  test.each([
    ["Europe/Berlin", "2026-06-01", "10:00", "2026-06-01T08:00:00Z"],
    ["Europe/Berlin", "2026-03-29", "01:59", "2026-03-29T00:59:00Z"],
    ["Europe/Berlin", "2026-03-29", "02:00", "missing 2026-03-29T01:00:00Z 2026-03-29T00:00:00Z"],
    ["Europe/Berlin", "2026-03-29", "02:30", "missing 2026-03-29T01:30:00Z 2026-03-29T00:30:00Z"],
    ["Europe/Berlin", "2026-03-29", "03:00", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-25", "01:59", "2026-10-24T23:59:00Z"],
    ["Europe/Berlin", "2026-10-25", "02:30", "doubled 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z"],
    ["Europe/Berlin", "2026-10-25", "03:00", "2026-10-25T02:00:00Z"],
    ["Asia/Kolkata", "2026-06-10", "10:00", "2026-06-10T04:30:00Z"],
    ["Asia/Kathmandu", "2026-06-10", "10:00", "2026-06-10T04:15:00Z"],
    ["America/St_Johns", "2026-06-10", "10:00", "2026-06-10T12:30:00Z"],
    ["America/St_Johns", "2026-03-08", "02:30", "missing 2026-03-08T06:00:00Z 2026-03-08T05:00:00Z"],
    ["Pacific/Chatham", "2026-06-10", "10:00", "2026-06-09T21:15:00Z"],
    // Lord Howe moves by half an hour, to +11 and back to +10:30.
    ["Australia/Lord_Howe", "2026-10-04", "02:15", "missing 2026-10-03T15:45:00Z 2026-10-03T15:15:00Z"],
    ["Australia/Lord_Howe", "2026-10-04", "02:30", "2026-10-03T15:30:00Z"],
    ["Australia/Lord_Howe", "2026-04-05", "01:45", "doubled 2026-04-04T14:45:00Z 2026-04-04T15:15:00Z"],
    ["Australia/Lord_Howe", "2026-04-05", "01:15", "2026-04-04T14:15:00Z"],
    // Samoa left out a whole day when it crossed the date line.
    ["Pacific/Apia", "2011-12-30", "12:00", "missing 2011-12-30T22:00:00Z 2011-12-29T22:00:00Z"],
    ["Pacific/Apia", "2011-12-31", "00:00", "2011-12-30T10:00:00Z"],
    ["Pacific/Kiritimati", "2026-01-01", "00:00", "2025-12-31T10:00:00Z"],
    ["Etc/GMT+12", "2026-01-01", "00:00", "2026-01-01T12:00:00Z"],
    ["UTC", "2026-03-29", "02:30", "2026-03-29T02:30:00Z"],
    ["Europe/Berlin", "2026-06-01", "10:00:07", "2026-06-01T08:00:07Z"],
  ])("%s %s %s", (zone, date, time, expected) => {
    expect(read(zone, date, time)).toBe(expected);
  });

  test.each([
    ["", "10:00"],
    ["2026-06-01", ""],
    ["2026-02-30", "10:00"],
    ["2026-06-01", "24:00"],
    ["0202-06-01", "10:00"],
    ["2026-6-1", "10:00"],
    ["2026-06-01", "10:00:61"],
  ])("%j %j is no date and time", (date, time) => {
    expect(read("Europe/Berlin", date, time)).toBe("incomplete");
  });
});

test("every instant around a change of clocks is among those that its wall clock time means", () => {
  const changes: [string, string][] = [
    ["Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
    ["America/St_Johns", "2026-11-01T04:30:00Z"],
    ["America/Sao_Paulo", "2018-11-04T03:00:00Z"],
    ["Africa/Casablanca", "2026-03-22T02:00:00Z"],
    ["Pacific/Apia", "2011-12-30T10:00:00Z"],
    ["Africa/Monrovia", "1972-01-07T00:44:30Z"],
    ["Asia/Pyongyang", "2018-05-04T15:00:00Z"],
  ];
  for (const [zone, change] of changes) {
    for (let minutes = -180; minutes <= 180; minutes += 5) {
      const instant = at(change) + minutes * 60_000;
      const clock = readWall(wallAt(instant, zone), zone);
      const meant = clock.kind === "unique" ? [clock.at] : clock.kind === "doubled" ? [clock.first, clock.second] : [];
      expect(meant, `${zone} ${new Date(instant).toISOString()}`).toContain(instant);
    }
  }
});

test("a missing time is moved by as much as the clocks are", () => {
  const clock = readWall({ date: "2026-03-29", time: "02:30" }, "Europe/Berlin");
  if (clock.kind !== "missing") throw new Error(clock.kind);
  expect(wallAt(clock.later, "Europe/Berlin")).toEqual({ date: "2026-03-29", time: "03:30" });
  expect(wallAt(clock.earlier, "Europe/Berlin")).toEqual({ date: "2026-03-29", time: "01:30" });
});

test("wall clock times have seconds only where there are some", () => {
  expect(wallAt(at("2026-06-01T08:00:00Z"), "Europe/Berlin")).toEqual({ date: "2026-06-01", time: "10:00" });
  expect(wallAt(at("2026-06-01T08:00:07Z"), "Europe/Berlin").time).toBe("10:00:07");
  expect(wallAt(at("2026-06-01T08:00:07.250Z"), "Europe/Berlin").time).toBe("10:00:07.250");
  expect(wallAt(at("2026-06-01T22:00:00Z"), "UTC").time).toBe("22:00");
});

test("offsets are written with minutes", () => {
  const noon = at("2026-07-01T12:00:00Z");
  expect(["UTC", "Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"].map((zone) => offsetLabel(noon, zone))).toEqual(["UTC", "UTC+05:30", "UTC+05:45", "UTC-02:30", "UTC+13:00"]);
  expect(formatOffset(offsetAt(at("1970-01-01T00:00:00Z"), "Africa/Monrovia"))).toBe("-00:44:30");
});

test("days begin when the clocks say so, also without midnight", () => {
  expect(startOfDay("2026-06-01", "Europe/Berlin")).toBe(at("2026-05-31T22:00:00Z"));
  expect(startOfDay("2018-11-04", "America/Sao_Paulo")).toBe(at("2018-11-04T03:00:00Z"));
  // Cuba goes back at one o'clock, so midnight comes twice.
  expect(startOfDay("2026-11-01", "America/Havana")).toBe(at("2026-11-01T04:00:00Z"));
  // The day that Samoa never had begins and ends at once.
  expect(startOfDay("2011-12-30", "Pacific/Apia")).toBe(startOfDay("2011-12-31", "Pacific/Apia"));
  expect(addDays("2026-02-28", 1)).toBe("2026-03-01");
  expect(addDays("2026-03-29", -30)).toBe("2026-02-27");
});

test("only names are zones", () => {
  expect(["Europe/Berlin", "UTC", "europe/berlin"].every(isZone)).toBe(true);
  expect(["Europe/Berlni", "", "+02:00", "-0530"].some(isZone)).toBe(false);
  expect(zoneNames()).toEqual(expect.arrayContaining(["UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu"]));
  expect(zoneNames()).not.toContain("Asia/Calcutta");
});

test("a window names its day once, and UTC its own day where it differs", () => {
  const berlin = windowText(at("2026-12-05T21:00:00Z"), at("2026-12-05T22:30:00Z"), "Europe/Berlin");
  expect(berlin).toMatch(/5.*, 22:00 to 23:30$/);
  expect(windowText(at("2026-12-05T22:00:00Z"), at("2026-12-05T23:30:00Z"), "Europe/Berlin")).toMatch(/5.*2026.*23:00 to (?!.*2026).*6.*00:30$/);
  expect(windowText(at("2026-12-31T22:00:00Z"), at("2026-12-31T23:30:00Z"), "Europe/Berlin")).toMatch(/2026.*23:00 to .*2027.*00:30$/);
  expect(utcText(at("2026-12-05T21:00:00Z"), "Europe/Berlin")).toBe("21:00 UTC");
  expect(utcText(at("2026-12-05T23:30:00Z"), "Europe/Berlin")).toMatch(/5.*23:30 UTC$/);
});
