import { expect, test } from "vitest";
import { blocksOf, isOpen, isWaiting, readConfirm, readDiff, readQuestion, withState } from "./fold";

const confirm = {
  __confirm: true,
  status: "awaiting_operator",
  toolName: "catalog.createSystem",
  effect: "mutate",
  summary: "Create system Payments",
  token: "propose:1.abc",
  payload: { name: "Payments" },
  expiresAt: "2026-01-01T00:10:00Z",
  toolCallId: "row-1",
};
const tool = (state: string, extra: object = {}) => ({ type: "dynamic-tool", toolName: "system.issues", toolCallId: "c1", state, ...extra });

test("parts keep their order, neighbouring texts join", () => {
  const blocks = blocksOf({
    id: "m",
    parts: [{ type: "step-start" }, { type: "text", text: "Look" }, { type: "text", text: "ing." }, tool("output-available", { output: { systems: [] } }), { type: "step-start" }, { type: "text", text: "Done." }],
  });
  expect(blocks.map((block) => block.kind)).toEqual(["text", "tool", "text"]);
  expect(blocks[0]).toMatchObject({ text: "Looking." });
});

test("a tool line follows its state", () => {
  const status = (state: string) => {
    const [block] = blocksOf({ id: "m", parts: [tool(state, { errorText: "no" })] });
    return block?.kind === "tool" ? block.status : undefined;
  };
  expect(status("input-streaming")).toBe("running");
  expect(status("input-available")).toBe("running");
  expect(status("output-available")).toBe("done");
  expect(status("output-error")).toBe("error");
});

test("a card replaces its tool line", () => {
  const [block] = blocksOf({ id: "m", parts: [tool("output-available", { output: confirm })] });
  expect(block).toMatchObject({ kind: "confirm", key: "c1", card: { toolCallId: "row-1", token: "propose:1.abc" } });
});

test("a malformed candidate is not a card", () => {
  expect(readConfirm({ ...confirm, token: undefined }, "c")).toBeUndefined();
  expect(readConfirm({ ...confirm, effect: "read" }, "c")).toBeUndefined();
  expect(readConfirm({ ...confirm, __confirm: "true" }, "c")).toBeUndefined();
  expect(readConfirm([confirm], "c")).toBeUndefined();
  expect(readConfirm({ ...confirm, expiresAt: "soon" }, "c")).toBeUndefined();
});

test("a decided card needs no token and never offers one", () => {
  expect(readConfirm({ ...confirm, status: "applied" }, "c")).toMatchObject({ status: "applied", token: undefined });
  expect(readConfirm({ ...confirm, status: "expired", token: undefined }, "c")).toMatchObject({ status: "expired" });
});

test("a diff drops entries without a path and tells absent from null", () => {
  expect(readDiff([{ path: "a", after: 1 }, { before: 2 }, { path: "b", before: null }])).toEqual([
    { path: "a", after: 1 },
    { path: "b", before: null },
  ]);
  expect(readDiff([])).toBeUndefined();
  expect(readDiff("x")).toBeUndefined();
});

test("the waiting line shows before the first part and after finished steps only", () => {
  const last = (parts: unknown[]) => blocksOf({ id: "m", parts }).at(-1);
  expect(isWaiting(false, undefined)).toBe(false);
  expect(isWaiting(true, undefined)).toBe(true);
  expect(isWaiting(true, last([{ type: "text", text: "x" }]))).toBe(false);
  expect(isWaiting(true, last([tool("input-available")]))).toBe(false);
  expect(isWaiting(true, last([tool("output-available", { output: 1 })]))).toBe(true);
});

test("why a stored turn ended early is told after what arrived", () => {
  expect(blocksOf({ id: "m", parts: [{ type: "text", text: "Half" }], metadata: { error: "HTTP 500" } }).map((block) => block.kind === "notice" || block.kind === "text" ? block.text : "")).toEqual(["Half", "HTTP 500"]);
  expect(blocksOf({ id: "m", parts: [], metadata: { stopped: true } })[0]).toMatchObject({ kind: "notice" });
});

test("odd parts never throw", () => {
  expect(blocksOf({ id: "m", parts: [null, 1, {}, { type: "unknown" }, { type: "text" }, { type: "dynamic-tool" }] }).map((block) => block.kind)).toEqual(["tool"]);
});

test("a decision made elsewhere takes the token and brings the outcome", () => {
  const card = readConfirm({ ...confirm, blocked: "Create the system first." }, "c1");
  if (!card) throw new Error("not a card");
  expect(card.blocked).toBe("Create the system first.");
  expect(withState(card, undefined)).toBe(card);
  expect(withState(card, { status: "proposed" })).toBe(card);
  expect(withState(card, { status: "applied", result: { id: "s1" } })).toMatchObject({ status: "applied", token: undefined, result: { id: "s1" } });
  expect(withState(card, { status: "failed", error: "Gone." })).toMatchObject({ status: "failed", error: "Gone." });
});

test("a card is open until it is decided or too old", () => {
  const card = readConfirm(confirm, "c1");
  if (!card) throw new Error("not a card");
  expect(isOpen(card, new Date("2026-01-01T00:09:59Z"))).toBe(true);
  expect(isOpen(card, new Date("2026-01-01T00:10:00Z"))).toBe(false);
  expect(isOpen({ ...card, status: "rejected" }, new Date("2026-01-01T00:00:00Z"))).toBe(false);
});

const question = { __question: true, question: "Which one?", options: [{ label: "A", value: "use A" }, { label: 3 }, null], allowFreeText: "yes" };

test("a question card takes whole options only, and free text only when that is exactly true", () => {
  expect(readQuestion(question)).toEqual({ question: "Which one?", options: [{ label: "A", value: "use A" }], allowFreeText: false });
  expect(readQuestion({ ...question, allowFreeText: true })).toMatchObject({ allowFreeText: true });
  expect(readQuestion({ ...question, options: [] })).toBeUndefined();
  expect(readQuestion({ ...question, __question: 1 })).toBeUndefined();
});

test("only the tool that asks can ask", () => {
  const kind = (toolName: string) => blocksOf({ id: "m", parts: [tool("output-available", { toolName, output: question })] })[0]?.kind;
  expect(kind("ai.askOperator")).toBe("question");
  expect(kind("ai_askOperator")).toBe("question");
  expect(kind("incident.get")).toBe("tool");
});

test("text that looks like a card stays text, and so does a card that is no output of a call", () => {
  const fake = JSON.stringify(confirm);
  expect(blocksOf({ id: "m", parts: [{ type: "text", text: fake }, { ...tool("input-available"), input: confirm }, { type: "data-card", data: confirm }, tool("output-available", { output: fake }), tool("output-available", { output: { data: confirm } })] }).map((block) => block.kind)).toEqual(["text", "tool", "tool", "tool"]);
});

test("what still ran when a turn ended is shown as stopped, not as running for ever", () => {
  const message = { id: "m", parts: [tool("input-available"), tool("output-available", { toolCallId: "c2", output: 1 })] };
  expect(blocksOf(message)).toMatchObject([{ status: "running" }, { status: "done" }]);
  expect(blocksOf(message, true)).toMatchObject([{ status: "stopped" }, { status: "done" }]);
});

test("an answer whose writer is gone says so", () => {
  expect(blocksOf({ id: "m", parts: [{ type: "text", text: "Half" }], metadata: { running: true } }, true).at(-1)).toMatchObject({ kind: "notice", tone: "warn" });
});
