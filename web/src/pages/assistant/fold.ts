import type { FieldChange } from "@/ui/diff";

/** A change that waits for the reader's decision, or what became of it. */
export type ConfirmCard = {
  toolCallId: string;
  toolName: string;
  effect: "mutate" | "destructive";
  summary: string;
  /** Absent once the proposal cannot be applied any more. */
  token: string | undefined;
  status: string;
  expiresAt: string;
  payload: unknown;
  diff: FieldChange[] | undefined;
  result: unknown;
  error: string | undefined;
  /** It failed because what it would change had changed; error says how. */
  outdated: boolean;
  /** What must happen before this can be applied; applying earlier is refused. */
  blocked: string | undefined;
};

/** A change that was made without asking, as the conversation's mode allows. */
export type AppliedCard = { toolCallId: string; toolName: string; summary: string; result: unknown; diff: FieldChange[] | undefined };

/** What the assistant wants to know before it goes on. */
export type QuestionCard = { question: string; options: { label: string; value: string }[]; allowFreeText: boolean };

export type Block =
  | { kind: "text"; key: string; text: string }
  | { kind: "question"; key: string; card: QuestionCard }
  | { kind: "tool"; key: string; toolName: string; status: "running" | "done" | "error" | "stopped"; input: unknown; output: unknown; errorText: string | undefined }
  | { kind: "confirm"; key: string; card: ConfirmCard }
  | { kind: "applied"; key: string; card: AppliedCard }
  | { kind: "decision"; key: string; decision: "apply" | "decline"; summary: string }
  | { kind: "notice"; key: string; text: string; tone: "quiet" | "warn" };

type Fields = Record<string, unknown>;

