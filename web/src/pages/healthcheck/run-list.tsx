import { clsx } from "clsx";
import type { KeyboardEvent } from "react";
import { Link } from "react-router";
import { RelativeTime } from "@/ui/clock";
import { StateIcon } from "@/ui/state";
import { formatLatency } from "@/ui/time";
import type { DetailedRun, Run } from "./api";

/** Moves the focus along the rows with the arrow keys, Home and End; Enter opens as for every link. */
function walk(event: KeyboardEvent<HTMLUListElement>) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (at === -1 || to === undefined) return;
  event.preventDefault();
  links[Math.min(links.length - 1, Math.max(0, to))]?.focus();
}

/** Runs, newest first; each leads to its detail. */
export function RunList({ runs, selected, nameOf, search = "" }: { runs: (Run & Partial<DetailedRun>)[]; selected?: string | undefined; nameOf?: (configurationId: string) => string | undefined; search?: string }) {
  return (
    // The keys only move between the links inside, which work without them too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <ul className="divide-y divide-line" aria-label="Runs" onKeyDown={walk}>
      {runs.map((run) => (
        <li key={run.id}>
          <Link
            to={{ pathname: `/healthcheck/history/${run.systemId}/${run.configurationId}/${run.id}`, search }}
            preventScrollReset
            aria-current={run.id === selected ? "true" : undefined}
            className={clsx("flex items-start gap-3 px-4 py-2.5 text-ink no-underline hover:bg-raised/60", run.id === selected && "bg-accent-soft")}
          >
            <StateIcon state={run.status} size={16} className="mt-0.5" />
            <span className="min-w-0 flex-1">
              <RelativeTime at={run.timestamp} />
              {nameOf ? <span className="text-ink-3"> · {nameOf(run.configurationId)}</span> : null}
              {run.status !== "healthy" && run.message ? <span className="block text-sm break-words text-ink-2">{run.message}</span> : null}
            </span>
            <span className="text-sm whitespace-nowrap text-ink-2">{formatLatency(run.latencyMs)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
