import { expect, test } from "vitest";
import { ruleMatrix } from "./rules";

const rule = (id: string) => ({ id, description: "" });

test("read and manage of a resource share a row, longer names stay apart", () => {
  const matrix = ruleMatrix(["healthcheck.healthcheck.read", "healthcheck.healthcheck.manage", "healthcheck.healthcheck.details.read", "catalog.system.read"].map(rule));
  expect(matrix.map((group) => group.plugin)).toEqual(["catalog", "healthcheck"]);
  expect(matrix[1]?.resources.map((row) => [row.name, row.read?.id, row.manage?.id])).toEqual([
    ["healthcheck.details", "healthcheck.healthcheck.details.read", undefined],
    ["healthcheck", "healthcheck.healthcheck.read", "healthcheck.healthcheck.manage"],
  ]);
});

test("rules that are neither read nor manage are kept", () => {
  expect(ruleMatrix([rule("notification.send")])[0]?.resources).toEqual([{ name: "send", read: undefined, manage: undefined, other: [rule("notification.send")] }]);
});
