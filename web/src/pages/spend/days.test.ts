import { expect, test } from "vitest";
import { capUse, everyDay, windowStart } from "./days";

test("days without spend are there too, both ends included", () => {
  expect(everyDay("2026-06-29T13:00:00Z", "2026-07-02T01:00:00Z", [{ date: "2026-06-30", totalTokens: 7 }])).toEqual([
    { date: "2026-06-29", totalTokens: 0 },
    { date: "2026-06-30", totalTokens: 7 },
    { date: "2026-07-01", totalTokens: 0 },
    { date: "2026-07-02", totalTokens: 0 },
  ]);
});

test("the use of a cap is a share of it, and unknown without one", () => {
  expect(capUse(50, 200)).toBe(0.25);
  expect(capUse(0, 200)).toBe(0);
  expect(capUse(null, 200)).toBeUndefined();
  expect(capUse(50, undefined)).toBeUndefined();
});

test("a cap's window reaches back from the moment of the report", () => {
  expect(windowStart("2026-07-02T01:00:00Z", 90)).toBe("2026-07-01T23:30:00.000Z");
});
