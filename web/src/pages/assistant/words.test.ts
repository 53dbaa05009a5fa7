import { expect, test } from "vitest";
import { fieldLabel, targetOf, timesOf, wordDiff, wordsOf } from "./words";

const names = (id: string) => ({ "s-1": "Payments", "healthcheck-http.http": "HTTP" })[id];

test("values are told in the reader's words", () => {
  expect(wordsOf("suppressNotifications", false, names)).toBe("no");
  expect(wordsOf("intervalSeconds", 90, names)).toBe("1 min 30 s");
  expect(wordsOf("status", "in_progress", names)).toBe("in progress");
  expect(wordsOf("strategyId", "healthcheck-http.http", names)).toBe("HTTP");
  expect(wordsOf("collectorId", "healthcheck-http.request", names)).toBe("Request");
  expect(wordsOf("title", "a_b", names)).toBe("a_b");
  expect(wordsOf("startAt", "2026-12-05T22:00:00Z", names)).toMatch(/2026.*:00:00/);
  // Only a whole instant is one; text that holds one stays as it was written.
  expect(wordsOf("title", "at 2026-12-05T22:00:00Z", names)).toBe("at 2026-12-05T22:00:00Z");
  expect(wordsOf("startAt", "2026-13-45T99:00:00Z", names)).toBe("2026-13-45T99:00:00Z");
});

test("a sentence tells its instants in the reader's zone and keeps the rest", () => {
  const told = timesOf("Plan “a 2026-12-05”, 2026-12-05T22:00:00Z to 2026-12-05T23:30:00+01:00");
  expect(told).toMatch(/^Plan “a 2026-12-05”, .*2026.* to .*2026.*$/);
  expect(told).not.toContain("T22:00:00Z");
  expect(timesOf("at 2026-99-05T22:00:00Z")).toBe("at 2026-99-05T22:00:00Z");
});

test("field names read as labels", () => {
  expect(fieldLabel("systemIds")).toBe("Systems");
  expect(fieldLabel("assignToSystemId")).toBe("Assign to system");
  expect(fieldLabel("startAt")).toBe("Start at");
  expect(fieldLabel("id")).toBe("ID");
});

test("a diff keeps absent sides absent and structures as they are", () => {
  expect(wordDiff([{ path: "systemIds", before: ["s-1"], after: ["s-1", "x"] }, { path: "config.headers", after: { a: 1 } }, { path: "paused", before: false }], names)).toEqual([
    { path: "Systems", before: "Payments", after: "Payments\nx" },
    { path: "Config › Headers", after: { a: 1 } },
    { path: "Paused", before: "no" },
  ]);
});

test("a change leads to what it made or changed, a deletion nowhere", () => {
  expect(targetOf("catalog.createSystem", { name: "x" }, { id: "s-1" })).toEqual({ to: "/catalog/system/s-1", label: "Open system" });
  expect(targetOf("incident_create", {}, { id: "i-1" })?.to).toBe("/incident/i-1");
  expect(targetOf("incident.addUpdate", { incidentId: "i-1" }, { id: "update-7" })?.to).toBe("/incident/i-1");
  expect(targetOf("incident.resolve", { id: "i-1" }, undefined)?.to).toBe("/incident/i-1");
  expect(targetOf("maintenance.update", { id: "m-1" }, { id: "m-1" })?.to).toBe("/maintenance/m-1");
  expect(targetOf("healthcheck.propose", {}, { configurationId: "c-1", systemId: "s-1" })?.to).toBe("/healthcheck/config/c-1");
  expect(targetOf("healthcheck.update", { id: "c-1", body: {} }, null)?.to).toBe("/healthcheck/config/c-1");
  expect(targetOf("catalog.deleteSystem", { id: "s-1" }, { deleted: true })).toBeUndefined();
  expect(targetOf("incident.create", {}, { id: "../../evil?x" })).toBeUndefined();
  expect(targetOf("ai.saveMemory", {}, { id: "m" })).toBeUndefined();
});
