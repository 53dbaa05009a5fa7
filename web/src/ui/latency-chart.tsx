import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatLatency } from "./time";

export type LatencyPoint = { at: number; p50: number | null; p95: number | null; failed: number };

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** p50 and p95 over time. Buckets with failures carry a mark at the foot of the chart. */
export default function LatencyChart({ points, from, to, label }: { points: LatencyPoint[]; from: number; to: number; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      const ink = token("--c-ink-3");
      const line = token("--c-line");
      const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
      plot = new uPlot(
        {
          width: element.clientWidth,
          height: 200,
          padding: [10, 8, 0, 0],
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
          scales: {
            x: { min: from / 1000, max: to / 1000 },
            y: { range: (_, __, max) => [0, Math.max(1, (max ?? 1) * 1.15)] },
          },
          axes: [
            { ...axis, space: 70, values: [[3600 * 24, "{D} {MMM}", null, null, null, null, null, null, 1], [60, "{HH}:{mm}", null, null, null, null, null, null, 1], [1, "{HH}:{mm}:{ss}", null, null, null, null, null, null, 1]] },
            { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => formatLatency(tick)) },
          ],
          series: [
            {},
            { label: "p95", stroke: token("--c-degraded"), width: 1.5, spanGaps: false, dash: [4, 3], points: { show: points.length < 40, size: 4 } },
            { label: "p50", stroke: token("--c-accent-ink"), width: 2, spanGaps: false, points: { show: points.length < 40, size: 4 } },
          ],
          hooks: {
            draw: [
              (u) => {
                u.ctx.save();
                u.ctx.fillStyle = token("--c-unhealthy");
                const size = 3 * devicePixelRatio;
                for (const point of points) {
                  if (point.failed === 0) continue;
                  const x = u.valToPos(point.at / 1000, "x", true);
                  u.ctx.fillRect(x - size / 2, u.bbox.top + u.bbox.height - size * 2.5, size, size * 2.5);
                }
                u.ctx.restore();
              },
            ],
            setCursor: [
              (u) => {
                if (!legend.current) return;
                const point = u.cursor.idx === null || u.cursor.idx === undefined ? undefined : points[u.cursor.idx];
                legend.current.textContent = point
                  ? `${new Date(point.at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}: p50 ${formatLatency(point.p50)}, p95 ${formatLatency(point.p95)}${point.failed > 0 ? `, ${point.failed} failed` : ""}`
                  : "";
              },
            ],
          },
        },
        [points.map((point) => point.at / 1000), points.map((point) => point.p95), points.map((point) => point.p50)],
        element,
      );
    };
    draw();
    const resize = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: 200 }));
    resize.observe(element);
    // Canvas colours do not follow the theme by themselves.
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      resize.disconnect();
      theme.disconnect();
      plot?.destroy();
    };
  }, [points, from, to]);

  const last = points.findLast((point) => point.p50 !== null);
  return (
    <div>
      <div className="mb-1 flex min-h-5 flex-wrap items-center justify-between gap-x-4 text-xs text-ink-3">
        <p className="flex gap-4">
          <span className="inline-flex items-center gap-1.5">
            <svg aria-hidden width="16" height="8">
              <path d="M0 4h16" stroke="var(--c-accent-ink)" strokeWidth="2" />
            </svg>
            p50
          </span>
          <span className="inline-flex items-center gap-1.5">
            <svg aria-hidden width="16" height="8">
              <path d="M0 4h16" stroke="var(--c-degraded)" strokeWidth="2" strokeDasharray="4 3" />
            </svg>
            p95
          </span>
          <span className="inline-flex items-center gap-1.5">
            <svg aria-hidden width="4" height="9">
              <path d="M2 0v9" stroke="var(--c-unhealthy)" strokeWidth="3" />
            </svg>
            failed runs
          </span>
        </p>
        <p ref={legend} aria-hidden className="tabular-nums" />
      </div>
      <div ref={box} role="img" aria-label={`${label}${last ? `. Latest: p50 ${formatLatency(last.p50)}, p95 ${formatLatency(last.p95)}` : ""}`} />
    </div>
  );
}
