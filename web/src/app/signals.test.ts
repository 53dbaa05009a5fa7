import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createConnection, createInvalidator, parseSignal, touches } from "./signals";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("a foreign text is not a signal", () => {
  expect(parseSignal("{")).toBeUndefined();
  expect(parseSignal('{"type":"connected"}')).toBeUndefined();
  expect(parseSignal('{"signalId":"catalog.changed","pluginId":"catalog"}')).toEqual({
    signalId: "catalog.changed",
    pluginId: "catalog",
    payload: {},
  });
});

test("a signal about one system leaves the other system's queries alone", () => {
  const query = (queryKey: unknown[], meta = {}) => ({ queryKey, meta });
  expect(touches(query(["healthcheck", "overview", "s1"]), "healthcheck", "s1")).toBe(true);
  expect(touches(query(["healthcheck", "overview", "s2"]), "healthcheck", "s1")).toBe(false);
  expect(touches(query(["healthcheck", "bulk"], { signalScope: "plugin" }), "healthcheck", "s1")).toBe(true);
  expect(touches(query(["system", "issues"], { signals: ["healthcheck"] }), "healthcheck", "s1")).toBe(true);
  expect(touches(query(["catalog", "entities"]), "healthcheck", undefined)).toBe(false);
});

test("a deaf query hears nothing, also not of its own plugin", () => {
  expect(touches({ queryKey: ["ai", "getConversation", "c1"], meta: { deaf: true } }, "ai", undefined)).toBe(false);
});

const runOf = (systemId: string) => ({ signalId: "healthcheck.run.completed", pluginId: "healthcheck", payload: { systemId } });

/** Counts how often each query is asked, the first time included. */
async function watched(keys: Record<string, { queryKey: unknown[]; meta?: Record<string, unknown> }>) {
  const client = new QueryClient();
  const asked: Record<string, number> = {};
  for (const [name, options] of Object.entries(keys)) {
    asked[name] = 0;
    const observer = new QueryObserver(client, {
      ...options,
      queryFn: () => {
        asked[name] = (asked[name] ?? 0) + 1;
        return Promise.resolve(asked[name]);
      },
    });
    observer.subscribe(() => undefined);
  }
  await vi.advanceTimersByTimeAsync(0);
  return { client, asked };
}

test("many signals in a row refresh once, after 300 ms of quiet", async () => {
  const { client, asked } = await watched({ one: { queryKey: ["healthcheck", "overview", "s1"] } });
  const invalidator = createInvalidator(client);
  for (let i = 0; i < 5; i++) {
    invalidator.receive(runOf("s1"));
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(asked.one).toBe(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(asked.one).toBe(2);
  client.clear();
});

test("a thousand systems running every minute refresh a list at most every 3 s", async () => {
  const { client, asked } = await watched({
    list: { queryKey: ["healthcheck", "bulk"], meta: { signalScope: "plugin" } },
    issues: { queryKey: ["system", "issues"], meta: { signals: ["healthcheck"] } },
    one: { queryKey: ["healthcheck", "overview", "s7"] },
  });
  const invalidator = createInvalidator(client);
  for (let i = 0; i < 60; i++) {
    invalidator.receive(runOf(`s${i}`));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(asked).toEqual({ list: 3, issues: 3, one: 2 });
  await vi.advanceTimersByTimeAsync(3000);
  // Nothing that arrived meanwhile is forgotten, and then it is quiet.
  expect(asked).toEqual({ list: 4, issues: 4, one: 2 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.list).toBe(4);
  invalidator.stop();
  client.clear();
});

test("what somebody did shows at once, also between two routine refreshes", async () => {
  const { client, asked } = await watched({ issues: { queryKey: ["system", "issues"], meta: { signals: ["healthcheck", "incident"] } } });
  const invalidator = createInvalidator(client);
  invalidator.receive(runOf("s1"));
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.issues).toBe(2);
  invalidator.receive(runOf("s1"));
  invalidator.receive({ signalId: "incident.updated", pluginId: "incident", payload: { incidentId: "i1", systemIds: ["s1"], action: "created" } });
  await vi.advanceTimersByTimeAsync(400);
  expect(asked.issues).toBe(3);
  // The routine signal went with it, so nothing more is due.
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.issues).toBe(3);
  invalidator.stop();
  client.clear();
});

/** A connection over streams that only this test opens, loses and counts. */
function connected() {
  type Fake = { open: boolean; close: () => void; onopen: ((event: Event) => void) | null; onmessage: ((event: MessageEvent) => void) | null; onerror: ((event: Event) => void) | null };
  const streams: Fake[] = [];
  const seen = { signals: 0, missed: 0, live: [] as boolean[] };
  const connection = createConnection(
    () => {
      const stream: Fake = { open: true, close: () => (stream.open = false), onopen: null, onmessage: null, onerror: null };
      streams.push(stream);
      return stream as unknown as EventSource;
    },
    { signal: () => seen.signals++, missed: () => seen.missed++, live: (live) => seen.live.push(live) },
  );
  const newest = () => streams.at(-1) as Fake;
  return { connection, seen, streams, opened: () => newest().onopen?.(new Event("open")), failed: () => newest().onerror?.(new Event("error")), holding: () => streams.filter((each) => each.open).length };
}

test("a page that is left holds no connection, and catches up when it is shown again", () => {
  const { connection, seen, opened, holding } = connected();
  opened();
  expect(seen.missed).toBe(0);
  connection.leave();
  expect(holding()).toBe(0);
  connection.enter();
  opened();
  expect(holding()).toBe(1);
  expect(seen).toEqual({ signals: 0, missed: 1, live: [true, true] });
  connection.stop();
  expect(holding()).toBe(0);
});

test("a hidden tab gives its connection back after 20 s, not at a short look elsewhere", async () => {
  const { connection, streams, opened, holding } = connected();
  opened();
  connection.visible(false);
  await vi.advanceTimersByTimeAsync(19_000);
  connection.visible(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([streams.length, holding()]).toEqual([1, 1]);
  connection.visible(false);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(holding()).toBe(0);
  connection.retry();
  expect(holding()).toBe(0);
  connection.visible(true);
  expect([streams.length, holding()]).toEqual([2, 1]);
});

test("a lost connection is opened again after a growing wait, and at once when the network is back", async () => {
  const { connection, seen, streams, opened, failed } = connected();
  opened();
  failed();
  await vi.advanceTimersByTimeAsync(1000);
  failed();
  await vi.advanceTimersByTimeAsync(1900);
  expect(streams.length).toBe(2);
  connection.retry();
  expect(streams.length).toBe(3);
  opened();
  expect(seen).toEqual({ signals: 0, missed: 1, live: [true, false, false, true] });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(streams.length).toBe(3);
});

test("a page that is left while it waits to reconnect stays unconnected", async () => {
  const { connection, holding, failed } = connected();
  failed();
  connection.leave();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(holding()).toBe(0);
});
