import { expect, test } from "vitest";
import { needsValue, sentence, valueOf } from "./assertion";

test("numbers are sent as numbers, text as text", () => {
  expect(valueOf("200", "number", "equals")).toBe(200);
  expect(valueOf("200", "string", "equals")).toBe("200");
  expect(valueOf("3", "array", "lengthEquals")).toBe(3);
  expect(valueOf("abc", "number", "equals")).toBe("abc");
  expect(valueOf("", "string", "equals")).toBeUndefined();
});

test("operators that compare nothing take no value", () => {
  expect(needsValue("isTrue")).toBe(false);
  expect(needsValue("lessThan")).toBe(true);
});

test("an assertion reads as a sentence", () => {
  expect(sentence({ field: "statusCode", operator: "equals", value: 200 }, "Status code")).toBe("Status code equals 200");
  expect(sentence({ field: "body.$", jsonPath: "$.status", operator: "equals", value: "ok" }, "Body")).toBe("Body $.status equals “ok”");
  expect(sentence({ field: "success", operator: "isTrue" })).toBe("success is true");
});
