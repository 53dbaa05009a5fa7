import { expect, test } from "vitest";
import { actionTitle, toolLabel } from "./labels";

test("tool calls read as what they do", () => {
  expect(toolLabel("catalog.listSystems", true)).toBe("Checking systems");
  expect(toolLabel("catalog_listSystems", false)).toBe("Checked systems");
  expect(toolLabel("system.issues", true)).toBe("Looking for trouble");
  expect(toolLabel("odd", true)).toBe("Odd");
  expect(toolLabel("", true)).toBe("Using a tool");
});

test("cards are titled by their action", () => {
  expect(actionTitle("catalog.createSystem")).toBe("Create system");
  expect(actionTitle("healthcheck.propose")).toBe("Create health check");
  expect(actionTitle("healthcheck.delete")).toBe("Delete health check");
});
