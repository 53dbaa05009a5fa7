import { CalendarClock } from "lucide-react";
import { Link } from "react-router";
import { useFirst } from "@/pages/maintenance/api";
import { foldSeries } from "@/pages/maintenance/folding";
import { useNow } from "@/ui/clock";
import { ErrorState } from "@/ui/feedback";
import { isolate } from "@/ui/bidi";
import { relativeTime } from "@/ui/time";
import { localZone, offsetLabel, windowText } from "@/ui/zone";

const shown = 3;
/** How many windows are looked through for the first ones of different series. */
const looked = 30;

/** The planned maintenances that come next; absent when there are none. */
export default function Upcoming() {
  const next = useFirst({ status: "scheduled", sortOrder: "asc" }, looked);
  const now = useNow();
  if (next.isError && !next.data) {
    return (
      <div className="mb-7">
        <ErrorState title="Upcoming maintenances could not be loaded" error={next.error} onRetry={() => void next.refetch()} />
      </div>
    );
  }
  const rows = foldSeries(next.data?.maintenances ?? []);
  if (rows.length === 0) return null;
  return (
    <section aria-label="Upcoming maintenances" className="mb-7">
      <ul className="card divide-y divide-line">
        {rows.slice(0, shown).map(({ row: maintenance, more }, i) => {
          const systems = maintenance.systemIds?.length ?? 0;
          const start = Date.parse(maintenance.startAt);
          return (
            <li key={maintenance.id} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-4 py-2.5">
              <CalendarClock aria-hidden size={16} className="shrink-0 self-center text-maintenance" />
              <span className="min-w-0 flex-1 basis-[240px] wrap-anywhere">
                {i === 0 ? <span className="text-ink-3">Next: </span> : null}
                <Link to={`/maintenance/${maintenance.id}`} className="font-medium text-ink hover:underline">
                  <bdi>{maintenance.title}</bdi>
                </Link>
                <span className="text-ink-2">
                  , {windowText(start, Date.parse(maintenance.endAt), localZone())} <span className="text-ink-3">{offsetLabel(start, localZone())}</span>
                  {" · "}
                  {more > 0 ? "repeats · " : ""}
                  <span title={(maintenance.systems ?? []).slice(0, 20).map((each) => isolate(each.name)).join(", ")}>{systems === 1 ? "1 system" : `${systems} systems`}</span>
                </span>
              </span>
              <span className="text-sm text-ink-3">{start > now.getTime() ? relativeTime(new Date(start), now) : "starting"}</span>
            </li>
          );
        })}
        {rows.length > shown ? (
          <li>
            <Link to="/maintenance/config" className="block px-4 py-2 text-sm text-ink-3 hover:text-ink">
              All planned maintenances
            </Link>
          </li>
        ) : null}
      </ul>
    </section>
  );
}
