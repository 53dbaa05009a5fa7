import { DefaultChatTransport, isDynamicToolUIPart, isTextUIPart, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startModel, type FakeModel } from "./model";
import { admin, baseUrl, ensureAdmin } from "./support";

// The npm client of the AI SDK, as it is published, against the running server:
// what it cannot read or warns about is a fault of ours.

let model: FakeModel;
let cookie: string;
let connectionId: string;
const spoken: unknown[][] = [];

async function rest<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${baseUrl}/rest/ai/${path}`, { method, headers: { cookie, "content-type": "application/json" }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

beforeAll(async () => {
  await ensureAdmin();
  const answer = await fetch(`${baseUrl}/api/auth/login`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ email: admin.email, password: admin.password }) });
  cookie = answer.headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
  expect(cookie).not.toBe("");
  model = await startModel();
  ({ id: connectionId } = await rest<{ id: string }>("POST", "createConnection", { name: "Interop", baseUrl: model.baseUrl, apiKey: "sk-interop", defaultModel: "fake-small" }));
});

afterAll(async () => {
  await rest("DELETE", "deleteConnection", { id: connectionId });
  model.close();
});

beforeEach(() => {
  spoken.length = 0;
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockImplementation((...words) => void spoken.push(words));
});

afterEach(() => {
  vi.restoreAllMocks();
  expect(spoken).toEqual([]);
});

const newConversation = async () => (await rest<{ id: string }>("POST", "createConversation", { integrationId: connectionId })).id;

type Read = { message: UIMessage | undefined; states: UIMessage[]; chunks: UIMessageChunk[]; errors: unknown[] };

/** The transport that a page of somebody else would write: only new things are sent. */
function transport(conversationId: string, body: Record<string, unknown>) {
  return new DefaultChatTransport<UIMessage>({
    api: `${baseUrl}/api/ai/chat`,
    headers: { cookie },
    prepareSendMessagesRequest: () => ({ body: { conversationId, connectionId, ...body } }),
  });
}

/** Sends one turn and reads it to its end, as the client's own chat does. */
async function turn(conversationId: string, body: Record<string, unknown>, options: { signal?: AbortSignal; onState?: (message: UIMessage) => void } = {}): Promise<Read> {
  const text = typeof body.message === "string" ? body.message : "";
  const stream = await transport(conversationId, body).sendMessages({
    trigger: "submit-message",
    chatId: conversationId,
    messageId: undefined,
    messages: [{ id: "u", role: "user", parts: [{ type: "text", text }] }],
    abortSignal: options.signal,
  });
  return read(stream, options.onState);
}

async function read(stream: ReadableStream<UIMessageChunk>, onState?: (message: UIMessage) => void): Promise<Read> {
  const out: Read = { message: undefined, states: [], chunks: [], errors: [] };
  const seen = stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        out.chunks.push(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  for await (const message of readUIMessageStream({ stream: seen, onError: (error) => void out.errors.push(error) })) {
    out.message = message;
    out.states.push(structuredClone(message));
    onState?.(message);
  }
  return out;
}

const textOf = (message: UIMessage | undefined) => message?.parts.filter(isTextUIPart).map((part) => part.text).join("") ?? "";
const toolsOf = (message: UIMessage | undefined) => message?.parts.filter(isDynamicToolUIPart) ?? [];
const typesOf = (got: Read) => got.chunks.map((chunk) => chunk.type);

/** Whatever a turn holds, it opens and closes in order. */
function expectWellFormed(got: Read, end: "finish" | "abort" | "error" = "finish") {
  const types = typesOf(got);
  expect(types[0]).toBe("start");
  expect(types.at(-1)).toBe(end);
  expect(types.filter((type) => type === "start")).toHaveLength(1);
  expect(types.filter((type) => type === "start-step").length).toBe(types.filter((type) => type === "finish-step").length);
  const open = new Set<string>();
  for (const chunk of got.chunks) {
    if (chunk.type === "text-start") open.add(chunk.id);
    if (chunk.type === "text-delta") expect(open.has(chunk.id)).toBe(true);
    if (chunk.type === "text-end") open.delete(chunk.id);
  }
  expect([...open]).toEqual([]);
}

test("text streams in and is what the server stores", async () => {
  const id = await newConversation();
  model.next(({ say }) => {
    say("All **quiet**");
    say(", grüße 👋 שלום.");
  });
  const got = await turn(id, { message: "Hello" });
  expectWellFormed(got);
  expect(got.errors).toEqual([]);
  expect(textOf(got.message)).toBe("All **quiet**, grüße 👋 שלום.");
  expect(got.states.length).toBeGreaterThan(1);
  const stored = await rest<{ messages: UIMessage[] }>("GET", `getConversation?id=${id}`);
  expect(stored.messages.map((each) => each.role)).toEqual(["user", "assistant"]);
  expect(stored.messages[1]?.id).toBe(got.message?.id);
  expect(textOf(stored.messages[1])).toBe(textOf(got.message));
});

test("reads run through all their states, several in one step too", async () => {
  const id = await newConversation();
  model.next(({ say, call }) => {
    say("Let me look.");
    call("catalog_listSystems", {});
    call("system_issues", {});
  });
  model.next(({ say }) => say("Nothing is wrong."));
  const got = await turn(id, { message: "How are we?" });
  expectWellFormed(got);
  expect(got.errors).toEqual([]);
  expect(toolsOf(got.message).map((part) => [part.toolName, part.state])).toEqual([
    ["catalog.listSystems", "output-available"],
    ["system.issues", "output-available"],
  ]);
  expect(got.message?.parts.map((part) => part.type)).toEqual(["step-start", "text", "dynamic-tool", "dynamic-tool", "step-start", "text"]);
  const passed = new Set(got.states.flatMap((state) => toolsOf(state).map((part) => part.state)));
  expect(passed).toContain("input-available");
});

test("a refused call is the tool's error, and the turn goes on", async () => {
  const id = await newConversation();
  model.next(({ call }) => {
    call("catalog_updateSystem", { id: "01900000-0000-7000-8000-000000000000", name: "x" });
    call("catalog_createSystem", { name: "", odd: 1 });
    call("nothing_likeThis", {});
  });
  model.next(({ say }) => say("That did not work."));
  const got = await turn(id, { message: "Rename it" });
  expectWellFormed(got);
  expect(toolsOf(got.message).map((part) => part.state)).toEqual(["output-error", "output-error", "output-error"]);
  for (const part of toolsOf(got.message)) expect(part.errorText).toBeTruthy();
  expect(textOf(got.message)).toBe("That did not work.");
});

test("a change arrives as a card with its token, which applies once; the decision is a turn of its own", async () => {
  const id = await newConversation();
  model.next(({ call }) => call("catalog_createSystem", { name: "Interop shop" }));
  model.next(({ say }) => say("I wait."));
  const got = await turn(id, { message: "Add Interop shop", timeZone: "Europe/Berlin" });
  expectWellFormed(got);
  const card = toolsOf(got.message)[0]?.output as { __confirm: boolean; token: string; summary: string; effect: string; expiresAt: string };
  expect(card).toMatchObject({ __confirm: true, effect: "mutate" });
  expect(new Date(card.expiresAt).getTime()).toBeGreaterThan(Date.now());

  await expect(turn(id, { decision: { token: card.token, kind: "apply" } })).rejects.toThrow(/not applied/);
  const { result } = await rest<{ result: { id: string } }>("POST", "applyTool", { token: card.token });
  await expect(rest("POST", "applyTool", { token: card.token })).rejects.toThrow();
  model.next(({ say }) => say("It exists now."));
  const told = await turn(id, { decision: { token: card.token, kind: "apply" } });
  expectWellFormed(told);
  expect(textOf(told.message)).toBe("It exists now.");

  model.next(({ call }) => call("catalog_deleteSystem", { id: result.id }));
  model.next(({ say }) => say("I wait."));
  const removal = toolsOf((await turn(id, { message: "Delete it" })).message)[0]?.output as { token: string; effect: string };
  expect(removal.effect).toBe("destructive");
  model.next(({ say }) => say("It stays."));
  expect(textOf((await turn(id, { decision: { token: removal.token, kind: "decline" } })).message)).toBe("It stays.");
  await expect(rest("POST", "applyTool", { token: removal.token })).rejects.toThrow();
  const cleanup = await fetch(`${baseUrl}/rest/catalog/deleteSystem`, { method: "DELETE", headers: { cookie, "content-type": "application/json" }, body: JSON.stringify({ id: result.id }) });
  expect(cleanup.ok).toBe(true);
});

test("a question ends the turn with its choices", async () => {
  const id = await newConversation();
  model.next(({ call }) => call("ai_askOperator", { question: "Which one?", options: [{ label: "A" }, { label: "B" }] }));
  const got = await turn(id, { message: "Restart it" });
  expectWellFormed(got);
  expect(toolsOf(got.message)[0]?.output).toMatchObject({ __question: true, options: [{ label: "A", value: "A" }, { label: "B", value: "B" }] });
});

test("a provider's failure is one error with its own text, and the next turn works", async () => {
  const id = await newConversation();
  model.next({ status: 402, body: { error: { message: "Please pay first." } } });
  const failed = await turn(id, { message: "Hello" });
  expect(typesOf(failed).at(-1)).toBe("error");
  expect(failed.errors).toHaveLength(1);
  expect(String(failed.errors[0])).toMatch(/HTTP 402.*Please pay first/);
  model.next(({ say }) => say("Paid."));
  const next = await turn(id, { message: "And now?" });
  expectWellFormed(next);
  expect(textOf(next.message)).toBe("Paid.");
});

test("what is refused before the stream is an error of the request, with readable text", async () => {
  const id = await newConversation();
  await expect(turn(id, { message: " " })).rejects.toThrow(/"error":".*blank/);
  await expect(turn("01900000-0000-7000-8000-000000000000", { message: "Hello" })).rejects.toThrow(/does not exist/);
  await expect(turn(id, { message: "x", connectionId: "gone" })).rejects.toThrow(/connection/);
  const outside = new DefaultChatTransport<UIMessage>({ api: `${baseUrl}/api/ai/chat`, prepareSendMessagesRequest: () => ({ body: { conversationId: id, connectionId, message: "Hello" } }) });
  await expect(outside.sendMessages({ trigger: "submit-message", chatId: id, messageId: undefined, messages: [], abortSignal: undefined })).rejects.toThrow(/Authentication required/);
});

test("cancelling reaches the provider, keeps what arrived and leaves the conversation usable", async () => {
  const id = await newConversation();
  let hungUp = false;
  model.next(async ({ say, closed }) => {
    say("The first half");
    await closed;
    hungUp = true;
  });
  const stop = new AbortController();
  const states: string[] = [];
  await turn(id, { message: "Tell me" }, {
    signal: stop.signal,
    onState: (message) => {
      states.push(textOf(message));
      if (textOf(message) === "The first half") stop.abort();
    },
  }).catch((error: unknown) => expect((error as Error).name).toBe("AbortError"));
  expect(states.at(-1)).toBe("The first half");
  await expect.poll(() => hungUp, { timeout: 20_000 }).toBe(true);
  await expect
    .poll(async () => {
      const stored = await rest<{ messages: (UIMessage & { metadata?: { stopped?: boolean; running?: boolean } })[] }>("GET", `getConversation?id=${id}`);
      const last = stored.messages.at(-1);
      return [textOf(last), last?.metadata?.stopped];
    }, { timeout: 20_000 })
    .toEqual(["The first half", true]);
  model.next(({ say }) => say("The second half."));
  expect(textOf((await turn(id, { message: "Go on" })).message)).toBe("The second half.");
});

test("a running turn is resumed from its beginning by the client's own reconnect; none gives nothing", async () => {
  const id = await newConversation();
  const reconnect = () => transport(id, {}).reconnectToStream({ chatId: id });
  expect(await reconnect()).toBeNull();
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  model.next(async ({ say }) => {
    say("One");
    await opened;
    say(" and two.");
  });
  let followed: Promise<Read> | undefined;
  const first = await turn(id, { message: "Count" }, {
    onState: (message) => {
      if (textOf(message) !== "One" || followed) return;
      followed = reconnect().then((stream) => {
        if (!stream) throw new Error("nothing to resume");
        return read(stream, (resumed) => {
          if (textOf(resumed) === "One") open();
        });
      });
    },
  });
  const second = await followed;
  if (!second) throw new Error("never reconnected");
  expectWellFormed(second);
  expect(second.errors).toEqual([]);
  expect(textOf(second.message)).toBe("One and two.");
  expect(second.message?.id).toBe(first.message?.id);
  expect(textOf(first.message)).toBe("One and two.");
});

test("two conversations at once do not mix", async () => {
  const [one, two] = await Promise.all([newConversation(), newConversation()]);
  let meet: () => void = () => undefined;
  const both = new Promise<void>((resolve) => (meet = resolve));
  let waiting = 0;
  // Which request comes first is not known, so each answer repeats its own question.
  for (let i = 0; i < 2; i++) {
    model.next(async ({ say, body }) => {
      const question = /parallel (one|two)/.exec(body)?.[1] ?? "none";
      say(`This is ${question}`);
      if (++waiting === 2) meet();
      await both;
      say(`, still ${question}.`);
    });
  }
  const [first, second] = await Promise.all([turn(one, { message: "parallel one" }), turn(two, { message: "parallel two" })]);
  expectWellFormed(first);
  expectWellFormed(second);
  expect(textOf(first.message)).toBe("This is one, still one.");
  expect(textOf(second.message)).toBe("This is two, still two.");
});
