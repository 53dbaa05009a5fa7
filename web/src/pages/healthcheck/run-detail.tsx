import { Check, X } from "lucide-react";
import { CopyButton } from "@/ui/feedback";
import { StatePill } from "@/ui/state";
import { formatLatency } from "@/ui/time";
import { readResult, type Outcome, type RunResult } from "./result";

type RunLike = { status: string; latencyMs?: number | null | undefined; message?: string | null | undefined; result: unknown };

/** What one run found: state, latency, message, each collector with its assertions. */
export function RunDetail({ status, latencyMs, message, result }: RunLike) {
  const detail = readResult(result);
  return (
    <div className="grid gap-4">
      <RunVerdict status={status} latencyMs={latencyMs} message={message} error={detail.error} />
      <RunFindings detail={detail} assertions="all" />
      {result ? (
        <details>
          <summary className="text-sm text-ink-3">Raw data</summary>
          <RawData value={result} />
        </details>
      ) : null}
    </div>
  );
}

/** State, latency and the reason in words. */
export function RunVerdict({ status, latencyMs, message, error }: Omit<RunLike, "result"> & { error: string | undefined }) {
  return (
    <div>
      <p className="flex flex-wrap items-center gap-3">
        <StatePill state={status} />
        <span className="text-ink-2">{latencyMs === undefined || latencyMs === null ? "no latency measured" : `latency ${formatLatency(latencyMs)}`}</span>
      </p>
      {message ? <p className="mt-2 break-words">{message}</p> : null}
      {error && error !== message ? <p className="mt-2 break-words text-unhealthy-ink">{error}</p> : null}
    </div>
  );
}

/** What each collector measured, with all assertions or only those that failed. */
export function RunFindings({ detail, assertions }: { detail: RunResult; assertions: "all" | "failed" }) {
  return (
    <>
      {detail.collectors.map((collector) => (
        <section key={collector.id} aria-label={`Collector ${collector.name}`}>
          <h3 className="mb-1 text-sm font-medium text-ink-3" title={collector.id}>
            {collector.name}
          </h3>
          {collector.error ? <p className="mb-2 break-words text-unhealthy-ink">{collector.error}</p> : null}
          <Outcomes outcomes={assertions === "all" ? collector.outcomes : collector.outcomes.filter((outcome) => !outcome.passed)} />
          <Values rows={collector.fields} />
        </section>
      ))}
      {detail.timings.length > 0 ? (
        <section aria-label="Timings">
          <h3 className="mb-1 text-sm font-medium text-ink-3">Timings</h3>
          <Values rows={detail.timings.map(([name, ms]) => [name, formatLatency(ms)])} />
        </section>
      ) : null}
    </>
  );
}

export function Outcomes({ outcomes }: { outcomes: Outcome[] }) {
  if (outcomes.length === 0) return null;
  return (
    <ul className="mb-2 grid gap-1">
      {outcomes.map((outcome, i) => (
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
  );
}

export function RawData({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="mt-2">
      {/* Long lines scroll, so the keyboard needs a way in. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="region" aria-label="Raw data" className="max-h-96 overflow-auto rounded-[8px] bg-raised p-3 font-mono text-xs">
        {text}
      </pre>
      <div className="mt-1 flex justify-end">
        <CopyButton text={text} label="Copy raw data" size="sm" />
      </div>
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
