/** Every day of a range with its tokens, also the days without any. Days are those of UTC, as the server counts. */
export function everyDay(from: string, to: string, days: readonly { date: string; totalTokens: number }[]): { date: string; totalTokens: number }[] {
  const known = new Map(days.map((day) => [day.date, day.totalTokens]));
  const out: { date: string; totalTokens: number }[] = [];
  const last = to.slice(0, 10);
  for (let at = Date.parse(`${from.slice(0, 10)}T00:00:00Z`); ; at += 86_400_000) {
    const date = new Date(at).toISOString().slice(0, 10);
    if (date > last || out.length > 400) return out;
    out.push({ date, totalTokens: known.get(date) ?? 0 });
  }
}

/** How much of a cap is used, from 0; above 1 when the last turn went over it. */
export function capUse(used: number | null | undefined, budget: number | undefined): number | undefined {
  if (used === null || used === undefined || budget === undefined || budget <= 0) return undefined;
  return used / budget;
}

/** A day for people, in the reader's language: "Jul 1". */
export function dayLabel(date: string): string {
  return new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" }).format(new Date(`${date}T00:00:00Z`));
}

/** Since when a cap counts, at the moment the report was made. */
export function windowStart(reportedAt: string, windowMinutes: number): string {
  return new Date(Date.parse(reportedAt) - windowMinutes * 60_000).toISOString();
}
