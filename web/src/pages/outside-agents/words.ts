import type { AgentClient } from "./api";

export function sourceWord(source: AgentClient["source"]): string {
  return { manual: "added here", dynamic: "registered itself", document: "metadata document" }[source];
}

/** What a connected client was given, in one phrase. */
export function scopesWord(scopes: readonly string[]): string {
  if (scopes.includes("checkstack:write")) return "everything you may read and change";
  const single = scopes.filter((scope) => !scope.startsWith("checkstack:"));
  const some = single.length === 0 ? "" : single.length === 1 ? `the permission ${single[0] ?? ""}` : `${single.length} single permissions`;
  if (scopes.includes("checkstack:read")) return some === "" ? "everything you may read" : `everything you may read, and ${some}`;
  return some === "" ? "nothing" : some;
}
