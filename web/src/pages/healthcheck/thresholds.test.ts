import { expect, test } from "vitest";
import { describe, formOf, standard, storedOf, withMode } from "./thresholds";

test("an assignment without thresholds uses the platform's", () => {
  expect(formOf(null)).toEqual(standard);
  expect(describe(standard)).toBe("Degraded after 2 failed runs in a row, unhealthy after 5, healthy again after 1 success.");
});

test("what was stored comes back unchanged", () => {
  const window = { mode: "window" as const, windowSize: 20, degraded: { minFailureCount: 4 }, unhealthy: { minFailureCount: 9 } };
  expect(storedOf(formOf(window))).toEqual(window);
  const row = { mode: "consecutive" as const, healthy: { minSuccessCount: 3 }, degraded: { minFailureCount: 1 }, unhealthy: { minFailureCount: 2 } };
  expect(storedOf(formOf(row))).toEqual(row);
});

test("a new mode starts from its own defaults", () => {
  expect(withMode(standard, "window")).toMatchObject({ mode: "window", degraded: 3, unhealthy: 7, windowSize: 10 });
  expect(withMode({ ...standard, degraded: 9 }, "consecutive").degraded).toBe(9);
});
