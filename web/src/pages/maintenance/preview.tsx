import { TriangleAlert } from "lucide-react";
import { ApiError } from "@/api/errors";
import { SkeletonRows } from "@/ui/feedback";
import { offsetLabel, utcText, windowText } from "@/ui/zone";
import type { usePreview } from "./api";

/** The next ten occurrences as the server works them out, with what changes of the clocks do to them. */
export function OccurrencePreview({ preview, zone, local, ready }: { preview: ReturnType<typeof usePreview>; zone: string; local: string; ready: boolean }) {
  const list = preview.data?.occurrences ?? [];
  const stale = preview.isPlaceholderData || !ready;
  return (
    <section aria-label="The next occurrences" aria-busy={stale && ready ? true : undefined}>
      <h3 className="font-semibold">The next occurrences</h3>
      {!ready ? <p className="text-sm text-ink-3">Shown as soon as start, end and rule are complete.</p> : null}
      {ready && preview.isPending ? <SkeletonRows rows={3} className="mt-2" /> : null}
      {ready && preview.isError ? <p className="text-sm text-unhealthy-ink">{firstIssue(preview.error)}</p> : null}
      {ready && !preview.isError && preview.data ? (
        <>
          <p className="text-sm text-ink-3 first-letter:uppercase">
            {preview.data.ruleText}, in {zone}. {preview.data.complete ? (list.length === 1 ? "This is the only one." : "These are all.") : "It goes on after these."}
          </p>
          <ol className={`mt-2 divide-y divide-line rounded-[8px] border border-line ${stale ? "opacity-60" : ""}`}>
            {list.map((each) => {
              const [start, end] = [Date.parse(each.startAt), Date.parse(each.endAt)];
              return (
                <li key={each.startAt} className="px-3 py-1.5">
                  <span className="mr-2">
                    {windowText(start, end, zone)} <span className="text-ink-3">{offsetLabel(start, zone)}</span>
                  </span>
                  <span className={`text-sm text-ink-3 ${local === zone ? "whitespace-nowrap" : "block"}`}>{local === zone ? utcText(start, zone) : `${windowText(start, end, local)} ${local}`}</span>
                  {each.note ? (
                    <p className="mt-0.5 flex items-start gap-1.5 text-sm text-degraded-ink">
                      <TriangleAlert aria-hidden size={14} className="mt-0.5 shrink-0" />
                      {each.note}
                    </p>
                  ) : null}
                </li>
              );
            })}
          </ol>
        </>
      ) : null}
    </section>
  );
}

function firstIssue(error: unknown): string {
  if (error instanceof ApiError && error.issues.length > 0) return error.issues.map((issue) => `${issue.path.replace(/^recurrence\./, "")}: ${issue.message}`).join(" ");
  return error instanceof Error ? error.message : String(error);
}
