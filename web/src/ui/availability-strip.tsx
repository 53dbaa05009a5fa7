import { useState } from "react";
import { availability, cellsOf, type Bucket, type Cell } from "./availability";
import { clockTime, formatDuration } from "./time";

const fill: Record<Cell["state"], string> = {
  healthy: "var(--c-healthy)",
  degraded: "var(--c-degraded)",
  unhealthy: "var(--c-unhealthy)",
  none: "var(--c-line)",
};

function describe(cell: Cell, now: Date): string {
  const range = `${clockTime(new Date(cell.start), now)} to ${clockTime(new Date(cell.end), now)}`;
  if (cell.runs === 0) return `${range}: no runs`;
  const runs = cell.runs === 1 ? "1 run" : `${cell.runs} runs`;
  return `${range}: ${runs}, ${cell.failed === 0 ? "all healthy" : `${cell.failed} failed`}`;
}

/** One cell per stretch of time; the line below tells what is under the pointer. */
export function AvailabilityStrip({ buckets, from, to, count = 48, label }: { buckets: readonly Bucket[]; from: Date; to: Date; count?: number; label: string }) {
  const [hovered, setHovered] = useState<number>();
  const cells = cellsOf(buckets, from.getTime(), to.getTime(), count);
  const share = availability(buckets);
  const failing = cells.filter((cell) => cell.failed > 0).length;
  const hoveredCell = hovered === undefined ? undefined : cells[hovered];
  return (
    <figure aria-label={label}>
      <svg
        role="img"
        aria-label={`${label}: ${share ? `${share.share} of ${share.runs} ${share.runs === 1 ? "run" : "runs"} healthy` : "no runs"}${failing > 0 ? `, failures in ${failing} of ${count} intervals` : ""}`}
        viewBox={`0 0 ${count * 10} 26`}
        preserveAspectRatio="none"
        className="block h-[26px] w-full"
        onPointerLeave={() => setHovered(undefined)}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setHovered(Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * count))));
        }}
      >
        {cells.map((cell, i) => (
          // Failing cells are also lower, so that colour is not the only sign.
          <rect
            key={i}
            x={i * 10 + 1}
            width={8}
            rx={1.5}
            y={cell.state === "none" ? 10 : cell.state === "healthy" ? 0 : cell.state === "degraded" ? 7 : 12}
            height={cell.state === "none" ? 6 : cell.state === "healthy" ? 26 : cell.state === "degraded" ? 19 : 14}
            fill={fill[cell.state]}
            opacity={hovered === undefined || hovered === i ? 1 : 0.55}
          />
        ))}
      </svg>
      <figcaption className="mt-1 flex justify-between gap-3 text-xs text-ink-3">
        <span>{hoveredCell ? describe(hoveredCell, to) : `${formatDuration(Math.round((to.getTime() - from.getTime()) / 60_000) * 60_000)} ago`}</span>
        <span>{hoveredCell ? "" : "now"}</span>
      </figcaption>
    </figure>
  );
}
