import { expect, test } from "vitest";
import { availability, availabilityText, cellsOf, runsSince, type Bucket } from "./availability";

const hour = 3_600_000;
const bucket = (startHour: number, runs: number, degraded: number, unhealthy: number): Bucket => ({
  bucketStart: new Date(startHour * hour).toISOString(),
  bucketEnd: new Date((startHour + 1) * hour).toISOString(),
  runCount: runs,
  healthyCount: runs - degraded - unhealthy,
  degradedCount: degraded,
  unhealthyCount: unhealthy,
});

test("cells without runs are not healthy", () => {
  const cells = cellsOf([bucket(1, 10, 0, 0)], 0, 4 * hour, 4);
  expect(cells.map((cell) => cell.state)).toEqual(["none", "healthy", "none", "none"]);
});

test("some failures are degraded, a majority is unhealthy", () => {
  const cells = cellsOf([bucket(0, 10, 0, 1), bucket(1, 10, 0, 6)], 0, 2 * hour, 2);
  expect(cells.map((cell) => cell.state)).toEqual(["degraded", "unhealthy"]);
});

test("several buckets share a cell", () => {
  const [cell] = cellsOf([bucket(0, 10, 0, 0), bucket(1, 5, 2, 0)], 0, 2 * hour, 1);
  expect(cell).toMatchObject({ runs: 15, failed: 2, state: "degraded" });
});

test("buckets outside the range are left out", () => {
  expect(cellsOf([bucket(-5, 10, 0, 10)], 0, 2 * hour, 2).every((cell) => cell.state === "none")).toBe(true);
});

test("availability never rounds up to a full hundred, and says of how many runs", () => {
  expect(availability([])).toBeUndefined();
  expect(availabilityText([])).toBe("no runs");
  expect(availabilityText([bucket(0, 1, 0, 0)])).toBe("100 % of 1 run");
  expect(availabilityText([bucket(0, 10, 0, 10)])).toBe("0 % of 10 runs");
  expect(availability([bucket(0, 100_000, 0, 1)])).toEqual({ share: "99.99 %", runs: 100_000 });
});

test("a young check does not claim the whole range", () => {
  expect(runsSince([bucket(0, 5, 0, 0), bucket(1, 5, 0, 0)], 0, undefined)).toBeUndefined();
  expect(runsSince([bucket(0, 0, 0, 0), bucket(5, 3, 0, 0)], 0, undefined)).toEqual({ at: 5 * hour, exact: false });
  expect(runsSince([bucket(5, 3, 0, 0)], 0, new Date(5.5 * hour).toISOString())).toEqual({ at: 5.5 * hour, exact: true });
  // An oldest run of another bucket is not the first one of this range.
  expect(runsSince([bucket(5, 3, 0, 0)], 0, new Date(9 * hour).toISOString())).toEqual({ at: 5 * hour, exact: false });
});
