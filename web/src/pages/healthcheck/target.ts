type CheckLike = { config: unknown; collectors?: { config?: unknown }[] | null };

/** What a check talks to, read from the usual field names; empty when it has none. */
export function targetOf(check: CheckLike): string {
  for (const source of [...(check.collectors ?? []).map((collector) => collector.config), check.config]) {
    const config = (typeof source === "object" && source !== null ? source : {}) as Record<string, unknown>;
    if (typeof config.url === "string" && config.url !== "") return config.url;
    if (typeof config.host === "string" && config.host !== "") return typeof config.port === "number" ? `${config.host}:${config.port}` : config.host;
  }
  return "";
}
