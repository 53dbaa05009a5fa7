import { expect, test } from "vitest";
import { happened } from "./happened";

test("what happened to incidents and maintenances is said in words", () => {
  expect(happened({ source: "incident", kind: "opened", to: "investigating" })).toBe("incident opened");
  expect(happened({ source: "incident", kind: "status", from: "investigating", to: "identified" })).toBe("incident now identified");
  expect(happened({ source: "maintenance", kind: "started" })).toBe("maintenance started");
});

test("what a newer server adds is still readable", () => {
  expect(happened({ source: "incident", kind: "merged" })).toBe("incident changed");
  expect(happened({ source: "slo", kind: "budget_spent" })).toBe("budget spent");
});
