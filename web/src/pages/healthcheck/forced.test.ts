import { expect, test } from "vitest";
import { forcedText, forcing } from "./forced";

const override = { source: "incident", sourceId: "1", title: "Payments down", status: "unhealthy" };

test("a forced status is explained with the incident's title", () => {
  expect(forcedText(forcing({ status: "unhealthy", override }))).toBe("forced by incident: \u2068Payments down\u2069");
});

test("without access to the incident only its kind is said", () => {
  expect(forcedText(forcing({ status: "degraded", override: { source: "incident", status: "degraded" } }))).toBe("forced by incident");
});

test("an override that checks outdo explains nothing", () => {
  expect(forcedText(forcing({ status: "unhealthy", override: { ...override, status: "degraded" } }))).toBeUndefined();
  expect(forcedText(forcing({ status: "healthy", override: null }))).toBeUndefined();
  expect(forcedText(forcing(undefined))).toBeUndefined();
});
