type RuleLike = { id: string; description: string };

export type RuleGroup<R extends RuleLike> = { plugin: string; resources: { name: string; read: R | undefined; manage: R | undefined; other: R[] }[] };

/** Lays access rules out as a matrix: one row per resource with read and manage. */
export function ruleMatrix<R extends RuleLike>(rules: readonly R[]): RuleGroup<R>[] {
  const plugins = new Map<string, Map<string, { read: R | undefined; manage: R | undefined; other: R[] }>>();
  for (const rule of [...rules].sort((a, b) => a.id.localeCompare(b.id))) {
    const parts = rule.id.split(".");
    const plugin = parts[0] ?? rule.id;
    const action = parts.at(-1);
    const graded = parts.length > 2 && (action === "read" || action === "manage");
    const resource = (graded ? parts.slice(1, -1) : parts.slice(1)).join(".") || plugin;
    const resources = plugins.get(plugin) ?? new Map<string, { read: R | undefined; manage: R | undefined; other: R[] }>();
    plugins.set(plugin, resources);
    const row = resources.get(resource) ?? { read: undefined, manage: undefined, other: [] };
    resources.set(resource, row);
    if (graded && action === "read") row.read = rule;
    else if (graded) row.manage = rule;
    else row.other.push(rule);
  }
  return [...plugins].map(([plugin, resources]) => ({ plugin, resources: [...resources].map(([name, row]) => ({ name, ...row })) }));
}
