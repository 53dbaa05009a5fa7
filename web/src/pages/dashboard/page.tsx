import { CircleCheck, CircleDashed, ExternalLink, Sparkles } from "lucide-react";
import { Link } from "react-router";
import { Slot } from "@/app/slot";
import { dashboardBlocks } from "@/app/slots";
import { useCan } from "@/app/session";
import { RelativeTime, useNow } from "@/ui/clock";
import { ErrorState, SkeletonRows } from "@/ui/feedback";
import { Page } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { StateIcon, stateWord } from "@/ui/state";
import { clockTime, relativeTime } from "@/ui/time";
import { useIssues, type SystemIssue } from "./api";
import { FirstSteps } from "./first-steps";

function headline(troubled: number, healthy: number, watched: number): string {
  if (troubled > 0) return troubled === 1 ? "1 system needs attention" : `${troubled} systems need attention`;
  if (watched > 0 && healthy === watched) return "All systems healthy";
  return "Dashboard";
}

export function Component() {
  const issues = useIssues();
  const now = useNow();
  const data = issues.data;
  const systems = data?.systems ?? [];
  const title = data ? headline(systems.length, data.healthySystems, data.watchedSystems) : "Dashboard";
  const nothingWatched = data !== undefined && data.watchedSystems === 0 && systems.length === 0;

  return (
    <Page
      title={nothingWatched ? "Nothing is watched yet" : title}
      description={nothingWatched ? "Three steps to a first result. Start with the address that matters most." : undefined}
      actions={data && !nothingWatched ? <p className="pt-1 text-sm text-ink-3">updated {relativeTime(new Date(issues.dataUpdatedAt), new Date(Math.max(now.getTime(), issues.dataUpdatedAt)))}</p> : null}
    >
      {issues.isPending ? <SkeletonRows rows={3} /> : null}
      {issues.isError && !data ? <ErrorState title="The state of your systems could not be loaded" error={issues.error} onRetry={() => void issues.refetch()} /> : null}
      {issues.isError && data ? (
        <div className="mb-4">
          <ErrorState title="This view could not be refreshed and may be out of date" error={issues.error} onRetry={() => void issues.refetch()} />
        </div>
      ) : null}
      {nothingWatched ? <FirstSteps /> : null}
      {data && !nothingWatched ? (
        <>
          {systems.length > 0 ? (
            <Reveal items={systems} step={50} noun="systems" className="-mt-2 mb-4 text-center">
              {(shown) => (
                <ul className="card mb-4 divide-y divide-line" aria-label="Needs attention">
                  {shown.map((system) => (
                    <Trouble key={system.systemId} system={system} />
                  ))}
                </ul>
              )}
            </Reveal>
          ) : null}
          {data.failedSources && data.failedSources.length > 0 ? (
            <p className="mb-4 rounded-[8px] bg-degraded-soft px-4 py-2.5 text-degraded-ink">Could not ask {data.failedSources.join(", ")}. There may be more trouble than shown here.</p>
          ) : null}
          <HealthyLine healthy={data.healthySystems} pending={data.pendingSystems} watched={data.watchedSystems} lastRunAt={data.lastRunAt} />
          <Slot entries={dashboardBlocks} props={{}} />
        </>
      ) : null}
    </Page>
  );
}

function HealthyLine({ healthy, pending, watched, lastRunAt }: { healthy: number; pending: number; watched: number; lastRunAt?: string | null | undefined }) {
  const rest = pending > 0 ? `, ${pending} waiting for a first run` : "";
  return (
    <Link to="/catalog" className="card mb-7 flex items-center gap-3 px-4 py-3 text-ink no-underline hover:bg-raised/60">
      {healthy > 0 ? <CircleCheck aria-hidden size={18} className="text-healthy" /> : <CircleDashed aria-hidden size={18} className="text-unknown" />}
      <span className="min-w-0 flex-1">
        {healthy} of {watched} watched {watched === 1 ? "system" : "systems"} healthy{rest}
      </span>
      {lastRunAt ? (
        <span className="text-sm text-ink-3">
          last run <RelativeTime at={lastRunAt} />
        </span>
      ) : null}
    </Link>
  );
}

const toneState = { error: "unhealthy", warn: "degraded", info: "unknown" } as const;

function Trouble({ system }: { system: SystemIssue }) {
  const can = useCan();
  const now = useNow();
  const signals = system.signals ?? [];
  const worst = signals[0];
  const state = worst ? toneState[worst.tone] : "unknown";
  const since = worst?.since;
  return (
    <li className="flex gap-3 px-4 py-3.5">
      <StateIcon state={state} className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2.5">
          <Link to={`/catalog/system/${system.systemId}`} className="min-w-0 text-lg font-semibold text-ink hover:underline">
            <bdi className="break-words">{system.systemName}</bdi>
          </Link>
          <span className="text-ink-2">
            {stateWord(state).toLowerCase()}
            {since ? (
              <>
                {" · since "}
                <RelativeTime at={since} />
              </>
            ) : null}
          </span>
        </p>
        <ul className="mt-0.5">
          {signals.map((signal, i) => (
            <li key={`${signal.source}${signal.href ?? signal.label}${i}`} className="break-words text-ink-2">
              {signal.href?.startsWith("/") ? (
                <Link to={signal.href} className="text-ink-2 underline decoration-line-strong/60 underline-offset-3 hover:text-ink">
                  {signal.label}
                </Link>
              ) : (
                signal.label
              )}
              {signal.detail ? `: ${signal.detail}` : ""}
              {signal.until ? (
                <>
                  , until <time dateTime={signal.until}>{clockTime(new Date(signal.until), now)}</time>
                </>
              ) : null}
            </li>
          ))}
        </ul>
      </div>
      <div className="flex shrink-0 flex-col gap-1 self-center sm:flex-row sm:gap-4">
        <Link to={`/catalog/system/${system.systemId}`} className="link inline-flex min-h-6 items-center gap-1">
          <ExternalLink aria-hidden size={14} />
          Open<span className="sr-only"> {system.systemName}</span>
        </Link>
        {can("ai.chat.read") ? (
          <Link to={`/ai/chat?prompt=${encodeURIComponent(`What is wrong with "${system.systemName}"?`)}`} className="link inline-flex min-h-6 items-center gap-1">
            <Sparkles aria-hidden size={14} />
            Ask<span className="sr-only"> about {system.systemName}</span>
          </Link>
        ) : null}
      </div>
    </li>
  );
}
