import { clsx } from "clsx";
import { Activity, Gauge, History, Pause, Pencil, Play, Plus, RotateCw, SlidersHorizontal, Unlink } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { useCan } from "@/app/session";
import type { SystemBlockProps } from "@/app/slots";
import { AvailabilityStrip } from "@/ui/availability-strip";
import { availabilityText, runsSince } from "@/ui/availability";
import { Button, LinkButton } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock, toast, toastError } from "@/ui/feedback";
import { MenuItem, MenuSeparator, RowMenu } from "@/ui/menu";
import { Section } from "@/ui/page";
import { StatePill } from "@/ui/state";
import { clockTime, formatDuration } from "@/ui/time";
import { ranges, useAggregated, useAssociate, useConfigurations, useDisassociate, useOverview, usePauseCheck, useRunNow, type CheckOverview, type Range } from "./api";
import { describe, formOf } from "./thresholds";
import { ThresholdDialog } from "./threshold-dialog";

const LatencyChart = lazy(() => import("@/ui/latency-chart"));

/** The checks of a system: state, availability of the last day, latency. */
export default function SystemChecks({ systemId, systemName }: SystemBlockProps) {
  const can = useCan();
  const manage = can("healthcheck.healthcheck.manage");
  const overview = useOverview(systemId);
  const [assigning, setAssigning] = useState(false);
  const checks = overview.data?.checks ?? [];
  return (
    <Section
      title="Checks"
      actions={
        manage && checks.length > 0 ? (
          <>
            <Button size="sm" onClick={() => setAssigning(true)}>
              Assign a check
            </Button>
            <LinkButton size="sm" to={`/healthcheck/config/new?systemId=${systemId}`} icon={<Plus aria-hidden size={14} />}>
              New check
            </LinkButton>
          </>
        ) : null
      }
    >
      {overview.isPending ? <SkeletonBlock className="h-56" /> : null}
      {overview.isError && !overview.data ? <ErrorState title="The checks could not be loaded" error={overview.error} onRetry={() => void overview.refetch()} /> : null}
      {overview.data && checks.length === 0 ? (
        <div className="card">
          <EmptyState
            icon={<Activity aria-hidden size={28} />}
            title="Nothing watches this system"
            action={
              manage ? (
                <>
                  <LinkButton look="primary" to={`/healthcheck/config/new?systemId=${systemId}`}>
                    Create a health check
                  </LinkButton>
                  <Button onClick={() => setAssigning(true)}>Assign an existing one</Button>
                </>
              ) : null
            }
          >
            Its state stays unknown until a health check runs for it.
          </EmptyState>
        </div>
      ) : null}
      <div className="grid gap-3">
        {checks.map((check) => (
          <Check key={check.configurationId} systemId={systemId} systemName={systemName} check={check} manage={manage} />
        ))}
      </div>
      <Dialog open={assigning} onOpenChange={setAssigning} title={`Assign a check to ${systemName}`}>
        <Assign systemId={systemId} assigned={checks.map((check) => check.configurationId)} close={() => setAssigning(false)} />
      </Dialog>
    </Section>
  );
}

