/** A failed turn for people: what it means, the other side's own words, and the whole. */
export type ChatError = { text: string; said?: string; raw?: string };

/** A turn that was refused before it began: nothing of it is stored. */
export class Refusal extends Error {}

const meanings: [RegExp, string][] = [
  [/^(401|403)$/, "The model provider refused this connection's key."],
  [/^402$/, "The model provider wants to be paid first."],
  [/^404$/, "The model provider does not know this model or address."],
  [/^(408|504)$/, "The model provider took too long to answer."],
  [/^413$/, "The conversation is too long for this model."],
  [/^429$/, "The model provider takes no more requests for now: too many, or a quota is used up."],
  [/^4\d\d$/, "The model provider refused the request."],
  [/^5\d\d$/, "The model provider failed."],
];

function ownWords(body: string): string | undefined {
  const text = body.trim();
  if (!text.startsWith("{")) return text === "" || text.startsWith("<") ? undefined : text;
  try {
    const { error, message, detail } = JSON.parse(text) as Record<string, unknown>;
    for (const each of [error, message, detail]) {
      if (typeof each === "string" && each !== "") return each;
      if (typeof each === "object" && each !== null && typeof (each as Record<string, unknown>).message === "string") return (each as { message: string }).message;
    }
  } catch {
    // Not JSON after all; the raw text is shown on demand.
  }
  return undefined;
}

/**
 * The text of a failed turn. A refusal before the stream arrives as the
 * answer's body, which is JSON with "error" or "message"; a provider's failure
 * holds its HTTP status and body.
 */
export function chatError(error: Error | string): ChatError {
  if (error instanceof TypeError) return { text: "The connection to Checkstack was lost. What arrived so far is kept; send again to go on." };
  const text = (typeof error === "string" ? error : error.message).trim();
  const refused = text.startsWith("{") ? ownWords(text) : undefined;
  if (refused !== undefined) return { text: refused };
  if (text === "" || text.startsWith("<") || text.startsWith("{")) return { text: "The assistant did not answer." };
  const http = /\bHTTP (\d{3})\b[^:{<]*:?\s*([\s\S]*)$/.exec(text);
  if (!http) return { text };
  const [, status = "", body = ""] = http;
  const meaning = meanings.find(([pattern]) => pattern.test(status))?.[1];
  if (meaning === undefined) return { text };
  const said = ownWords(body);
  return { text: `${meaning.slice(0, -1)} (HTTP ${status}).`, ...(said === undefined ? {} : { said }), raw: text };
}
