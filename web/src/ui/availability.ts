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

/** Share of healthy runs in percent, or undefined without runs. Never rounds up to 100. */
export function availability(buckets: readonly Bucket[]): string | undefined {
  let runs = 0;
  let healthy = 0;
  for (const bucket of buckets) {
    runs += bucket.runCount;
    healthy += bucket.healthyCount;
  }
  if (runs === 0) return undefined;
  if (healthy === runs) return "100 %";
  if (healthy === 0) return "0 %";
  return `${(Math.floor((healthy / runs) * 10_000) / 100).toFixed(2)} %`;
}
