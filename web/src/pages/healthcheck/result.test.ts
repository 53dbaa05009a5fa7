import { expect, test } from "vitest";
import { readResult } from "./result";

test("a run's detail is laid out by collector with its assertions", () => {
  const result = readResult({
    connected: true,
    timings: { dnsMs: 3, note: "x" },
    collectors: {
      "1": {
        _collectorId: "healthcheck-http.request",
        statusCode: 503,
        responseTimeMs: 2340,
        success: false,
        _assertions: [{ field: "statusCode", operator: "equals", value: 200, passed: false, actual: "503", message: "statusCode: expected to equal 200, got 503" }],
      },
    },
  });
  expect(result.timings).toEqual([["DNS", 3]]);
  expect(result.collectors[0]).toMatchObject({
    name: "request",
    fields: [["Status code", "503"], ["Response time", "2.3 s"], ["Success", "no"]],
    outcomes: [{ text: "Status code equals 200", passed: false, actual: "503" }],
  });
});

test("odd data never throws", () => {
  for (const odd of [undefined, null, 1, "x", [], { collectors: [] }, { collectors: { a: null } }, { collectors: { a: { _assertions: [null, 1] } } }]) {
    expect(() => readResult(odd)).not.toThrow();
  }
});