function Check({ systemId, systemName, check, manage }: { systemId: string; systemName: string; check: CheckOverview; manage: boolean }) {
  const navigate = useNavigate();
  const day = useAggregated(systemId, check.configurationId, "24h", 48);
  const runNow = useRunNow();
  const associate = useAssociate();
  const disassociate = useDisassociate();
  const pause = usePauseCheck();
  const [thresholds, setThresholds] = useState(false);
  const [removing, setRemoving] = useState(false);
  const ids = { systemId, configurationId: check.configurationId };
  const idle = check.paused || !check.enabled;
  // Within the newest 25 runs the first one is known exactly.
  const oldest = (check.recentRuns?.length ?? 0) < 25 ? check.recentRuns?.[0]?.timestamp : undefined;
  const inDay = day.data ? runsSince(day.data.buckets, day.data.from.getTime(), oldest) : undefined;
  // The day of a check that is minutes old would be one cell at the edge.
  const fresh = inDay !== undefined && day.data !== undefined && day.data.to.getTime() - inDay.at < ranges["1h"];
  const hour = useAggregated(systemId, check.configurationId, "1h", 120, fresh);
  const strip = fresh && hour.data ? hour.data : day.data;
  const since = fresh && hour.data ? (runsSince(hour.data.buckets, hour.data.from.getTime(), oldest) ?? inDay) : inDay;
  return (
    <article aria-label={check.configurationName} className="card px-4 pt-3 pb-4">
      <header className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <h3 className="min-w-0 font-semibold break-words">
              <Link to={`/healthcheck/history/${systemId}/${check.configurationId}`} className="text-ink hover:underline">
                {check.configurationName}
              </Link>
            </h3>
            <StatePill state={idle ? "paused" : check.status} {...(check.enabled ? {} : { word: "Off for this system" })} />
            {!idle && check.since ? (
              <span className="text-sm text-ink-2">
                since <RelativeTime at={check.since} />
              </span>
            ) : null}
          </div>
          <p className="mt-0.5 flex flex-wrap gap-x-3 text-sm text-ink-3">
            <span>every {formatDuration(check.intervalSeconds * 1000)}</span>
            <span>
              {check.lastRunAt ? (
                <>
                  last run <RelativeTime at={check.lastRunAt} />
                </>
              ) : (
                "no run yet"
              )}
            </span>
            {check.stale && !idle ? <span className="font-medium text-degraded-ink">late, a run is overdue</span> : null}
            <span title={describe(formOf(check.stateThresholds))}>{check.stateThresholds ? "own thresholds" : "standard thresholds"}</span>
          </p>
        </div>
        {manage ? (
          <div className="flex items-center gap-1">
            <Button
              size="sm"
              icon={<RotateCw aria-hidden size={14} />}
              busy={runNow.isPending}
              onClick={() => runNow.mutate(ids, { onSuccess: () => toast(`${check.configurationName} is running`), onError: toastError })}
            >
              Run now
            </Button>
            <RowMenu label={`More actions for check ${check.configurationName}`}>
              <MenuItem icon={<History aria-hidden size={15} />} onSelect={() => void navigate(`/healthcheck/history/${systemId}/${check.configurationId}`)}>
                Run history
              </MenuItem>
              <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => void navigate(`/healthcheck/config/${check.configurationId}`)}>
                Edit check
              </MenuItem>
              <MenuItem icon={<SlidersHorizontal aria-hidden size={15} />} onSelect={() => setThresholds(true)}>
                Thresholds
              </MenuItem>
              <MenuSeparator />
              <MenuItem
                icon={check.paused ? <Play aria-hidden size={15} /> : <Pause aria-hidden size={15} />}
                onSelect={() => pause.mutate({ id: check.configurationId, paused: !check.paused }, { onSuccess: () => toast(check.paused ? "The check runs again" : "The check is paused everywhere"), onError: toastError })}
              >
                {check.paused ? "Resume everywhere" : "Pause everywhere"}
              </MenuItem>
              <MenuItem
                icon={<Gauge aria-hidden size={15} />}
                onSelect={() =>
                  associate.mutate(
                    { systemId, body: { configurationId: check.configurationId, enabled: !check.enabled, ...(check.stateThresholds ? { stateThresholds: check.stateThresholds } : {}) } },
                    { onSuccess: () => toast(check.enabled ? `Off for ${systemName}` : `On for ${systemName}`), onError: toastError },
                  )
                }
              >
                {check.enabled ? "Turn off for this system" : "Turn on for this system"}
              </MenuItem>
              <MenuItem danger icon={<Unlink aria-hidden size={15} />} onSelect={() => setRemoving(true)}>
                Remove from this system
              </MenuItem>
            </RowMenu>
          </div>
        ) : null}
      </header>
      <div className="mt-3">
        <p className="mb-1 flex justify-between text-sm">
          <span className="text-ink-3">{since === undefined || !strip ? "Last 24 hours" : `Since ${since.exact ? "" : "about "}${clockTime(new Date(since.at), strip.to)}`}</span>
          {strip ? <span className="font-medium">{availabilityText(strip.buckets)}</span> : null}
        </p>
        {strip ? (
          <AvailabilityStrip label={`Availability of ${check.configurationName}, last ${fresh ? "hour" : "24 hours"}`} buckets={strip.buckets} from={strip.from} to={strip.to} />
        ) : day.isError ? (
          <ErrorState title="Availability could not be loaded" error={day.error} onRetry={() => void day.refetch()} />
        ) : (
          <SkeletonBlock className="h-[26px]" />
        )}
      </div>
      <Latency systemId={systemId} check={check} dayBuckets={day.data?.buckets} />
      <ThresholdDialog systemId={systemId} systemName={systemName} check={check} open={thresholds} onOpenChange={setThresholds} />
      <ConfirmDialog
        open={removing}
        onOpenChange={setRemoving}
        title={`Stop “${check.configurationName}” for ${systemName}?`}
        action="Remove from system"
        onConfirm={async () => {
          await disassociate.mutateAsync(ids);
          toast("Removed");
        }}
      >
        The check itself stays and can be assigned again. It no longer counts for the state of {systemName}.
      </ConfirmDialog>
    </article>
  );
}

