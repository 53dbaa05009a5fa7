/** The catalog's own words for health; a system nobody reported on is unknown. */
export type Health = "healthy" | "degraded" | "unhealthy" | "unknown";

type SystemLike = { id: string; name: string; description: string | null; groupIds: string[] | null };
type GroupLike = { id: string; name: string; description: string | null };

export type Filters = { q: string; group: string; health: Health | "" };

export type Section<S extends SystemLike, G extends GroupLike> = {
  /** Group id, or "ungrouped". */
  id: string;
  name: string;
  group: G | undefined;
  systems: S[];
  /** Worst-member summary; undefined without a health source. */
  rollup: { state: Health; word: string } | undefined;
};

// One for all: making it anew for each comparison is most of the cost of sorting.
const collator = new Intl.Collator(undefined, { numeric: true });

function rollupOf(states: Health[]): { state: Health; word: string } {
  const count = (state: Health) => states.filter((each) => each === state).length;
  const unhealthy = count("unhealthy");
  const degraded = count("degraded");
  const unknown = count("unknown");
  if (unhealthy > 0) return { state: "unhealthy", word: `${unhealthy} unhealthy` };
  if (degraded > 0) return { state: "degraded", word: `${degraded} degraded` };
  if (unknown > 0) return { state: "unknown", word: `${unknown} unknown` };
  return { state: "healthy", word: "All healthy" };
}

/**
 * Lays systems out under their groups, the rest under "Ungrouped". A system
 * stands under every group it belongs to; filters combine with "and"; with a
 * search, groups without a hit vanish and the others open.
 */
export function sectionsOf<S extends SystemLike, G extends GroupLike>(systems: readonly S[], groups: readonly G[], healthOf: ((id: string) => Health) | undefined, filters: Filters): Section<S, G>[] {
  const needle = filters.q.trim().toLowerCase();
  const hit = (each: { name: string; description: string | null }) => needle === "" || each.name.toLowerCase().includes(needle) || (each.description ?? "").toLowerCase().includes(needle);
  const byName = (a: { name: string }, b: { name: string }) => collator.compare(a.name, b.name);
  const narrowed = needle !== "" || filters.health !== "" || filters.group !== "";

  const build = (id: string, name: string, group: G | undefined, members: S[]): Section<S, G> | undefined => {
    const groupHit = group !== undefined && needle !== "" && hit(group);
    const shown = members.filter((system) => (groupHit || hit(system)) && (filters.health === "" || healthOf?.(system.id) === filters.health)).sort(byName);
    if (shown.length === 0 && (narrowed ? !(groupHit && filters.health === "") : group === undefined)) return undefined;
    const rollup = healthOf && members.length > 0 ? rollupOf(members.map((system) => healthOf(system.id))) : undefined;
    return { id, name, group, systems: shown, rollup };
  };

  const known = new Set(groups.map((group) => group.id));
  const members = new Map<string, S[]>();
  for (const system of systems) {
    for (const id of system.groupIds ?? []) {
      const list = members.get(id);
      if (list) list.push(system);
      else members.set(id, [system]);
    }
  }
  const sections = [...groups]
    .sort(byName)
    .filter((group) => filters.group === "" || filters.group === group.id)
    .map((group) => build(group.id, group.name, group, members.get(group.id) ?? []));
  if (filters.group === "" || filters.group === "ungrouped") {
    sections.push(build("ungrouped", "Ungrouped", undefined, systems.filter((system) => !(system.groupIds ?? []).some((id) => known.has(id)))));
  }
  return sections.filter((section) => section !== undefined);
}

const severity: Record<Health, number> = { unhealthy: 0, degraded: 1, unknown: 2, healthy: 3 };
/** How many rows the page may lay out before anyone asked for more. */
const rowsAtFirst = 120;

/**
 * The sections that start open: those with trouble, the worst first, as long
 * as they stay readable; a single one in any case. Healthy ones stay folded.
 */
export function openAtFirst(sections: readonly { id: string; systems: readonly unknown[]; rollup: { state: Health } | undefined }[]): Set<string> {
  const open = new Set<string>();
  let rows = 0;
  const rank = (section: (typeof sections)[number]) => severity[section.rollup?.state ?? "unknown"];
  for (const section of [...sections].sort((a, b) => rank(a) - rank(b))) {
    if (sections.length > 1 && section.rollup?.state === "healthy") continue;
    if (open.size > 0 && rows + section.systems.length > rowsAtFirst) continue;
    open.add(section.id);
    rows += section.systems.length;
  }
  return open;
}
