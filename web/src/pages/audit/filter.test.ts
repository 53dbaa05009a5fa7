import { expect, test } from "vitest";
import { durationOf, readFilter } from "./filter";

const read = (query: string) => JSON.parse(JSON.stringify(readFilter(new URLSearchParams(query)))) as unknown;

test("the address becomes a filter", () => {
  expect(read("tool=catalog.createSystem&effect=mutate&status=applied&door=mcp&who=me")).toEqual({ mine: true, toolName: "catalog.createSystem", effect: "mutate", status: "applied", transport: "mcp" });
  expect(read("who=application:0190")).toEqual({ principalKind: "application", principalId: "0190" });
});

test("what the address should not say is left out", () => {
  expect(read("effect=explode&status=&door=window&who=robot:1&from=yesterday&to=2026-02-31x")).toEqual({});
  expect(read("from=2026-02-31")).toEqual({});
});

test("days are those of the reader, the last one included", () => {
  const filter = readFilter(new URLSearchParams("from=2026-07-01&to=2026-07-02"));
  expect(filter.from).toBe(new Date(2026, 6, 1).toISOString());
  expect(filter.to).toBe(new Date(2026, 6, 3).toISOString());
});

test("a change is timed from its approval, a reading from its call", () => {
  expect(durationOf({ status: "executed", createdAt: "2026-07-01T10:00:00Z", finishedAt: "2026-07-01T10:00:00.250Z" })).toBe(250);
  expect(durationOf({ status: "applied", createdAt: "2026-07-01T10:00:00Z", appliedAt: "2026-07-01T12:00:00Z", finishedAt: "2026-07-01T12:00:01Z" })).toBe(1000);
  expect(durationOf({ status: "applying", createdAt: "2026-07-01T10:00:00Z" })).toBeUndefined();
  expect(durationOf({ status: "rejected", createdAt: "2026-07-01T10:00:00Z", finishedAt: "2026-07-01T10:03:00Z" })).toBeUndefined();
});
