import { expect, test } from "vitest";
import { matches, readTags } from "./find";

const memory = { recallHint: "When payments time out", content: "Restart the queue first.", tags: ["queue", "Redis"], systemName: "Payments API" };

test("every word must be found somewhere, in any case", () => {
  expect(matches(memory, "")).toBe(true);
  expect(matches(memory, "redis API restart")).toBe(true);
  expect(matches(memory, "redis invoices")).toBe(false);
});

test("tags are separated by commas and kept once", () => {
  expect(readTags(" queue, Redis ,, queue")).toEqual(["queue", "Redis"]);
  expect(readTags("")).toEqual([]);
});
