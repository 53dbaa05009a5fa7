import { clsx } from "clsx";
import { Activity, CircleCheck, CircleDashed, ExternalLink, Siren, Sparkles, TriangleAlert, Wrench, type LucideIcon } from "lucide-react";
import { useMemo } from "react";
import { Link, useSearchParams } from "react-router";
import { Slot } from "@/app/slot";
import { dashboardBlocks } from "@/app/slots";
import { useCan } from "@/app/session";
import { Button } from "@/ui/button";
import { RelativeTime, Since, useNow } from "@/ui/clock";
import { ErrorState, SkeletonRows } from "@/ui/feedback";
import { Page } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { StateIcon, stateWord } from "@/ui/state";
import { clockTime, relativeTime } from "@/ui/time";
import { useIssues, type SystemIssue } from "./api";
import { FirstSteps } from "./first-steps";
import { countTones, headline, sourcesText, toneOf, tones, type Tone } from "./tones";

export function Component() {
  const issues = useIssues();
  const now = useNow();
  const data = issues.data;
  const systems = data?.systems ?? [];
  const inaccessible = data?.inaccessibleSources ?? [];
  const failed = data?.failedSources ?? [];
  const counts = useMemo(() => countTones(data?.systems ?? []), [data]);
  const title = data ? headline(counts, data.healthySystems, data.watchedSystems, failed.length === 0) : "Dashboard";
  const [params, setParams] = useSearchParams();
  // A filter without anything behind it must not hide what there is.
  const filter = tones.find((tone) => tone.value === params.get("tone") && counts[tone.value] > 0)?.value;
  const listed = filter ? systems.filter((system) => toneOf(system) === filter) : systems;
  const nothingWatched = data !== undefined && data.watchedSystems === 0 && systems.length === 0 && failed.length === 0;

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
          {failed.length > 0 ? (
            <p role="status" className="mb-4 flex items-start gap-2 rounded-[8px] bg-degraded-soft px-4 py-2.5 text-degraded-ink">
              <TriangleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
              Could not read {sourcesText(failed)}. There may be more trouble than shown here.
            </p>
          ) : null}
          {systems.length > 0 ? <ToneFilter counts={counts} value={filter} onChange={(tone) => setParams(tone ? { tone } : {}, { replace: true, preventScrollReset: true })} /> : null}
          {systems.length > 0 ? (
            <Reveal key={filter ?? "all"} items={listed} step={50} noun="systems" className="-mt-2 mb-4 text-center">
              {(shown) => (
                <ul className="card mb-4 divide-y divide-line" aria-label="Needs attention">
                  {shown.map((system) => (
                    <Trouble key={system.systemId} system={system} />
                  ))}
                </ul>
              )}
            </Reveal>
          ) : null}
          {data.watchedSystems > 0 ? <HealthyLine healthy={data.healthySystems} pending={data.pendingSystems} watched={data.watchedSystems} lastRunAt={data.lastRunAt} /> : null}
          {inaccessible.length > 0 ? <p className="mb-7 px-1 text-sm text-ink-3">Without {sourcesText(inaccessible)}, which you may not see.</p> : null}
        </>
      ) : null}
      {data ? (
        <div className={nothingWatched ? "mt-7" : ""}>
          <Slot entries={dashboardBlocks} props={{}} />
        </div>
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

/** How many systems are in which trouble; each count narrows the list to itself. */
function ToneFilter({ counts, value, onChange }: { counts: Record<Tone, number>; value: Tone | undefined; onChange: (tone: Tone | undefined) => void }) {
  const present = tones.filter((tone) => counts[tone.value] > 0);
  return (
    <div role="group" aria-label="Show only" className="mb-3 flex flex-wrap gap-2">
      {present.map((tone) => {
        const pressed = tone.value === value;
        return (
          <button
            key={tone.value}
            type="button"
            aria-pressed={pressed}
            onClick={() => onChange(pressed ? undefined : tone.value)}
            className={clsx("inline-flex min-h-8 items-center gap-1.5 rounded-full border px-3 transition-colors duration-120", pressed ? "border-accent bg-accent-soft font-medium text-accent-ink" : "border-line-strong/60 bg-surface text-ink hover:bg-raised")}
          >
            <span aria-hidden>
              <StateIcon state={tone.state} size={15} className="align-[-2px]" />
            </span>
            {counts[tone.value].toLocaleString()} {tone.word}
          </button>
        );
      })}
      {value ? (
        <Button size="sm" look="quiet" className="min-h-8!" onClick={() => onChange(undefined)}>
          Show all
        </Button>
      ) : null}
    </div>
  );
}

/** How many reasons a system shows here; its page has all of them. */
const signalLimit = 5;
const sourceIcons: Record<string, LucideIcon> = { healthcheck: Activity, incident: Siren, maintenance: Wrench };

function Trouble({ system }: { system: SystemIssue }) {
  const can = useCan();
  const signals = system.signals ?? [];
  const worst = signals[0];
  const tone = tones.find((each) => each.value === toneOf(system)) ?? tones[0];
  // A check's tone is the health that it measured; elsewhere it is only how loud the signal is.
  const word = worst?.source === "healthcheck" ? stateWord(tone?.state ?? "unknown").toLowerCase() : tone?.word;
  const since = worst?.since;
  return (
    <li className="flex gap-3 px-4 py-3.5">
      <span aria-hidden>
        <StateIcon state={tone?.state ?? "unknown"} className="mt-0.5" />
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2.5">
          <Link to={`/catalog/system/${system.systemId}`} className="min-w-0 text-lg font-semibold text-ink hover:underline">
            <bdi className="wrap-anywhere">{system.systemName}</bdi>
          </Link>
          <span className="text-ink-2">
            {word}
            {since ? (
              <>
                {" · "}
                <Since at={since} />
              </>
            ) : null}
          </span>
        </p>
        <ul className="mt-0.5">
          {signals.slice(0, signalLimit).map((signal, i) => {
            const Icon = sourceIcons[signal.source] ?? CircleDashed;
            return (
              <li key={`${signal.source}${signal.label}${i}`} className="flex gap-2 text-ink-2">
                <Icon aria-hidden size={14} className="mt-[3px] shrink-0 text-ink-3" />
                <span className="min-w-0 wrap-anywhere">
                  {signal.href?.startsWith("/") ? (
                    <Link to={signal.href} className="text-ink-2 underline decoration-line-strong/60 underline-offset-3 hover:text-ink">
                      <bdi>{signal.label}</bdi>
                    </Link>
                  ) : (
                    <bdi>{signal.label}</bdi>
                  )}
                  {signal.detail ? (
                    <>
                      : <bdi>{signal.detail}</bdi>
                    </>
                  ) : null}
                  {signal.until ? `, until ${clockTime(new Date(signal.until), new Date())}` : ""}
                </span>
              </li>
            );
          })}
          {signals.length > signalLimit ? <li className="pl-[22px] text-sm text-ink-3">and {signals.length - signalLimit} more</li> : null}
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
