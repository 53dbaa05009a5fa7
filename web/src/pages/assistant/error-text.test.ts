import { expect, test } from "vitest";
import { chatErrorText } from "./error-text";

test("the real text of a refusal is shown", () => {
  expect(chatErrorText(new Error('{"error":"Spend cap reached"}'))).toBe("Spend cap reached");
  expect(chatErrorText(new Error('{"code":"not_found","message":"No such conversation"}'))).toBe("No such conversation");
  expect(chatErrorText(new Error("HTTP 503 from the provider"))).toBe("HTTP 503 from the provider");
});

test("pages of proxies and cut connections are explained instead", () => {
  expect(chatErrorText(new Error("<html>"))).toBe("The assistant did not answer.");
  expect(chatErrorText(new TypeError("terminated"))).toMatch(/connection/);
  expect(chatErrorText(new Error("{broken"))).toBe("{broken");
});