function Latency({ systemId, check, dayBuckets }: { systemId: string; check: CheckOverview; dayBuckets: { bucketStart: string; runCount: number }[] | undefined }) {
  const [params, setParams] = useSearchParams();
  const chosen = params.get("range");
  // A check that is younger than two hours would be a dot at the edge of a day.
  const firstRun = dayBuckets?.find((bucket) => bucket.runCount > 0);
  const young = !firstRun || Date.now() - Date.parse(firstRun.bucketStart) < 2 * ranges["1h"];
  const range: Range = chosen && chosen in ranges ? (chosen as Range) : young ? "1h" : "24h";
  const history = useAggregated(systemId, check.configurationId, range, 120);
  const points = useMemo(
    () =>
      (history.data?.buckets ?? []).map((bucket) => ({
        at: (Date.parse(bucket.bucketStart) + Date.parse(bucket.bucketEnd)) / 2,
        p50: bucket.p50LatencyMs ?? bucket.avgLatencyMs ?? null,
        p95: bucket.p95LatencyMs ?? bucket.maxLatencyMs ?? null,
        failed: bucket.unhealthyCount + bucket.degradedCount,
      })),
    [history.data],
  );
  // A young check would huddle at the right edge: the axis starts with its first run.
  const axis = useMemo(() => {
    if (!history.data) return undefined;
    const from = history.data.from.getTime();
    const to = history.data.to.getTime();
    const first = history.data.buckets.find((bucket) => bucket.runCount > 0);
    return { from: first ? Math.max(from, Math.min(Date.parse(first.bucketStart), to - 10 * 60_000)) : from, to };
  }, [history.data]);
  if (history.isError && !history.data) return <ErrorState title="Latency could not be loaded" error={history.error} onRetry={() => void history.refetch()} />;
  return (
    <div className="mt-4">
      <div className="mb-1 flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm text-ink-3">Latency</p>
        <div role="group" aria-label="Range of the latency chart" className="flex rounded-[8px] border border-line p-0.5">
          {(Object.keys(ranges) as Range[]).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === range}
              onClick={() =>
                setParams(
                  (current) => {
                    const next = new URLSearchParams(current);
                    next.set("range", each);
                    return next;
                  },
                  { replace: true, preventScrollReset: true },
                )
              }
              className={clsx("min-h-6 rounded-[6px] px-2 text-xs", each === range ? "bg-accent-soft font-medium text-accent-ink" : "text-ink-2 hover:text-ink")}
            >
              {each.replace(/(\d+)/, "$1 ")}
            </button>
          ))}
        </div>
      </div>
      {axis && points.some((point) => point.p50 !== null) ? (
        <Suspense fallback={<SkeletonBlock className="h-[226px]" />}>
          <LatencyChart points={points} from={axis.from} to={axis.to} label={`Latency of ${check.configurationName}, last ${range.replace(/(\d+)/, "$1 ")}`} />
        </Suspense>
      ) : history.data ? (
        <p className="rounded-[8px] bg-raised/60 px-4 py-6 text-center text-ink-3">No latency was measured in this range.</p>
      ) : (
        <SkeletonBlock className="h-[226px]" />
      )}
    </div>
  );
}

function Assign({ systemId, assigned, close }: { systemId: string; assigned: string[]; close: () => void }) {
  const configurations = useConfigurations();
  const associate = useAssociate();
  const free = (configurations.data?.configurations ?? []).filter((each) => !assigned.includes(each.id));
  if (configurations.isPending) return <SkeletonBlock className="h-24" />;
  if (configurations.isError) return <ErrorState title="The checks could not be loaded" error={configurations.error} onRetry={() => void configurations.refetch()} />;
  if (free.length === 0) {
    return (
      <EmptyState title="No other check to assign" action={<LinkButton to={`/healthcheck/config/new?systemId=${systemId}`}>Create a health check</LinkButton>}>
        Every existing check is assigned to this system already.
      </EmptyState>
    );
  }
  return (
    <ul className="divide-y divide-line">
      {free.map((each) => (
        <li key={each.id} className="flex items-center gap-3 py-2">
          <span className="min-w-0 flex-1 truncate">{each.name}</span>
          <Button
            size="sm"
            busy={associate.isPending && associate.variables.body.configurationId === each.id}
            onClick={() =>
              associate.mutate(
                { systemId, body: { configurationId: each.id } },
                {
                  onSuccess: () => {
                    toast(`${each.name} assigned`);
                    close();
                  },
                  onError: toastError,
                },
              )
            }
          >
            Assign<span className="sr-only"> {each.name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
