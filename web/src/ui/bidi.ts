/**
 * Keeps the direction of a foreign text inside a sentence to itself, where no
 * element can: U+2068 FIRST STRONG ISOLATE and U+2069 POP DIRECTIONAL ISOLATE.
 */
export function isolate(text: string): string {
  return `\u2068${text}\u2069`;
}
