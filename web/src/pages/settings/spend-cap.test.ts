import { expect, test } from "vitest";
import { capText, readCap, readContext } from "./spend-cap";

test("both fields blank mean no cap", () => {
  expect(readCap(" ", "")).toEqual({ value: null, issues: [] });
});

test("one field alone is a fault at the other, never silently no cap", () => {
  expect(readCap("1000", "").issues.map((issue) => issue.path)).toEqual(["spendCap.windowMinutes"]);
  expect(readCap("", "60").issues.map((issue) => issue.path)).toEqual(["spendCap.tokenBudget"]);
});

test("only whole numbers above 0 are a cap", () => {
  expect(readCap("0", "1.5").issues).toHaveLength(2);
  for (const text of ["abc", "0x10", "1e5", "2,00", "-5", "99999999999999999"]) expect(readCap(text, "60").issues, text).toHaveLength(1);
  expect(readCap("200000", "60").value).toEqual({ tokenBudget: 200_000, windowMinutes: 60 });
  expect(readCap("1,200,000", " 1 440 ").value).toEqual({ tokenBudget: 1_200_000, windowMinutes: 1440 });
});

test("a context window may be blank, but never nonsense", () => {
  expect(readContext(" ")).toEqual({ value: null, issues: [] });
  expect(readContext("128,000").value).toBe(128_000);
  expect(readContext("128k").issues.map((issue) => issue.path)).toEqual(["contextWindowTokens"]);
});

test("the cap reads as a sentence", () => {
  expect(capText({ tokenBudget: 500, windowMinutes: 90 })).toBe("500 tokens per 1 h 30 min");
});