function record(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A diff is a list; entries without a path are dropped, an empty rest is no diff. */
export function readDiff(value: unknown): FieldChange[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const changes = value.flatMap((each): FieldChange[] => {
    const entry = record(each);
    if (typeof entry?.path !== "string") return [];
    return [{ path: entry.path, ...("before" in entry ? { before: entry.before } : {}), ...("after" in entry ? { after: entry.after } : {}) }];
  });
  return changes.length > 0 ? changes : undefined;
}

/** Recognises a confirm card in a tool's output; a malformed candidate is not a card. */
export function readConfirm(output: unknown, callId: string): ConfirmCard | undefined {
  const fields = record(output);
  if (fields?.__confirm !== true) return undefined;
  const { toolName, effect, summary, expiresAt } = fields;
  if (typeof toolName !== "string" || typeof summary !== "string" || typeof expiresAt !== "string" || Number.isNaN(Date.parse(expiresAt))) return undefined;
  if (effect !== "mutate" && effect !== "destructive") return undefined;
  const status = text(fields.status) ?? "awaiting_operator";
  const waiting = status === "awaiting_operator" || status === "proposed";
  const token = text(fields.token);
  if (waiting && !token) return undefined;
  return {
    toolCallId: text(fields.toolCallId) ?? callId,
    toolName,
    effect,
    summary,
    expiresAt,
    status,
    token: waiting ? token : undefined,
    payload: fields.payload,
    diff: readDiff(fields.diff),
    result: fields.result,
    error: text(fields.error),
    outdated: fields.outdated === true,
    blocked: text(fields.blocked) || undefined,
  };
}

/** Brings a card to the present state of its proposal, which may have been decided elsewhere. */
export function withState(card: ConfirmCard, now: { status: string; result?: unknown; error?: string | undefined; outdated?: boolean | undefined } | undefined): ConfirmCard {
  if (!now || now.status === card.status || (now.status === "proposed" && card.status === "awaiting_operator")) return card;
  const waiting = now.status === "proposed";
  return { ...card, status: now.status, token: waiting ? card.token : undefined, result: now.result ?? card.result, error: now.error ?? card.error, outdated: now.outdated ?? card.outdated };
}

/** Whether a card waits for a decision that can still be made. */
export function isOpen(card: ConfirmCard, at: Date): boolean {
  return (card.status === "awaiting_operator" || card.status === "proposed") && card.token !== undefined && new Date(card.expiresAt) > at;
}

/** Recognises the report of a change that was applied by itself. */
export function readApplied(output: unknown, callId: string): AppliedCard | undefined {
  const fields = record(output);
  if (fields?.__applied !== true) return undefined;
  const { toolName, summary } = fields;
  if (typeof toolName !== "string" || typeof summary !== "string") return undefined;
  return { toolCallId: text(fields.toolCallId) ?? callId, toolName, summary, result: fields.result, diff: readDiff(fields.diff) };
}

/** The tool that asks the person; nobody else's output can become a question. */
const askTool = /^ai[._]askOperator$/;

/** Recognises a question card; options without both texts are dropped. */
export function readQuestion(output: unknown): QuestionCard | undefined {
  const fields = record(output);
  if (fields?.__question !== true || typeof fields.question !== "string" || !Array.isArray(fields.options)) return undefined;
  const options = fields.options.flatMap((each) => {
    const option = record(each);
    return typeof option?.label === "string" && typeof option.value === "string" ? [{ label: option.label, value: option.value }] : [];
  });
  return options.length > 0 ? { question: fields.question, options, allowFreeText: fields.allowFreeText === true } : undefined;
}

function toolBlock(part: Fields, key: string, settled: boolean): Block {
  const type = text(part.type) ?? "";
  const toolName = text(part.toolName) ?? (type.startsWith("tool-") ? type.slice("tool-".length) : "tool");
  const callId = text(part.toolCallId) ?? key;
  const state = text(part.state);
  if (state === "output-available") {
    const confirm = readConfirm(part.output, callId);
    if (confirm) return { kind: "confirm", key: callId, card: confirm };
    const applied = readApplied(part.output, callId);
    if (applied) return { kind: "applied", key: callId, card: applied };
    const question = askTool.test(toolName) ? readQuestion(part.output) : undefined;
    if (question) return { kind: "question", key: callId, card: question };
  }
  const status = state === "output-available" ? "done" : state === "output-error" || state === "output-denied" ? "error" : settled ? "stopped" : "running";
  return { kind: "tool", key: callId, toolName, status, input: part.input, output: part.output, errorText: text(part.errorText) };
}

/**
 * Lays the parts of a message out in their order; neighbouring texts become one.
 * settled: nothing more will come, so what still runs has been stopped.
 */
export function blocksOf(message: { id: string; parts: readonly unknown[]; metadata?: unknown }, settled = false): Block[] {
  const blocks: Block[] = [];
  message.parts.forEach((raw, i) => {
    const part = record(raw);
    const type = text(part?.type);
    if (!part || type === undefined) return;
    const key = `${message.id}-${i}`;
    if (type === "text") {
      const content = text(part.text) ?? "";
      const last = blocks.at(-1);
      if (last?.kind === "text") last.text += content;
      else if (content !== "") blocks.push({ kind: "text", key, text: content });
    } else if (type === "dynamic-tool" || type.startsWith("tool-")) {
      blocks.push(toolBlock(part, key, settled));
    } else if (type === "data-decision") {
      const data = record(part.data);
      blocks.push({ kind: "decision", key, decision: data?.kind === "apply" ? "apply" : "decline", summary: text(data?.summary) ?? "" });
    } else if (type === "data-notice") {
      const data = record(part.data);
      const notice = text(data?.text) ?? text(data?.message) ?? text(part.data);
      if (notice) blocks.push({ kind: "notice", key, text: notice, tone: "warn" });
    }
  });
  const metadata = record(message.metadata);
  const failure = text(metadata?.error);
  if (failure) blocks.push({ kind: "notice", key: `${message.id}-error`, text: failure, tone: "warn" });
  else if (metadata?.running === true) blocks.push({ kind: "notice", key: `${message.id}-broken`, text: "This answer broke off before it was complete.", tone: "warn" });
  else if (metadata?.stopped === true) blocks.push({ kind: "notice", key: `${message.id}-stopped`, text: "Stopped before it was complete.", tone: "quiet" });
  return blocks;
}

/** Whether to show that the assistant is busy: not during text or a running tool. */
export function isWaiting(streaming: boolean, last: Block | undefined): boolean {
  if (!streaming) return false;
  if (!last) return true;
  if (last.kind === "text") return false;
  return !(last.kind === "tool" && last.status === "running");
}
