import { expect, test } from "vitest";
import { capText, readCap } from "./spend-cap";

test("both fields blank mean no cap", () => {
  expect(readCap(" ", "")).toEqual({ value: null, issues: [] });
});

test("one field alone is a fault at the other, never silently no cap", () => {
  expect(readCap("1000", "").issues.map((issue) => issue.path)).toEqual(["spendCap.windowMinutes"]);
  expect(readCap("", "60").issues.map((issue) => issue.path)).toEqual(["spendCap.tokenBudget"]);
});

test("only whole numbers above 0 are a cap", () => {
  expect(readCap("0", "1.5").issues).toHaveLength(2);
  expect(readCap("200000", "60").value).toEqual({ tokenBudget: 200_000, windowMinutes: 60 });
});

test("the cap reads as a sentence", () => {
  expect(capText({ tokenBudget: 500, windowMinutes: 90 })).toBe("500 tokens per 1 h 30 min");
});
