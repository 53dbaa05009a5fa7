/**
 * Decides like the server does: "*" opens everything, and holding the manage
 * rule of a resource includes reading it. This only hides what would be
 * refused; the server remains the one that decides.
 */
export function allows(rules: readonly string[], rule: string): boolean {
  if (rules.includes("*") || rules.includes(rule)) return true;
  if (rule.endsWith(".read")) return rules.includes(`${rule.slice(0, -".read".length)}.manage`);
  return false;
}
