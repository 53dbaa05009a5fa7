import { expect, test } from "vitest";
import { visibleNav } from "./nav";

const labels = (rules: string[]) => visibleNav(rules).flatMap((group) => group.entries.map((entry) => entry.label));

test("an administrator sees everything, in the settled group order", () => {
  expect(visibleNav(["*"]).map((group) => group.group)).toEqual(["Workspace", "Reliability", "Configuration"]);
  expect(labels(["*"])).toContain("Applications");
});

test("entries without the right rule, and groups without entries, are absent", () => {
  expect(labels(["catalog.system.read"])).toEqual(["Dashboard", "Catalog", "Your profile"]);
  expect(visibleNav(["catalog.system.read"]).map((group) => group.group)).not.toContain("Reliability");
});

test("the manage rule shows the entry that needs read", () => {
  expect(labels(["auth.users.manage"])).toContain("Users");
});

test("whoever may change something sees the approvals, a mere reader does not", () => {
  expect(labels(["incident.incident.manage"])).toContain("Approvals");
  expect(labels(["incident.incident.read", "catalog.system.read"])).not.toContain("Approvals");
  expect(labels(["ai.chat.read"])).toContain("Approvals");
});
