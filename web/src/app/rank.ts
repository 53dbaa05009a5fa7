/**
 * Keeps the items in which every word of the query occurs, best first: a match
 * at the start beats one at a word's start beats one inside a word.
 */
export function rank<T>(items: readonly T[], query: string, textOf: (item: T) => string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...items];
  return items
    .flatMap((item, i) => {
      const text = textOf(item).toLowerCase();
      let score = 0;
      for (const word of words) {
        const at = text.indexOf(word);
        if (at < 0) return [];
        score += at === 0 ? 3 : /\s|[-_./]/.test(text.charAt(at - 1)) ? 2 : 1;
      }
      return [{ item, score, i }];
    })
    .sort((a, b) => b.score - a.score || a.i - b.i)
    .map(({ item }) => item);
}
