import { expect, test } from "vitest";
import { checkValues, defaultsOf, dropHidden, fieldsOf, humanize, isStandard, prune, type JsonSchema } from "./schema";

const http: JsonSchema = {
  type: "object",
  required: ["url", "method", "timeout"],
  properties: {
    timeout: { type: "integer", minimum: 100, default: 30000, description: "Limit in milliseconds" },
    method: { type: "string", enum: ["GET", "POST"], default: "GET" },
    url: { type: "string", format: "uri", maxLength: 2048 },
    token: { type: "string", "x-secret": true },
    internal: { type: "string", "x-hidden": true },
    headers: { type: "array", items: { $ref: "#/$defs/Header" } },
    hosts: { type: ["array", "null"], items: { type: "string" } },
  },
  $defs: { Header: { type: "object", required: ["name"], properties: { name: { type: "string" }, value: { type: "string" } } } },
};

test("each schema type finds its control, hidden ones none", () => {
  expect(Object.fromEntries(fieldsOf(http).map((field) => [field.name, field.kind]))).toEqual({
    url: "text",
    timeout: "duration",
    method: "enum",
    token: "secret",
    headers: "objects",
    hosts: "strings",
  });
});

test("required fields without a default come first", () => {
  const fields = fieldsOf(http);
  expect(fields[0]?.name).toBe("url");
  expect(fields.filter((field) => field.required).map((field) => field.name)).toEqual(["url"]);
});

test("x-unit wins over a guess from the name", () => {
  const [field] = fieldsOf({ type: "object", properties: { timeout: { type: "integer", "x-unit": "s" } } });
  expect(field).toMatchObject({ kind: "duration", base: "s" });
});

test("a new form starts with the declared defaults", () => {
  expect(defaultsOf(http)).toEqual({ timeout: 30000, method: "GET" });
});

test("blank values are left out, false and zero stay", () => {
  expect(prune({ a: "", b: 0, c: false, d: [{ x: "", y: 1 }], e: undefined })).toEqual({ b: 0, c: false, d: [{ y: 1 }] });
});

test("every fault is listed with its path", () => {
  const issues = checkValues(http, { timeout: 5, headers: [{ value: "x" }] }, "config");
  expect(issues).toEqual([
    { path: "config.url", message: "is required" },
    { path: "config.timeout", message: "must be at least 100 ms" },
    { path: "config.headers[0].name", message: "is required" },
  ]);
});

test("a URL must be complete, a template is left to the server", () => {
  expect(checkValues(http, { url: "example.com" }, "")).toHaveLength(1);
  expect(checkValues(http, { url: "https://{{ system.metadata.host }}/" }, "")).toHaveLength(0);
});

test("a stored secret need not be typed again", () => {
  const schema: JsonSchema = { type: "object", required: ["token"], properties: { token: { type: "string", "x-secret": true } } };
  expect(checkValues(schema, {}, "config", ["config.token"])).toEqual([]);
  expect(checkValues(schema, {}, "config")).toHaveLength(1);
});

test("a field that depends on a sibling appears, counts and is sent only with it", () => {
  const schema: JsonSchema = {
    type: "object",
    required: ["token"],
    properties: {
      scheme: { type: "string", enum: ["none", "token"], default: "none" },
      token: { type: "string", "x-secret": true, "x-visible-when": { field: "scheme", values: ["token"] } },
    },
  };
  expect(checkValues(schema, { scheme: "none" }, "")).toEqual([]);
  expect(checkValues(schema, { scheme: "token" }, "")).toHaveLength(1);
  expect(dropHidden(schema, { scheme: "none", token: "left over" })).toEqual({ scheme: "none" });
  expect(isStandard(schema, { token: "", scheme: "none" })).toBe(true);
  expect(isStandard(schema, { scheme: "token" })).toBe(false);
});

test("a duration names no unit in its label, since the unit can be changed", () => {
  const [field] = fieldsOf({ type: "object", properties: { timeout: { type: "integer", title: "Timeout (ms)", description: "How long it may take, in milliseconds." } } });
  expect(field).toMatchObject({ label: "Timeout", help: "How long it may take.", kind: "duration", base: "ms" });
});

test("names become readable labels", () => {
  expect(humanize("responseTimeMs")).toBe("Response time");
  expect(humanize("egressDenyCidrs")).toBe("Egress deny CIDRs");
  expect(humanize("proxyUrl")).toBe("Proxy URL");
});
