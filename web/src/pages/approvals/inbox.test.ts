import { expect, test } from "vitest";
import type { Call } from "./api";
import { mergeSeen, phaseOf } from "./inbox";
import { timeLeft, whoName } from "./words";

const now = new Date("2026-07-01T12:00:00Z");
const make = (id: string, more: Partial<Call> = {}): Call => ({
  toolCallId: id,
  toolName: "catalog.createSystem",
  effect: "mutate",
  status: "proposed",
  transport: "mcp",
  argsHash: "",
  requestedBy: { kind: "user", id: "u" },
  mine: false,
  createdAt: "2026-07-01T11:00:00Z",
  expiresAt: "2026-07-01T13:00:00Z",
  ...more,
});

test("cards keep their places when others come and go", () => {
  const seen = [make("a"), make("b")];
  const merged = mergeSeen(seen, [make("c"), make("b", { summary: "newer" })]);
  expect(merged.map((call) => call.toolCallId)).toEqual(["a", "b", "c"]);
  expect(merged[1]?.summary).toBe("newer");
});

test("a card in the inbox is open until its time is over", () => {
  expect(phaseOf(make("a"), true, undefined, undefined, now)).toBe("open");
  expect(phaseOf(make("a", { expiresAt: "2026-07-01T12:00:00Z" }), true, undefined, undefined, now)).toBe("expired");
});

test("a refused decision leaves a waiting card open, and tells the end of one that does not wait", () => {
  const failed = { state: "failed", message: "no" } as const;
  expect(phaseOf(make("a"), true, failed, undefined, now)).toBe("open");
  expect(phaseOf(make("a"), false, failed, make("a", { status: "failed" }), now)).toBe("failed");
});

test("decided elsewhere: the log says how, and without the log nothing is claimed", () => {
  expect(phaseOf(make("a"), false, undefined, make("a", { status: "applied" }), now)).toBe("applied");
  expect(phaseOf(make("a"), false, undefined, make("a", { status: "rejected" }), now)).toBe("declined");
  expect(phaseOf(make("a"), false, undefined, make("a", { status: "applying" }), now)).toBe("applying");
  expect(phaseOf(make("a"), false, undefined, undefined, now)).toBe("gone");
  expect(phaseOf(make("a"), false, undefined, undefined, new Date("2026-07-01T13:00:01Z"))).toBe("expired");
});

test("one that is out of date says so, here and when others see it", () => {
  const old = make("a", { status: "failed", outdated: true });
  expect(phaseOf(old, false, undefined, undefined, now)).toBe("outdated");
  expect(phaseOf(make("a"), false, { state: "failed", message: "no" }, old, now)).toBe("outdated");
  expect(phaseOf(make("a"), false, undefined, make("a", { status: "failed" }), now)).toBe("failed");
});

test("what the reader did here is shown before the server says so", () => {
  expect(phaseOf(make("a"), true, { state: "applying" }, undefined, now)).toBe("busy");
  expect(phaseOf(make("a"), true, { state: "applied", result: null }, undefined, now)).toBe("applied");
  expect(phaseOf(make("a"), true, { state: "declined" }, undefined, now)).toBe("declined");
});

test("names and time left are written for people", () => {
  expect(whoName({ kind: "user", id: "u", name: "Ada" })).toBe("Ada");
  expect(whoName({ kind: "user", id: "u", name: "Ada" }, true)).toBe("You");
  expect(whoName({ kind: "application", id: "u" })).toBe("A deleted application");
  expect(timeLeft(new Date("2026-07-02T11:30:00Z"), now)).toBe("23 h 30 min");
  expect(timeLeft(new Date("2026-07-01T12:09:41Z"), now)).toBe("9:41");
});
