import { expect, test } from "vitest";
import { allows } from "./access";

test("a rule opens itself and nothing beside it", () => {
  expect(allows(["catalog.system.read"], "catalog.system.read")).toBe(true);
  expect(allows(["catalog.system.read"], "catalog.group.read")).toBe(false);
  expect(allows([], "catalog.system.read")).toBe(false);
});

test("manage includes read of the same resource only", () => {
  expect(allows(["catalog.system.manage"], "catalog.system.read")).toBe(true);
  expect(allows(["catalog.system.manage"], "catalog.group.read")).toBe(false);
  expect(allows(["catalog.system.read"], "catalog.system.manage")).toBe(false);
});

test("manage of a resource does not open a narrower resource below it", () => {
  expect(allows(["healthcheck.healthcheck.manage"], "healthcheck.healthcheck.details.read")).toBe(false);
});

test("the star opens everything", () => {
  expect(allows(["*"], "auth.users.manage")).toBe(true);
});
