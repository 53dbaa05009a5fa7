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

/** Where a chat starts: the conversation's own choice, the last one, or the first that exists. */
export function initialChoice(integrations: readonly Integration[], conversation?: Conversation): Choice | undefined {
  const candidates: (Choice | undefined)[] = [conversation?.integrationId ? { connectionId: conversation.integrationId, model: conversation.model ?? undefined } : undefined, remembered()];
  for (const candidate of candidates) {
    const integration = integrations.find((each) => each.connectionId === candidate?.connectionId);
    if (!integration || !candidate) continue;
    const offered = [integration.defaultModel, ...(integration.availableModels ?? [])];
    return { connectionId: integration.connectionId, model: candidate.model !== undefined && offered.includes(candidate.model) ? candidate.model : integration.defaultModel };
  }
  const [first] = integrations;
  return first ? { connectionId: first.connectionId, model: first.defaultModel } : undefined;
}
