import type { UIMessage } from "ai";
import type { Output } from "@/api/client";

export type Stored = Output<"/rest/ai/getConversation", "get">;

/**
 * The stored messages as the transcript shows them. What somebody decided on a
 * card is no message of theirs; it stands before the answer to it, as it did
 * when they clicked.
 */
export function storedMessages({ messages }: Pick<Stored, "messages">): UIMessage[] {
  return (messages ?? []).flatMap((message) => {
    const shown = message as unknown as UIMessage;
    const answers = message.metadata?.answers;
    if (!answers) return [shown];
    const { kind, summary } = answers;
    return [{ id: `${message.id}-decision`, role: "user", parts: [{ type: "data-decision", data: { kind, summary } }] }, shown];
  });
}

/** The same without the message that a running turn is writing: the stream that follows it brings it. */
export function settledMessages(stored: Stored): UIMessage[] {
  const all = storedMessages(stored);
  return stored.conversation.running ? all.filter((message) => (message.metadata as { running?: boolean } | undefined)?.running !== true) : all;
}
