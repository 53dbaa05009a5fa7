import { Check, X } from "lucide-react";
import { StatePill } from "@/ui/state";
import { formatLatency } from "@/ui/time";
import { readResult } from "./result";

/** What one run found: state, latency, message, each collector with its assertions. */
export function RunDetail({ status, latencyMs, message, result }: { status: string; latencyMs?: number | null | undefined; message?: string | null | undefined; result: unknown }) {
  const detail = readResult(result);
  return (
    <div className="grid gap-4">
      <div>
        <p className="flex flex-wrap items-center gap-3">
          <StatePill state={status} />
          <span className="text-ink-2">{latencyMs === undefined || latencyMs === null ? "no latency measured" : `latency ${formatLatency(latencyMs)}`}</span>
        </p>
        {message ? <p className="mt-2 break-words">{message}</p> : null}
        {detail.error && detail.error !== message ? <p className="mt-2 break-words text-unhealthy-ink">{detail.error}</p> : null}
      </div>
      {detail.collectors.map((collector) => (
        <section key={collector.id} aria-label={`Collector ${collector.name}`}>
          <h3 className="mb-1 text-sm font-medium text-ink-3" title={collector.id}>
            {collector.name}
          </h3>
          {collector.error ? <p className="mb-2 break-words text-unhealthy-ink">{collector.error}</p> : null}
          {collector.outcomes.length > 0 ? (
            <ul className="mb-2 grid gap-1">
              {collector.outcomes.map((outcome, i) => (
                <li key={i} className="flex items-start gap-2">
                  {outcome.passed ? <Check aria-label="Passed" size={16} className="mt-0.5 shrink-0 text-healthy" /> : <X aria-label="Failed" size={16} className="mt-0.5 shrink-0 text-unhealthy" />}
                  <span className="min-w-0 break-words">
                    {outcome.text}
                    {!outcome.passed && outcome.actual !== undefined ? <span className="text-unhealthy-ink">, got {outcome.actual}</span> : null}
                    {!outcome.passed && outcome.actual === undefined && outcome.message ? <span className="text-unhealthy-ink">: {outcome.message}</span> : null}
                  </span>
                </li>
              ))}
            </ul>
          ) : null}
          <Values rows={collector.fields} />
        </section>
      ))}
      {detail.timings.length > 0 ? (
        <section aria-label="Timings">
          <h3 className="mb-1 text-sm font-medium text-ink-3">Timings</h3>
          <Values rows={detail.timings.map(([name, ms]) => [name, formatLatency(ms)])} />
        </section>
      ) : null}
      {result ? (
        <details>
          <summary className="text-sm text-ink-3">Raw data</summary>
          {/* Long lines scroll, so the keyboard needs a way in. */}
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre tabIndex={0} role="region" aria-label="Raw data" className="mt-2 max-h-72 overflow-auto rounded-[8px] bg-raised p-3 font-mono text-xs">
            {JSON.stringify(result, null, 2)}
          </pre>
        </details>
      ) : null}
    </div>
  );
}

function Values({ rows }: { rows: [string, string][] }) {
  if (rows.length === 0) return null;
  return (
    <dl className="grid grid-cols-[minmax(110px,auto)_1fr] gap-x-4 gap-y-0.5">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-words">{value.length > 400 ? `${value.slice(0, 400)}…` : value}</dd>
        </div>
      ))}
    </dl>
  );
}
