import { expect, test } from "vitest";
import { clockTime, countdown, formatDuration, formatLatency, relativeTime, splitDuration } from "./time";

test("durations carry units and at most two parts", () => {
  expect(formatDuration(0)).toBe("0 ms");
  expect(formatDuration(999)).toBe("999 ms");
  expect(formatDuration(30_000)).toBe("30 s");
  expect(formatDuration(90_000)).toBe("1 min 30 s");
  expect(formatDuration(5_400_000)).toBe("1 h 30 min");
  expect(formatDuration(90_061_000)).toBe("1 d 1 h");
  expect(formatDuration(Number.NaN)).toBe("–");
});

test("latencies keep the digits that matter", () => {
  expect(formatLatency(undefined)).toBe("–");
  expect(formatLatency(0.43)).toBe("0.4 ms");
  expect(formatLatency(230.4)).toBe("230 ms");
  expect(formatLatency(2340)).toBe("2.3 s");
  expect(formatLatency(30_000)).toBe("30 s");
});

test("a duration splits into the largest whole unit", () => {
  expect(splitDuration(30_000, "ms")).toEqual({ amount: 30, unit: "s" });
  expect(splitDuration(1500, "ms")).toEqual({ amount: 1500, unit: "ms" });
  expect(splitDuration(3_600_000, "s")).toEqual({ amount: 1, unit: "h" });
  expect(splitDuration(90_000, "s")).toEqual({ amount: 90, unit: "s" });
  expect(splitDuration(0, "s")).toEqual({ amount: 0, unit: "s" });
});

test("relative times read in both directions", () => {
  const now = new Date("2026-01-02T12:00:00Z");
  const at = (s: number) => new Date(now.getTime() - s * 1000);
  expect(relativeTime(at(1), now)).toBe("just now");
  expect(relativeTime(at(59), now)).toBe("59 s ago");
  expect(relativeTime(at(660), now)).toBe("11 min ago");
  expect(relativeTime(at(7200), now)).toBe("2 h ago");
  expect(relativeTime(at(200_000), now)).toBe("2 d ago");
  expect(relativeTime(at(-120), now)).toBe("in 2 min");
  expect(relativeTime(at(-1), now)).toBe("in a moment");
});

test("a countdown never goes below zero", () => {
  const now = new Date("2026-01-02T12:00:00Z");
  expect(countdown(new Date(now.getTime() + 581_000), now)).toBe("9:41");
  expect(countdown(new Date(now.getTime() + 200), now)).toBe("0:01");
  expect(countdown(new Date(now.getTime() - 1), now)).toBe("0:00");
});

test("a clock time names the day and the year only when they are others", () => {
  const now = new Date(2026, 6, 15, 12, 0);
  expect(clockTime(new Date(2026, 6, 15, 9, 5), now)).toMatch(/^\D*09:05\D*$/);
  expect(clockTime(new Date(2026, 5, 1, 9, 5), now)).not.toContain("2026");
  expect(clockTime(new Date(2025, 6, 15, 9, 5), now)).toContain("2025");
});
