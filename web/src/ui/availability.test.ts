import { expect, test } from "vitest";
import { availability, cellsOf, type Bucket } from "./availability";

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

test("availability never rounds up to a full hundred", () => {
  expect(availability([])).toBeUndefined();
  expect(availability([bucket(0, 10, 0, 0)])).toBe("100 %");
  expect(availability([bucket(0, 10, 0, 10)])).toBe("0 %");
  expect(availability([bucket(0, 100_000, 0, 1)])).toBe("99.99 %");
});
