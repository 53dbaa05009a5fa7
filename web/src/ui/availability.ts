/** A stretch of time with the runs that fell into it. */
export type Bucket = {
  bucketStart: string;
  bucketEnd: string;
  runCount: number;
  healthyCount: number;
  degradedCount: number;
  unhealthyCount: number;
};

export type Cell = { start: number; end: number; runs: number; failed: number; state: "healthy" | "degraded" | "unhealthy" | "none" };

/** Lays buckets over equal cells between two instants; a cell without runs says so. */
export function cellsOf(buckets: readonly Bucket[], from: number, to: number, count: number): Cell[] {
  const width = (to - from) / count;
  const cells: (Cell & { bad: number })[] = Array.from({ length: count }, (_, i) => ({
    start: from + i * width,
    end: from + (i + 1) * width,
    runs: 0,
    failed: 0,
    bad: 0,
    state: "none" as const,
  }));
  for (const bucket of buckets) {
    const middle = (Date.parse(bucket.bucketStart) + Date.parse(bucket.bucketEnd)) / 2;
    const cell = cells[Math.min(count - 1, Math.max(0, Math.floor((middle - from) / width)))];
    if (!cell || middle < from || middle > to + width) continue;
    cell.runs += bucket.runCount;
    cell.failed += bucket.degradedCount + bucket.unhealthyCount;
    cell.bad += bucket.unhealthyCount;
  }
  return cells.map(({ bad, ...cell }) => ({
    ...cell,
    state: cell.runs === 0 ? "none" : cell.failed === 0 ? "healthy" : bad > cell.runs / 2 ? "unhealthy" : "degraded",
  }));
}

/** Share of healthy runs in percent and of how many, or undefined without runs. Never rounds up to 100. */
export function availability(buckets: readonly Bucket[]): { share: string; runs: number } | undefined {
  let runs = 0;
  let healthy = 0;
  for (const bucket of buckets) {
    runs += bucket.runCount;
    healthy += bucket.healthyCount;
  }
  if (runs === 0) return undefined;
  const share = healthy === runs ? "100 %" : healthy === 0 ? "0 %" : `${(Math.floor((healthy / runs) * 10_000) / 100).toFixed(2)} %`;
  return { share, runs };
}

/** "99.98 % of 1,440 runs". */
export function availabilityText(buckets: readonly Bucket[]): string {
  const found = availability(buckets);
  if (!found) return "no runs";
  return `${found.share} of ${found.runs.toLocaleString()} ${found.runs === 1 ? "run" : "runs"}`;
}

/**
 * Since when there are runs, when that is clearly later than the start of the
 * range: then the range must not be claimed as a whole. The oldest known run
 * is exact; without it the start of its bucket has to do, which is exact only
 * to the bucket's width.
 */
export function runsSince(buckets: readonly Bucket[], from: number, oldestRun: string | undefined): { at: number; exact: boolean } | undefined {
  const first = buckets.find((bucket) => bucket.runCount > 0);
  if (!first) return undefined;
  const start = Date.parse(first.bucketStart);
  const width = Date.parse(first.bucketEnd) - start;
  if (start < from + width) return undefined;
  const known = oldestRun === undefined ? NaN : Date.parse(oldestRun);
  return known >= start && known <= start + width ? { at: known, exact: true } : { at: start, exact: width <= 60_000 };
}
