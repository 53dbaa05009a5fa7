import { expect, test } from "vitest";
import { ApiError, refusalText } from "./errors";

test("a refusal tells every fault with its field", () => {
  const issues = [
    { path: "name", message: "is taken" },
    { path: "", message: "is too large" },
  ];
  expect(refusalText(new ApiError({ code: "invalid", message: "Invalid input", status: 400, issues }))).toBe("Invalid input name: is taken; is too large");
  expect(refusalText(new ApiError({ code: "conflict", message: "Taken", status: 409 }))).toBe("Taken");
  expect(refusalText(new Error("odd"))).toBe("odd");
});
