import { expect, test } from "vitest";
import { blocksOf } from "./fold";
import { settledMessages, storedMessages, type Stored } from "./stored";

type Message = NonNullable<Stored["messages"]>[number];

const answer = (id: string, metadata?: Message["metadata"]): Message => ({ id, role: "assistant", createdAt: "2026-07-01T00:00:00Z", parts: [{ type: "text", text: "Done." }], ...(metadata ? { metadata } : {}) });
const answers = { kind: "apply" as const, toolCallId: "c", summary: "Create a system" };

test("a decision stands before the answer to it", () => {
  const shown = storedMessages({ messages: [answer("a"), answer("b", { answers })] });
  expect(shown.map((message) => [message.id, message.role])).toEqual([
    ["a", "assistant"],
    ["b-decision", "user"],
    ["b", "assistant"],
  ]);
  const [, decision] = shown;
  expect(decision && blocksOf(decision)).toEqual([{ kind: "decision", key: "b-decision-0", decision: "apply", summary: "Create a system" }]);
});

test("a decision stays where its answer is still being written", () => {
  const conversation = { running: true } as Stored["conversation"];
  expect(settledMessages({ conversation, messages: [answer("a"), answer("b", { answers, running: true })] }).map((message) => message.id)).toEqual(["a", "b-decision"]);
});
