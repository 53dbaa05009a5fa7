import { DefaultChatTransport, type UIMessage } from "ai";
import { Refusal } from "./error-text";

export type DecisionBody = { token: string; kind: "apply" | "decline" };
export type TurnSettings = { connectionId: string | undefined; model: string | undefined; skillId: string | undefined };

/**
 * Speaks with the server's chat. The server keeps the history itself and takes
 * only what is new: a text, or the token and kind of a decision.
 */
export function createTransport(conversationId: string, settings: () => TurnSettings) {
  return new DefaultChatTransport<UIMessage>({
    api: "/api/ai/chat",
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.ok) throw new Refusal(await response.text());
      return response;
    },
    prepareSendMessagesRequest: ({ messages, body }) => {
      const message = messages.at(-1)?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
      const decision = (body as { decision?: DecisionBody } | undefined)?.decision;
      const { connectionId, model, skillId } = settings();
      return {
        body: {
          conversationId,
          connectionId,
          ...(model ? { model } : {}),
          ...(decision ? { decision } : { message, ...(skillId ? { skillId } : {}) }),
          timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        },
      };
    },
  });
}
