import { expect, test } from "vitest";
import { asksForAgent, safeNext, withNext } from "./next";

test("only addresses of this site are followed", () => {
  expect(safeNext("/catalog?q=pay")).toBe("/catalog?q=pay");
  expect(safeNext(null)).toBe("/");
  expect(safeNext("https://example.com")).toBe("/");
  expect(safeNext("//example.com")).toBe("/");
  expect(safeNext("/\\example.com")).toBe("/");
  expect(safeNext("/\t/example.com")).toBe("/");
  expect(safeNext("/\n/example.com")).toBe("/");
  expect(safeNext("/auth/login")).toBe("/");
  expect(safeNext("/auth/oauth-consent-x?request=1")).toBe("/");
});

test("what an outside agent asks survives signing in and signing up", () => {
  const asked = "/auth/oauth-consent?request=018f";
  expect(safeNext(asked)).toBe(asked);
  expect(asksForAgent(asked)).toBe(true);
  expect(asksForAgent("/catalog")).toBe(false);
  expect(withNext("/auth/register", asked)).toBe("/auth/register?next=%2Fauth%2Foauth-consent%3Frequest%3D018f");
  expect(safeNext(new URLSearchParams(withNext("/auth/register", asked).split("?")[1]).get("next"))).toBe(asked);
  expect(withNext("/auth/login", "/")).toBe("/auth/login");
});
