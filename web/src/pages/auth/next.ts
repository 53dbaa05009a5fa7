/** Browsers drop some control characters before they read an address, which turns / and / into //. */
const hasControl = (text: string) => Array.from(text).some((char) => char <= " ");

/** Where to go after sign-in: only to an address of this site. */
export function safeNext(next: string | null): string {
  if (next === null || !next.startsWith("/") || next.startsWith("//") || next.includes("\\") || hasControl(next)) return "/";
  // The pages of signing in lead nowhere, except the one that asks on behalf of an outside agent.
  if (asksForAgent(next)) return next;
  return next.startsWith("/auth/") ? "/" : next;
}

/** Whether somebody signs in because an outside agent asks for access. */
export const asksForAgent = (next: string): boolean => /^\/auth\/oauth-consent(\?|$)/.test(next);

/** The address of another page of signing in that leads to the same place. */
export const withNext = (page: "/auth/login" | "/auth/register", next: string): string => (next === "/" ? page : `${page}?next=${encodeURIComponent(next)}`);
