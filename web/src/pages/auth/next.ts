/** Where to go after sign-in: only to an address of this site. */
export function safeNext(next: string | null): string {
  if (next === null || !next.startsWith("/") || next.startsWith("//") || next.includes("\\")) return "/";
  // The pages of signing in lead nowhere, except the one that asks on behalf of an outside agent.
  if (/^\/auth\/oauth-consent(\?|$)/.test(next)) return next;
  return next.startsWith("/auth/") ? "/" : next;
}
