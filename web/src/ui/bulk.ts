/** What a bulk action did to one record. */
export type BulkOutcome = { id: string; status: string; message?: string | undefined };

const words: Record<string, string> = { not_found: "gone already", failed: "failed", skipped: "skipped" };

/** "3 resolved, 1 skipped": what happened how often, the wanted outcome first. */
export function bulkSummary(results: readonly BulkOutcome[], wanted: string): string {
  const counts = new Map<string, number>();
  for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [wanted, ...[...counts.keys()].filter((status) => status !== wanted)]
    .flatMap((status) => {
      const n = counts.get(status) ?? 0;
      return n > 0 ? [`${n} ${words[status] ?? status}`] : [];
    })
    .join(", ");
}

/** Ids in portions that one request may name. */
export function chunked(ids: readonly string[], size = 100): string[][] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));
}
