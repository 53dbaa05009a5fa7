import { expect, test } from "vitest";
import { monitorSentence } from "./sentence";

test("an address becomes the sentence the assistant understands", () => {
  expect(monitorSentence("http://127.0.0.1:8080/health")?.text).toBe('monitor http://127.0.0.1:8080/health every 60 seconds as "127.0.0.1:8080"');
});

test("a missing scheme means https", () => {
  expect(monitorSentence("example.com/x")?.url).toBe("https://example.com/x");
});

test("what is not a web address is refused", () => {
  expect(monitorSentence("")).toBeUndefined();
  expect(monitorSentence("not an address")).toBeUndefined();
  expect(monitorSentence("ftp://example.com")).toBeUndefined();
});
