import { QueryClient } from "@tanstack/react-query";
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

test("many signals in a row invalidate once, after 300 ms of quiet", () => {
  const client = new QueryClient();
  const invalidate = vi.spyOn(client, "invalidateQueries");
  const invalidator = createInvalidator(client);
  const signal = { signalId: "healthcheck.run.completed", pluginId: "healthcheck", payload: { systemId: "s1" } };
  for (let i = 0; i < 5; i++) {
    invalidator.receive(signal);
    vi.advanceTimersByTime(200);
  }
  expect(invalidate).not.toHaveBeenCalled();
  vi.advanceTimersByTime(300);
  expect(invalidate).toHaveBeenCalledTimes(1);
});
