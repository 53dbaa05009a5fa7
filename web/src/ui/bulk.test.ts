import { expect, test } from "vitest";
import { bulkSummary, chunked } from "./bulk";

test("the summary counts each outcome, the wanted one first", () => {
  const of = (...statuses: string[]) => bulkSummary(statuses.map((status, i) => ({ id: String(i), status })), "resolved");
  expect(of("skipped", "resolved", "resolved", "resolved")).toBe("3 resolved, 1 skipped");
  expect(of("not_found", "failed", "failed")).toBe("1 gone already, 2 failed");
  expect(of()).toBe("");
});

test("a request names at most 100 ids", () => {
  const ids = Array.from({ length: 250 }, (_, i) => String(i));
  expect(chunked(ids).map((part) => part.length)).toEqual([100, 100, 50]);
  expect(chunked(ids).flat()).toEqual(ids);
});
