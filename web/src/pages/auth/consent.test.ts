import { expect, test } from "vitest";
import { byArea, safeRedirect } from "./consent";
import { safeNext } from "./next";

test("permissions are grouped by area, reading first", () => {
  const areas = byArea([
    { id: "incident.incident.manage", description: "Change incidents" },
    { id: "catalog.system.read", description: "See systems" },
    { id: "incident.incident.read", description: "See incidents" },
    { id: "newpart.thing.read", description: "See things" },
  ]);
  expect(areas.map((area) => [area.name, area.changes, area.permissions.map((each) => each.id)])).toEqual([
    ["Catalog", false, ["catalog.system.read"]],
    ["Incidents", true, ["incident.incident.read", "incident.incident.manage"]],
    ["Newpart", false, ["newpart.thing.read"]],
  ]);
});

test("the browser is only sent to the web", () => {
  expect(safeRedirect("http://127.0.0.1:4711/callback?code=x&state=y")).toBe("http://127.0.0.1:4711/callback?code=x&state=y");
  expect(safeRedirect("https://app.example.com/cb?code=x")).toBe("https://app.example.com/cb?code=x");
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/relative", ""]) expect(safeRedirect(bad)).toBeUndefined();
});

test("signing in leads back to the consent page and to no other page of signing in", () => {
  expect(safeNext("/auth/oauth-consent?request=0190")).toBe("/auth/oauth-consent?request=0190");
  for (const bad of ["/auth/login", "/auth/oauth-consentx", "//evil.example/auth/oauth-consent", "/auth/oauth-consent/../login", "/\\evil.example"]) expect(safeNext(bad)).toBe("/");
});
