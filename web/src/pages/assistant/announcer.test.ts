import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { spokenAnswer } from "./announcer";

const answer = (...parts: unknown[]) => ({ id: "m", role: "assistant", parts }) as UIMessage;
const output = (toolName: string, value: unknown) => ({ type: "dynamic-tool", toolName, toolCallId: toolName, state: "output-available", output: value });

test("a finished answer is told once, with what it waits for", () => {
  const confirm = { __confirm: true, toolName: "catalog.deleteSystem", effect: "destructive", summary: "Delete Shop", token: "t", expiresAt: "2026-01-01T00:00:00Z" };
  expect(spokenAnswer(answer({ type: "text", text: "I looked." }, output("catalog.deleteSystem", confirm)))).toBe("I looked. A change that cannot be undone needs your approval: Delete Shop.");
  expect(spokenAnswer(answer(output("catalog.createSystem", { __applied: true, toolName: "catalog.createSystem", summary: "Create Shop" })))).toBe("Applied: Create Shop.");
  expect(spokenAnswer(answer(output("ai.askOperator", { __question: true, question: "Which?", options: [{ label: "A", value: "a" }, { label: "B", value: "b" }] })))).toBe("The assistant asks: Which? A, B.");
});

test("tool results are not read aloud, and a long answer is cut", () => {
  expect(spokenAnswer(answer(output("system.issues", { systems: ["secret"] })))).toBe("");
  expect(spokenAnswer(answer({ type: "text", text: "x".repeat(1000) }))).toHaveLength(401);
});

test("nothing is said of what the reader wrote", () => {
  expect(spokenAnswer({ id: "u", role: "user", parts: [{ type: "text", text: "Hello" }] })).toBe("");
  expect(spokenAnswer(undefined)).toBe("");
});
