import { clsx } from "clsx";
import { ChevronLeft, ChevronRight, Hourglass } from "lucide-react";
import { Link, useParams, useSearchParams } from "react-router";
import { ApiError } from "@/api/errors";
import { useCan } from "@/app/session";
import { useSystem } from "@/pages/catalog/api";
import { Button, LinkButton } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { EmptyState, ErrorState, SkeletonBlock, SkeletonRows } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { Page } from "@/ui/page";
import { exactTime } from "@/ui/time";
import { useHistory, useOverview, useRun, type Run } from "./api";
import { RunTabs } from "./run-tabs";
import { RunList } from "./run-list";

const pageSize = 25;
const retentionDays = 7;
const statuses: Run["status"][] = ["unhealthy", "degraded", "healthy"];

export function Component() {
  const { systemId = "", configurationId = "", runId } = useParams();
  const can = useCan();
  const details = can("healthcheck.healthcheck.details.read");
  const [params, setParams] = useSearchParams();
  const status = statuses.find((each) => each === params.get("status"));
  const offset = Math.max(0, Number(params.get("offset")) || 0);
  const system = useSystem(systemId);
  const overview = useOverview(systemId);
  const history = useHistory({ systemId, configurationId, limit: pageSize, offset, ...(status ? { status } : {}) }, details);
  const name = overview.data?.checks?.find((check) => check.configurationId === configurationId)?.configurationName ?? "Run history";
  const total = history.data?.total ?? 0;
  const base = `/healthcheck/history/${systemId}/${configurationId}`;
  const move = (to: number) =>
    setParams((current) => {
      const next = new URLSearchParams(current);
      if (to > 0) next.set("offset", String(to));
      else next.delete("offset");
      return next;
    });
  return (
    <Page
      title={name}
      heading={
        <>
          <Link to={`/catalog/system/${systemId}`} className="mb-1.5 inline-flex items-center gap-1 text-sm text-ink-3 hover:text-ink">
            <ChevronLeft aria-hidden size={14} />
            {system.data?.name ?? "System"}
          </Link>
          <h1 className="text-xl font-semibold tracking-[-0.01em]">{name}</h1>
        </>
      }
      description="Run history"
      actions={
        <Select aria-label="State of the runs" className="w-auto!" value={status ?? ""} onChange={(event) => setParams(event.target.value === "" ? {} : { status: event.target.value })}>
          <option value="">All runs</option>
          {statuses.map((each) => (
            <option key={each} value={each}>
              {each.charAt(0).toUpperCase() + each.slice(1)}
            </option>
          ))}
        </Select>
      }
    >
      {history.isPending ? <SkeletonRows rows={8} /> : null}
      {history.isError && !history.data ? <ErrorState title="The runs could not be loaded" error={history.error} onRetry={() => void history.refetch()} /> : null}
      {history.data && history.data.runs.length === 0 && !runId ? (
        <div className="card">
          <EmptyState title={status ? "No such runs" : "No runs yet"}>{status ? "No stored run has this state." : "The first one appears here within one interval."}</EmptyState>
        </div>
      ) : null}
      {history.data && (history.data.runs.length > 0 || runId) ? (
        <div className="grid items-start gap-4 md:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
          <div className={clsx("card overflow-hidden", runId && "hidden md:block")}>
            {history.data.runs.length > 0 ? <RunList runs={history.data.runs} selected={runId} search={params.toString()} /> : <p className="px-4 py-6 text-center text-ink-3">{status ? "No stored run has this state." : "No runs are kept."}</p>}
            <div className="flex items-center justify-between gap-2 border-t border-line px-3 py-2 text-sm text-ink-3">
              <span>
                {total === 0 ? "0 runs" : `${offset + 1} to ${Math.min(offset + pageSize, total)} of ${total}`}
              </span>
              <span className="flex gap-1">
                <Button size="sm" aria-label="Newer runs" disabled={offset === 0} onClick={() => move(Math.max(0, offset - pageSize))} icon={<ChevronLeft aria-hidden size={14} />} />
                <Button size="sm" aria-label="Older runs" disabled={offset + pageSize >= total} onClick={() => move(offset + pageSize)} icon={<ChevronRight aria-hidden size={14} />} />
              </span>
            </div>
            {offset + pageSize >= total ? <p className="border-t border-line px-4 py-2.5 text-sm text-ink-3">Runs are kept for {retentionDays} days.</p> : null}
          </div>
          <div className={clsx("md:sticky md:top-[72px]", !runId && "hidden md:block")}>
            {runId ? (
              <>
                <Link to={{ pathname: base, search: params.toString() }} className="mb-2 inline-flex items-center gap-1 text-sm text-ink-3 hover:text-ink md:hidden">
                  <ChevronLeft aria-hidden size={14} />
                  All runs
                </Link>
                {details ? <Detail runId={runId} listPath={`${base}?${params.toString()}`} /> : <p className="card px-4 py-6 text-center text-ink-2">You may see the state of runs, but not their details.</p>}
              </>
            ) : (
              <p className="card px-4 py-10 text-center text-ink-3">Choose a run to see what it found.</p>
            )}
          </div>
        </div>
      ) : null}
    </Page>
  );
}

function Detail({ runId, listPath }: { runId: string; listPath: string }) {
  const run = useRun(runId);
  if (run.isPending) return <SkeletonBlock className="h-56" />;
  if (run.error instanceof ApiError && (run.error.status === 404 || run.error.status === 400)) {
    return (
      <div className="card">
        <EmptyState icon={<Hourglass aria-hidden size={28} />} title="This run is gone" action={<LinkButton to={listPath}>Show the runs that are kept</LinkButton>}>
          Runs are kept for {retentionDays} days, or until their check or system is deleted. The link may also be incomplete.
        </EmptyState>
      </div>
    );
  }
  if (run.isError) return <ErrorState title="This run could not be loaded" error={run.error} onRetry={() => void run.refetch()} />;
  return (
    <section aria-label="Run" className="card p-4">
      <h2 className="mb-3 font-semibold">
        {exactTime(new Date(run.data.timestamp))}
        <span className="ml-2 text-sm font-normal text-ink-3">
          <RelativeTime at={run.data.timestamp} />
        </span>
      </h2>
      <RunTabs run={run.data} />
    </section>
  );
}
