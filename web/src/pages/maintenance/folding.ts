/** One row of a list: a maintenance, and how many later ones of its series stand behind it. */
export type Folded<T> = { row: T; more: number };

/** Keeps of each series the first that is there, so that a daily one does not push all others out of sight. */
export function foldSeries<T extends { seriesId: string | null }>(rows: readonly T[]): Folded<T>[] {
  const bySeries = new Map<string, Folded<T>>();
  const folded: Folded<T>[] = [];
  for (const row of rows) {
    const first = row.seriesId === null ? undefined : bySeries.get(row.seriesId);
    if (first) {
      first.more++;
      continue;
    }
    const entry = { row, more: 0 };
    if (row.seriesId !== null) bySeries.set(row.seriesId, entry);
    folded.push(entry);
  }
  return folded;
}
