import type { Conversation, Skill } from "./api";

/** What a conversation begins with: the first message and the chosen skill. */
type First = { conversation: Conversation; text: string; skill: Skill | undefined };

/**
 * The first message of a conversation that was just created. It waits here
 * while the page moves to the conversation's address, so that a reload never
 * sends it twice.
 */
const waiting = new Map<string, First>();

export function putPending(first: First) {
  waiting.set(first.conversation.id, first);
}

export function peekPending(id: string): First | undefined {
  return waiting.get(id);
}

export function takePending(id: string): string | undefined {
  const text = waiting.get(id)?.text;
  waiting.delete(id);
  return text;
}

let emptyDraft: string | undefined;

/** Remembers whether the open conversation has neither a title nor a message. */
export function noteDraft(id: string, empty: boolean) {
  if (empty) emptyDraft = id;
  else if (emptyDraft === id) emptyDraft = undefined;
}

/** Whether a conversation is as good as a new one: it was created, but its first message was refused. */
export function isEmptyDraft(id: string): boolean {
  return emptyDraft === id;
}
