import { expect, test } from "vitest";
import { chatError } from "./error-text";

test("a refusal's own words are shown, not its wrapping", () => {
  expect(chatError(new Error('{"code":"CONFLICT","message":"The change is not applied: it is expired","error":"x"}'))).toEqual({ text: "x" });
  expect(chatError(new Error('{"message":"Spend cap reached"}'))).toEqual({ text: "Spend cap reached" });
  expect(chatError(new Error("{odd"))).toEqual({ text: "The assistant did not answer." });
  expect(chatError(new Error("<html>502</html>")).text).toBe("The assistant did not answer.");
  expect(chatError(new Error("Plain words")).text).toBe("Plain words");
});

test("a lost connection is no riddle", () => {
  expect(chatError(new TypeError("Failed to fetch")).text).toMatch(/connection to Checkstack was lost/);
});

test("a provider's failure is told in words, with its own text and the whole behind it", () => {
  const raw = 'The model provider answered with HTTP 401: {"error":{"message":"This key has expired.","code":"k"}}';
  expect(chatError(raw)).toEqual({ text: "The model provider refused this connection's key (HTTP 401).", said: "This key has expired.", raw });
  expect(chatError("The model provider answered HTTP 503: <html>oops</html>")).toEqual({ text: "The model provider failed (HTTP 503).", raw: "The model provider answered HTTP 503: <html>oops</html>" });
  expect(chatError("HTTP 429: slow down")).toMatchObject({ said: "slow down" });
  expect(chatError("HTTP 302: odd")).toEqual({ text: "HTTP 302: odd" });
});
