/** How loud a signal is; this is not the health of a system. */
export type Tone = "error" | "warn" | "info";

export const tones: { value: Tone; word: string; state: "unhealthy" | "degraded" | "watch" }[] = [
  { value: "error", word: "critical", state: "unhealthy" },
  { value: "warn", word: "degraded", state: "degraded" },
  { value: "info", word: "to watch", state: "watch" },
];

type Troubled = { signals?: readonly { tone: Tone }[] | null | undefined };

/** The loudest signal of a system decides where it is counted. */
export function toneOf(system: Troubled): Tone {
  const present = new Set(system.signals?.map((signal) => signal.tone));
  return tones.find((tone) => present.has(tone.value))?.value ?? "info";
}

export function countTones(systems: readonly Troubled[]): Record<Tone, number> {
  const counts: Record<Tone, number> = { error: 0, warn: 0, info: 0 };
  for (const system of systems) counts[toneOf(system)]++;
  return counts;
}

/** The one line that says how things are. Never "healthy" while something is unknown. */
export function headline(counts: Record<Tone, number>, healthy: number, watched: number, complete: boolean): string {
  const troubled = counts.error + counts.warn;
  if (troubled > 0) return troubled === 1 ? "1 system needs attention" : `${troubled} systems need attention`;
  if (!complete) return "Dashboard";
  if (watched > 0 && healthy === watched) return "All systems healthy";
  return counts.info > 0 ? "Nothing needs attention" : "Dashboard";
}

const sourceNames: Record<string, string> = { healthcheck: "health checks", incident: "incidents", maintenance: "maintenances", catalog: "the catalog" };

/** The names of sources for a sentence: "health checks and incidents". */
export function sourcesText(sources: readonly string[]): string {
  const names = sources.map((source) => sourceNames[source] ?? source);
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}` : (names[0] ?? "");
}
