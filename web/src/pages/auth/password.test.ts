import { expect, test } from "vitest";
import { passwordFault } from "./password";

test("a password needs length, both cases and a number", () => {
  expect(passwordFault("Sh0rt")).toBe("Use at least 8 characters.");
  expect(passwordFault("alllowercase1")).toBe("Add an uppercase letter.");
  expect(passwordFault("NoNumberHere")).toBe("Add a number.");
  expect(passwordFault("--------")).toBe("Add an uppercase letter and a lowercase letter and a number.");
  expect(passwordFault("x".repeat(129))).toBe("Use at most 128 characters.");
  expect(passwordFault("Correct-Horse-9")).toBeUndefined();
});
