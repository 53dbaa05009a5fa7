import { CalendarClock, Wrench } from "lucide-react";
import { Link } from "react-router";
import { useCan } from "@/app/session";
import type { SystemBlockProps } from "@/app/slots";
import { LinkButton } from "@/ui/button";
import { ErrorState } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { useSeriesWords, useSystemMaintenances } from "./api";
import { SeriesMark, StatusBadge } from "./badges";
import { foldSeries } from "./folding";
import { WindowCell } from "./window";

/** What is in progress and what is planned on a system; absent while there is nothing. */
export default function SystemMaintenances({ systemId }: SystemBlockProps) {
  const can = useCan();
  const maintenances = useSystemMaintenances(systemId);
  // Soonest first puts what is in progress on top; of a series the next one is enough.
  const rows = foldSeries(maintenances.data?.maintenances ?? []);
  const words = useSeriesWords(rows.some(({ row }) => row.seriesId !== null));
  if (maintenances.isError && !maintenances.data) {
    return (
      <div className="mb-7">
        <ErrorState title="The maintenances of this system could not be loaded" error={maintenances.error} onRetry={() => void maintenances.refetch()} />
      </div>
    );
  }
  if (rows.length === 0) return null;
  return (
    <Section
      title="Maintenances"
      actions={
        <>
          <LinkButton size="sm" to={`/maintenance/system/${systemId}/maintenances`}>
            All maintenances
          </LinkButton>
          {can("maintenance.maintenance.manage") ? (
            <LinkButton size="sm" to={`/maintenance/new?systemId=${systemId}`}>
              Plan another
            </LinkButton>
          ) : null}
        </>
      }
    >
      <Reveal items={rows} step={5} noun="maintenances" className="mt-2">
        {(shown) => (
          <ul className="card divide-y divide-line border-l-3! border-l-maintenance!">
            {shown.map(({ row }) => {
              const Icon = row.status === "in_progress" ? Wrench : CalendarClock;
              return (
                <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 py-3">
                  <Icon aria-hidden size={17} className="shrink-0 text-maintenance" />
                  <div className="min-w-0 flex-1 basis-[220px]">
                    <Link to={`/maintenance/${row.id}`} className="line-clamp-3 font-semibold wrap-anywhere text-ink hover:underline">
                      <bdi>{row.title}</bdi>
                    </Link>
                    {row.seriesId ? <SeriesMark rule={words.data?.get(row.seriesId) ?? "part of a series"} /> : null}
                  </div>
                  <StatusBadge status={row.status} />
                  <WindowCell maintenance={row} />
                </li>
              );
            })}
          </ul>
        )}
      </Reveal>
    </Section>
  );
}
