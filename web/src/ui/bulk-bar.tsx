import { X } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { Button, IconButton } from "./button";
import { bulkSummary, type BulkOutcome } from "./bulk";

/** Appears below a list while rows of it are chosen. */
export function BulkBar({ count, onClear, children }: { count: number; onClear: () => void; children: ReactNode }) {
  if (count === 0) return null;
  return (
    <div role="region" aria-label="Actions for the chosen" className="sticky bottom-3 z-10 mt-3 flex flex-wrap items-center gap-2 rounded-[8px] border border-line bg-surface px-4 py-2 shadow-[var(--shadow-overlay)]">
      <span role="status" className="mr-auto font-medium">
        {count} chosen
      </span>
      <Button size="sm" look="quiet" onClick={onClear}>
        Clear
      </Button>
      {children}
    </div>
  );
}

export type BulkReport = { results: BulkOutcome[]; wanted: string; names: ReadonlyMap<string, string> };

/** Says what a bulk action did, and for each record that was left out, why. */
export function BulkNote({ report, onClose }: { report: BulkReport | undefined; onClose: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  // The buttons that led here are gone together with the selection.
  useEffect(() => {
    if (report) box.current?.focus();
  }, [report]);
  if (!report) return null;
  const others = report.results.filter((result) => result.status !== report.wanted);
  return (
    <div ref={box} role="status" tabIndex={-1} className={`mb-4 flex items-start gap-3 rounded-[8px] px-4 py-2.5 ${others.length > 0 ? "bg-degraded-soft text-degraded-ink" : "bg-healthy-soft text-healthy-ink"}`}>
      <div className="min-w-0 flex-1">
        <p className="font-medium">{bulkSummary(report.results, report.wanted)}</p>
        {others.length > 0 ? (
          <ul className="mt-1 list-disc pl-5 text-sm">
            {others.map((result) => (
              <li key={result.id} className="break-words">
                <bdi>{report.names.get(result.id) ?? result.id}</bdi>: {result.message ?? bulkSummary([result], report.wanted).replace(/^1 /, "")}
              </li>
            ))}
          </ul>
        ) : null}
      </div>
      <IconButton label="Dismiss" className="-my-1 -mr-2 size-8! text-current!" onClick={onClose}>
        <X aria-hidden size={15} />
      </IconButton>
    </div>
  );
}
