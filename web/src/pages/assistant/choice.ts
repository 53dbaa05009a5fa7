import type { Conversation, Integration } from "./api";
import type { Choice } from "./composer";

const key = "checkstack.assistant.choice";

function remembered(): Choice | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    if (typeof value !== "object" || value === null) return undefined;
    const { connectionId, model } = value as Record<string, unknown>;
    return typeof connectionId === "string" ? { connectionId, model: typeof model === "string" ? model : undefined } : undefined;
  } catch {
    return undefined;
  }
}

export function remember(choice: Choice) {
  try {
    localStorage.setItem(key, JSON.stringify(choice));
  } catch {
    // Storage may be blocked: the choice then holds for this page only.
  }
}

/**
 * Where a chat starts: the conversation's own choice, the one this browser made
 * last, or the first language model. The built-in assistant is for installations
 * that have no model yet.
 */
export function initialChoice(integrations: readonly Integration[], conversation?: Conversation): Choice | undefined {
  const candidates: (Choice | undefined)[] = [conversation?.integrationId ? { connectionId: conversation.integrationId, model: conversation.model ?? undefined } : undefined, remembered()];
  for (const candidate of candidates) {
    const integration = integrations.find((each) => each.connectionId === candidate?.connectionId);
    if (!integration || !candidate) continue;
    const offered = [integration.defaultModel, ...(integration.availableModels ?? [])];
    return { connectionId: integration.connectionId, model: candidate.model !== undefined && offered.includes(candidate.model) ? candidate.model : integration.defaultModel };
  }
  const models = integrations.filter((each) => !each.builtin);
  const first = models.find((each) => each.defaultModel !== "") ?? models[0] ?? integrations[0];
  return first ? { connectionId: first.connectionId, model: first.defaultModel } : undefined;
}
