import { useSyncExternalStore } from "react";
import { clockTime, exactTime, formatDuration, relativeTime } from "./time";

let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = new Date();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The present, refreshed every second for everything on the page at once. */
export function useNow(): Date {
  return useSyncExternalStore(subscribe, () => {
    // Nobody watched the clock for a while, so what it last showed is old.
    if (timer === undefined && Date.now() - now.getTime() > 1000) now = new Date();
    return now;
  });
}

/** "4 s ago", with the exact instant on hover and for screen readers. */
export function RelativeTime({ at, className }: { at: string; className?: string | undefined }) {
  // A fresh value may be younger than the last tick of the clock.
  const date = new Date(at);
  const tick = useNow();
  const reference = date > tick && date.getTime() - tick.getTime() < 5000 ? date : tick;
  const exact = exactTime(date);
  return (
    <time dateTime={at} title={exact} className={className}>
      {relativeTime(date, reference)}
      <span className="sr-only"> ({exact})</span>
    </time>
  );
}

/** "since 02:14 (11 min)", with the exact instant on hover and for screen readers. */
export function Since({ at, className }: { at: string; className?: string | undefined }) {
  const date = new Date(at);
  const now = useNow();
  const exact = exactTime(date);
  return (
    <span className={className}>
      since{" "}
      <time dateTime={at} title={exact}>
        {clockTime(date, now)}
        <span className="sr-only"> ({exact})</span>
      </time>{" "}
      ({formatDuration(Math.max(0, now.getTime() - date.getTime()))})
    </span>
  );
}
