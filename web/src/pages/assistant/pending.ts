import type { Conversation } from "./api";

/**
 * The first message of a conversation that was just created. It waits here
 * while the page moves to the conversation's address, so that a reload never
 * sends it twice.
 */
const waiting = new Map<string, { conversation: Conversation; text: string }>();

export function putPending(conversation: Conversation, text: string) {
  waiting.set(conversation.id, { conversation, text });
}

export function peekPending(id: string): Conversation | undefined {
  return waiting.get(id)?.conversation;
}

export function takePending(id: string): string | undefined {
  const text = waiting.get(id)?.text;
  waiting.delete(id);
  return text;
}
