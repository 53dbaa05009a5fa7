import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createInvalidator, parseSignal, touches } from "./signals";

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
