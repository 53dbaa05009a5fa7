import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a played answer may do with its stream. */
type Stage = {
  say: (text: string) => void;
  call: (name: string, input: unknown) => void;
  /** Resolves when the other side hung up. */
  closed: Promise<void>;
  /** The request that is answered. */
  body: string;
};
type Play = (stage: Stage) => Promise<void> | void;
type Refusal = { status: number; body: unknown };

export type FakeModel = {
  baseUrl: string;
  /** Queues the next answer: a stream to play, or a refusal. */
  next: (play: Play | Refusal) => void;
  /** Queues the title that the next untitled chat gets; without one it gets its first words. */
  nextTitle: (title: string | Promise<string>) => void;
  /** The chat requests so far. */
  requests: { model: string; authorization: string | undefined }[];
  /** Their bodies as they came. */
  bodies: string[];
  close: () => void;
};

/** An OpenAI-compatible endpoint on a loopback port that plays what the test queued. */
export async function startModel(): Promise<FakeModel> {
  const queue: (Play | Refusal)[] = [];
  const titles: (string | Promise<string>)[] = [];
  const requests: FakeModel["requests"] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      if (request.url === "/v1/models") {
        json(response, 200, { object: "list", data: [{ id: "fake-small", object: "model" }, { id: "fake-large", object: "model" }] });
        return;
      }
      const body = JSON.parse(text) as { model: string; messages: { content: string }[] };
      const system = body.messages[0]?.content ?? "";
      // Small calls beside a turn: the topic guard is passed, a title is given when one is queued.
      if (system.startsWith("You sort messages")) {
        void perform(({ say }) => say("ON_TOPIC"), response, text);
        return;
      }
      if (system.startsWith("You write titles")) {
        const title = titles.shift();
        if (title === undefined) json(response, 418, { error: { message: "no titles here" } });
        else void perform(async ({ say }) => say(await title), response, text);
        return;
      }
      bodies.push(text);
      requests.push({ model: body.model, authorization: request.headers.authorization });
      const play = queue.shift() ?? { status: 500, body: { error: { message: "The test queued no answer." } } };
      if (typeof play === "function") void perform(play, response, text);
      else json(response, play.status, play.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    next: (play) => void queue.push(play),
    nextTitle: (title) => void titles.push(title),
    requests,
    bodies,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function perform(play: Play, response: ServerResponse, body: string) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let calls = 0;
  const send = (delta: object, finish: string | null = null) => response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  const closed = new Promise<void>((resolve) => response.on("close", resolve));
  await play({
    say: (text) => send({ content: text }),
    call: (name, input) => send({ tool_calls: [{ index: calls, id: `call-${++calls}`, type: "function", function: { name, arguments: JSON.stringify(input) } }] }),
    closed,
    body,
  });
  if (response.destroyed) return;
  send({}, calls > 0 ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}
