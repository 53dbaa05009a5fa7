import { beforeEach, expect, test, vi } from "vitest";
import type { Conversation, Integration } from "./api";
import { initialChoice, remember } from "./choice";

const builtin: Integration = { connectionId: "builtin", name: "Built-in assistant", defaultModel: "rules", builtin: true };
const cloud: Integration = { connectionId: "c1", name: "Cloud", defaultModel: "large", availableModels: ["small"], builtin: false };
const local: Integration = { connectionId: "c2", name: "Local", defaultModel: "", builtin: false };
const of = (integrationId: string | null, model: string | null) => ({ integrationId, model }) as Conversation;

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) });
});

test("without a model a chat starts on the built-in assistant, with one on that", () => {
  expect(initialChoice([])).toBeUndefined();
  expect(initialChoice([builtin])).toEqual({ connectionId: "builtin", model: "rules" });
  expect(initialChoice([builtin, cloud])).toEqual({ connectionId: "c1", model: "large" });
  expect(initialChoice([builtin, local, cloud])?.connectionId).toBe("c1");
  expect(initialChoice([builtin, local])?.connectionId).toBe("c2");
});

test("what this browser chose last comes before that, as long as it exists", () => {
  remember({ connectionId: "builtin", model: "rules" });
  expect(initialChoice([builtin, cloud])?.connectionId).toBe("builtin");
  remember({ connectionId: "c1", model: "small" });
  expect(initialChoice([builtin, local, cloud])).toEqual({ connectionId: "c1", model: "small" });
  expect(initialChoice([builtin, local])?.connectionId).toBe("c2");
});

test("a chat keeps its own choice", () => {
  remember({ connectionId: "c1", model: "small" });
  expect(initialChoice([builtin, cloud], of("builtin", null))?.connectionId).toBe("builtin");
  expect(initialChoice([builtin, cloud], of("gone", "x"))).toEqual({ connectionId: "c1", model: "small" });
});
