import { expect, test } from "vitest";
import { countTones, headline, sourcesText, toneOf } from "./tones";

const system = (...tones: ("error" | "warn" | "info")[]) => ({ signals: tones.map((tone) => ({ tone })) });

test("the loudest signal counts, whatever its place in the list", () => {
  expect(toneOf(system("info", "warn", "error"))).toBe("error");
  expect(toneOf(system("info", "warn"))).toBe("warn");
  expect(toneOf({ signals: null })).toBe("info");
  expect(countTones([system("error"), system("info", "error"), system("warn", "info"), system("info")])).toEqual({ error: 2, warn: 1, info: 1 });
});

test("the headline names trouble first", () => {
  expect(headline({ error: 1, warn: 0, info: 3 }, 0, 9, true)).toBe("1 system needs attention");
  expect(headline({ error: 2, warn: 3, info: 0 }, 4, 9, false)).toBe("5 systems need attention");
});

test("a system that is only being worked on does not make trouble", () => {
  expect(headline({ error: 0, warn: 0, info: 1 }, 9, 9, true)).toBe("All systems healthy");
  expect(headline({ error: 0, warn: 0, info: 1 }, 8, 9, true)).toBe("Nothing needs attention");
});

test("nothing is called healthy while a source could not be read", () => {
  expect(headline({ error: 0, warn: 0, info: 0 }, 9, 9, false)).toBe("Dashboard");
  expect(headline({ error: 0, warn: 0, info: 0 }, 0, 0, true)).toBe("Dashboard");
});

test("sources have names that people know", () => {
  expect(sourcesText(["healthcheck"])).toBe("health checks");
  expect(sourcesText(["healthcheck", "incident", "slo"])).toBe("health checks, incidents and slo");
  expect(sourcesText([])).toBe("");
});
