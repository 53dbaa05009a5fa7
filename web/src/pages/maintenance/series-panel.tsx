import { Pencil, Repeat, SkipForward, Square, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { isolate } from "@/ui/bidi";
import { Button, IconButton, LinkButton } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { ErrorState, SkeletonRows, toast } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { RelativeTime } from "@/ui/clock";
import { localZone, windowText } from "@/ui/zone";
import { readMaintenance, useEndSeries, useFirst, useSkipOccurrence, type Detail, type Maintenance, type Series } from "./api";

/** The series of an occurrence: how it repeats, what comes next, and what can be done with the whole. */
export function SeriesPanel({ maintenance, series, manage }: { maintenance: Detail; series: Series; manage: boolean }) {
  const navigate = useNavigate();
  const next = useFirst({ seriesId: series.id, open: true, sortOrder: "asc" }, 10);
  const skip = useSkipOccurrence();
  const end = useEndSeries();
  const [skipping, setSkipping] = useState<Maintenance>();
  const [ending, setEnding] = useState(false);
  const occurrences = next.data?.maintenances ?? [];
  const local = localZone();
  const ended = series.endedAt !== null;
  // The change of a series starts with an occurrence that it still reaches.
  const firstReached = occurrences.find((each) => each.status === "scheduled" && !each.detached);
  return (
    <Section
      title="Series"
      actions={
        manage && !ended ? (
          <>
            {firstReached ? (
              <LinkButton size="sm" to={`/maintenance/${firstReached.id}/edit?scope=series`} icon={<Pencil aria-hidden size={13} />}>
                Edit all to come
              </LinkButton>
            ) : null}
            <Button size="sm" icon={<Square aria-hidden size={13} />} onClick={() => setEnding(true)}>
              End series
            </Button>
          </>
        ) : null
      }
    >
      <div className="card divide-y divide-line">
        <p className="flex items-start gap-2 px-4 py-2.5">
          <Repeat aria-hidden size={16} className="mt-0.5 shrink-0 text-maintenance" />
          <span className="min-w-0 wrap-anywhere">
            <span className="block first-letter:uppercase">{series.ruleText}</span>
            <span className="block text-sm text-ink-3">by the clocks of {series.timeZone}</span>
          </span>
        </p>
        {series.problem ? (
          <p role="alert" className="flex items-start gap-2 bg-unhealthy-soft px-4 py-2.5 text-unhealthy-ink">
            <TriangleAlert aria-hidden size={16} className="mt-0.5 shrink-0" />
            <span className="min-w-0 wrap-anywhere">It makes no more occurrences: {series.problem}</span>
          </p>
        ) : null}
        {series.endedAt !== null ? (
          <p className="px-4 py-2.5 text-ink-2">
            Ended <RelativeTime at={series.endedAt} />
          </p>
        ) : null}
        {maintenance.detached ? <p className="px-4 py-2.5 text-sm text-ink-2">This occurrence was changed by hand: changes of the series pass it over.</p> : null}
        {next.isPending ? <SkeletonRows rows={2} className="border-0!" /> : null}
        {next.isError && !next.data ? <ErrorState title="The next occurrences could not be loaded" error={next.error} onRetry={() => void next.refetch()} /> : null}
        {occurrences.length > 0 ? (
          <ol aria-label="Next occurrences" className="py-1">
            {occurrences.map((each) => {
              const here = each.id === maintenance.id;
              const when = windowText(Date.parse(each.startAt), Date.parse(each.endAt), local);
              return (
                <li key={each.id} className="flex min-h-9 items-center gap-2 pr-2 pl-4">
                  <span className="min-w-0 flex-1">
                    {here ? (
                      <span aria-current="page" className="font-semibold">
                        {when}
                      </span>
                    ) : (
                      <Link to={`/maintenance/${each.id}`} className="text-ink hover:underline">
                        {when}
                      </Link>
                    )}
                    {each.detached ? <span className="ml-1.5 text-sm text-ink-3">changed by hand</span> : null}
                  </span>
                  {manage && each.status === "scheduled" ? (
                    <IconButton label={`Skip ${when}`} className="size-8!" onClick={() => setSkipping(each)}>
                      <SkipForward aria-hidden size={15} />
                    </IconButton>
                  ) : null}
                </li>
              );
            })}
          </ol>
        ) : null}
        {next.data && occurrences.length === 0 ? <p className="px-4 py-2.5 text-ink-2">Nothing more to come.</p> : null}
        <Link to={`/maintenance/config?series=${series.id}`} className="block px-4 py-2 text-sm text-ink-3 hover:text-ink">
          All occurrences
        </Link>
      </div>
      <ConfirmDialog
        open={skipping !== undefined}
        onOpenChange={(open) => (open ? undefined : setSkipping(undefined))}
        title={skipping ? `Skip “${isolate(skipping.title)}” of ${windowText(Date.parse(skipping.startAt), Date.parse(skipping.endAt), local)}?` : ""}
        action="Skip this occurrence"
        look="primary"
        onConfirm={async () => {
          if (!skipping) return;
          await skip.mutateAsync(skipping.id);
          toast("Occurrence skipped");
        }}
      >
        It is cancelled and stays on record. The others stay as they are.
      </ConfirmDialog>
      <ConfirmDialog
        open={ending}
        onOpenChange={setEnding}
        title={`End the series “${isolate(series.title)}”?`}
        action="End series"
        onConfirm={async () => {
          await end.mutateAsync({ series, shown: maintenance.id });
          toast("Series ended");
          await readMaintenance(maintenance.id).catch(() => navigate(`/maintenance/config`, { replace: true }));
        }}
      >
        Its occurrences that have not begun are taken back, except for those that somebody changed by hand. What has begun and what is over stays. This cannot be undone.
      </ConfirmDialog>
    </Section>
  );
}
