import { expect, test } from "vitest";
import { changedFields, editOf, shownValue, valuesOf, type Values } from "./changes";

const opened: Values = valuesOf({ title: "Payments down", description: "503", severity: "major", systemIds: ["a", "b"], override: null, suppressNotifications: false });

test("only what was touched is sent", () => {
  expect(editOf(opened, { ...opened })).toEqual({});
  expect(editOf(opened, { ...opened, severity: "critical" })).toEqual({ severity: "critical" });
  expect(editOf(opened, { ...opened, title: " Payments down " })).toEqual({});
});

test("an emptied description and an unset override are cleared, not left", () => {
  expect(editOf(opened, { ...opened, description: "  " })).toEqual({ description: null });
  expect(editOf({ ...opened, override: "unhealthy" }, { ...opened, override: "" })).toEqual({ override: null });
});

test("systems are a set: their order is no change, a removed one is", () => {
  expect(changedFields(opened, { ...opened, systemIds: ["b", "a"] })).toEqual([]);
  expect(editOf(opened, { ...opened, systemIds: ["b"] })).toEqual({ systemIds: ["b"] });
});

test("what somebody else changed reads as it does in the form", () => {
  const theirs: Values = { ...opened, description: "", override: "degraded", suppressNotifications: true, systemIds: ["a"] };
  const fields = changedFields(opened, theirs);
  expect(fields).toEqual(["description", "systemIds", "override", "suppressNotifications"]);
  expect(fields.map((field) => shownValue(field, theirs, (id) => `System ${id}`))).toEqual(["empty", "System a", "At least degraded", "silenced"]);
});
