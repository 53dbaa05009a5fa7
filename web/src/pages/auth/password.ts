/** What is missing from a new password; undefined when it may be used. */
export function passwordFault(password: string): string | undefined {
  if (password.length < 8) return "Use at least 8 characters.";
  if (password.length > 128) return "Use at most 128 characters.";
  const missing = [
    /\p{Lu}/u.test(password) ? "" : "an uppercase letter",
    /\p{Ll}/u.test(password) ? "" : "a lowercase letter",
    /\d/.test(password) ? "" : "a number",
  ].filter(Boolean);
  return missing.length === 0 ? undefined : `Add ${missing.join(" and ")}.`;
}

export const passwordHelp = "At least 8 characters, with an uppercase letter, a lowercase letter and a number.";
