/** Where to go after sign-in: only to an address of this site. */
export function safeNext(next: string | null): string {
  if (next === null || !next.startsWith("/") || next.startsWith("//") || next.includes("\\")) return "/";
  return next.startsWith("/auth/") ? "/" : next;
}
