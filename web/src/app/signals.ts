import type { Query, QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

/** A realtime message: something of a plugin changed, perhaps one resource. */
export type Signal = { signalId: string; pluginId: string; payload: Record<string, unknown> };

/** Reads one event's data; anything that is not a signal yields undefined. */
export function parseSignal(data: string): Signal | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { signalId, pluginId, payload } = value as Record<string, unknown>;
  if (typeof signalId !== "string" || typeof pluginId !== "string") return undefined;
  const fields = typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>) : {};
  return { signalId, pluginId, payload: fields };
}

/** The resource a signal is about, when it names one. */
export function resourceOf(signal: Signal): string | undefined {
  for (const key of ["systemId", "groupId", "conversationId"]) {
    const value = signal.payload[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

type QueryLike = Pick<Query, "queryKey" | "meta">;

/**
 * Whether a signal makes a query stale: a query of the plugin (or one that
 * lists the plugin in meta.signals), and for a signal about one resource only
 * when the key names that resource or the query opted into the whole plugin.
 */
export function touches(query: QueryLike, pluginId: string, resource: string | undefined): boolean {
  if (query.meta?.deaf) return false;
  const foreign = query.meta?.signals?.includes(pluginId) ?? false;
  if (query.queryKey[0] !== pluginId && !foreign) return false;
  if (resource === undefined || foreign || query.meta?.signalScope === "plugin") return true;
  return JSON.stringify(query.queryKey).includes(resource);
}

/** Queries over many resources: with many checks every second brings a reason to refresh them. */
function isWide(query: QueryLike): boolean {
  return query.meta?.signalScope === "plugin" || query.meta?.signals !== undefined;
}

const debounceMs = 300;
/** Shortest time between two refreshes of queries over many resources. */
const wideMs = 600;
/** The same for what comes by the second from every check, and rarely changes what is seen. */
const routineMs = 3000;
const routine = new Set(["healthcheck.run.completed"]);

/**
 * Collects signals and refreshes what they touch: queries about one resource
 * after a quiet moment, queries over many at most once in three seconds for the
 * routine of the checks, and soon for what somebody did.
 */
export function createInvalidator(client: QueryClient) {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const waiting = new Map<string, Signal>();
  let wideTimer: ReturnType<typeof setTimeout> | undefined;
  let wideDue = Infinity;
  let wideAt = -Infinity;
  const flushWide = () => {
    wideTimer = undefined;
    wideDue = Infinity;
    wideAt = Date.now();
    const signals = [...waiting.values()];
    waiting.clear();
    void client.invalidateQueries({ predicate: (query) => isWide(query) && signals.some((signal) => touches(query, signal.pluginId, resourceOf(signal))) });
  };
  return {
    receive(signal: Signal) {
      const resource = resourceOf(signal);
      const key = `${signal.pluginId}\n${resource ?? ""}`;
      clearTimeout(timers.get(key));
      timers.set(
        key,
        setTimeout(() => {
          timers.delete(key);
          void client.invalidateQueries({ predicate: (query) => !isWide(query) && touches(query, signal.pluginId, resource) });
        }, debounceMs),
      );
      waiting.set(key, signal);
      const due = Math.max(Date.now() + debounceMs, wideAt + (routine.has(signal.signalId) ? routineMs : wideMs));
      if (due < wideDue) {
        clearTimeout(wideTimer);
        wideDue = due;
        wideTimer = setTimeout(flushWide, due - Date.now());
      }
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      clearTimeout(wideTimer);
      waiting.clear();
    },
  };
}

let live = true;
const listeners = new Set<() => void>();
function setLive(next: boolean) {
  if (live === next) return;
  live = next;
  for (const listener of listeners) listener();
}

/** Whether live updates arrive; false only after a connection was lost. */
export function useLive(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => live,
  );
}

/** Whether this device has a network at all, as the browser sees it. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener("online", listener);
      window.addEventListener("offline", listener);
      return () => {
        window.removeEventListener("online", listener);
        window.removeEventListener("offline", listener);
      };
    },
    () => navigator.onLine,
  );
}

type Stream = Pick<EventSource, "close" | "onopen" | "onmessage" | "onerror">;

/** How long a hidden page keeps its connection, so that a short look elsewhere costs nothing. */
const hiddenMs = 20_000;

/**
 * Keeps one realtime connection while the page is looked at, and opens it again
 * after a loss. A browser opens at most six connections to one HTTP/1.1 host,
 * over all tabs and pages kept for going back: one that nobody looks at must not
 * hold any of them, or every further request waits for ever.
 */
export function createConnection(open: () => Stream, on: { signal: (signal: Signal) => void; missed: () => void; live: (live: boolean) => void }) {
  let source: Stream | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let wait = 1000;
  let lost = false;
  let away = false;

  const close = () => {
    clearTimeout(timer);
    clearTimeout(hiding);
    hiding = undefined;
    source?.close();
    source = undefined;
  };
  const connect = () => {
    close();
    source = open();
    source.onopen = () => {
      wait = 1000;
      on.live(true);
      // What happened while the line was down was not told to us.
      if (lost) on.missed();
      lost = false;
    };
    source.onmessage = (event: MessageEvent<string>) => {
      const signal = parseSignal(event.data);
      if (signal) on.signal(signal);
    };
    source.onerror = () => {
      close();
      lost = true;
      on.live(false);
      timer = setTimeout(connect, wait);
      wait = Math.min(wait * 2, 30_000);
    };
  };
  const leave = () => {
    close();
    lost = true;
    away = true;
  };
  const enter = () => {
    clearTimeout(hiding);
    hiding = undefined;
    if (!away) return;
    away = false;
    wait = 1000;
    connect();
  };
  connect();
  return {
    /** The page is shown or hidden. */
    visible(visible: boolean) {
      if (visible) enter();
      else if (!away) hiding ??= setTimeout(leave, hiddenMs);
    },
    /** The page is left, perhaps kept by the browser for going back. */
    leave,
    /** The page is shown again after it was left. */
    enter,
    /** The network is back: there is no reason to sit out the wait. */
    retry() {
      if (!lost || away) return;
      wait = 1000;
      connect();
    },
    stop: close,
  };
}

/** Keeps the page up to date while mounted. */
export function useSignals() {
  const client = useQueryClient();
  useEffect(() => {
    const invalidator = createInvalidator(client);
    const connection = createConnection(() => new EventSource("/api/events"), {
      signal: (signal) => invalidator.receive(signal),
      missed: () => void client.invalidateQueries(),
      live: setLive,
    });
    const turned = () => connection.visible(document.visibilityState === "visible");
    window.addEventListener("online", connection.retry);
    window.addEventListener("pagehide", connection.leave);
    window.addEventListener("pageshow", connection.enter);
    document.addEventListener("visibilitychange", turned);
    turned(); // a tab may be opened in the background
    return () => {
      window.removeEventListener("online", connection.retry);
      window.removeEventListener("pagehide", connection.leave);
      window.removeEventListener("pageshow", connection.enter);
      document.removeEventListener("visibilitychange", turned);
      connection.stop();
      invalidator.stop();
      setLive(true);
    };
  }, [client]);
}
