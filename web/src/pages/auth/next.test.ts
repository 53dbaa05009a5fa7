import { expect, test } from "vitest";
import { safeNext } from "./next";

test("only addresses of this site are followed", () => {
  expect(safeNext("/catalog?q=pay")).toBe("/catalog?q=pay");
  expect(safeNext(null)).toBe("/");
  expect(safeNext("https://example.com")).toBe("/");
  expect(safeNext("//example.com")).toBe("/");
  expect(safeNext("/\\example.com")).toBe("/");
  expect(safeNext("/auth/login")).toBe("/");
});
