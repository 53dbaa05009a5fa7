/**
 * The text of a failed turn. A refusal before the stream arrives as the
 * answer's body, which is JSON with "error" or "message".
 */
export function chatErrorText(error: Error): string {
  if (error instanceof TypeError) return "The connection to Checkstack was lost. What arrived so far is kept; send again to go on.";
  const text = error.message.trim();
  if (text.startsWith("{")) {
    try {
      const body = JSON.parse(text) as Record<string, unknown>;
      if (typeof body.error === "string") return body.error;
      if (typeof body.message === "string") return body.message;
    } catch {
      // Not JSON after all: the text itself is the best there is.
    }
  }
  return text === "" || text.startsWith("<") ? "The assistant did not answer." : text;
}
