import type { FieldChange } from "@/ui/diff";
import { humanize } from "@/ui/schema";
import { exactTime, formatDuration } from "@/ui/time";

/** Gives the name behind an id that people should not have to read. */
export type Names = (id: string) => string | undefined;

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
/** Fields whose values are words of ours: "in_progress". */
const worded = /^(status|statusChange|severity|audience|effect|override|operator)$/;

/** Fields that name a kind by an id with its plugin: "healthcheck-http.request". */
const kinds = /^(strategyId|collectorId)$/;

/** A plain value in the reader's words: times in their zone, units, names for ids. */
export function wordsOf(field: string, value: string | number | boolean, names: Names): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") {
    if (/Seconds$/.test(field)) return formatDuration(value * 1000);
    if (/Ms$/.test(field) || field === "timeout") return formatDuration(value);
    return String(value);
  }
  if (instant.test(value)) {
    const at = new Date(value);
    if (!Number.isNaN(at.getTime())) return exactTime(at);
  }
  if (kinds.test(field)) return names(value) ?? humanize(value.slice(value.lastIndexOf(".") + 1));
  if (worded.test(field)) return value.replace(/_/g, " ");
  return names(value) ?? value;
}

const instants = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})(?![\w:])/g;

/** A sentence with its instants told in the reader's zone. */
export function timesOf(sentence: string): string {
  return sentence.replace(instants, (text) => {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? text : exactTime(at);
  });
}

/** The heading of a field: "systemIds" reads "Systems", "assignToSystemId" "Assign to system". */
export function fieldLabel(name: string): string {
  if (name === "strategyId") return "Kind of check";
  return humanize(name.replace(/Ids$/, "s").replace(/([a-z])Id$/, "$1"));
}

function side(field: string, value: unknown, names: Names): unknown {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return wordsOf(field, value, names);
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string" || typeof each === "number")) return value.map((each) => wordsOf(field, each, names)).join("\n");
  return value;
}

/** A diff in the reader's words, with the labels of the form in place of paths. */
export function wordDiff(changes: readonly FieldChange[], names: Names): FieldChange[] {
  return changes.map((change) => {
    const parts = change.path.split(".");
    const field = (parts.at(-1) ?? change.path).replace(/\[\d+\]$/, "");
    return {
      path: parts.map(fieldLabel).join(" › "),
      ...("before" in change ? { before: side(field, change.before, names) } : {}),
      ...("after" in change ? { after: side(field, change.after, names) } : {}),
    };
  });
}

type Target = { to: string; label: string };
const id = /^[\w-]{1,100}$/;

/** Where the thing that a change made or changed can be seen; nothing for what is gone. */
export function targetOf(toolName: string, payload: unknown, result: unknown): Target | undefined {
  const [plugin = "", action = ""] = toolName.replace("_", ".").split(".");
  if (/^(delete|remove(?!Link|SystemFromGroup))/.test(action)) return undefined;
  const fields = (value: unknown) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
  const find = (...keys: string[]): string | undefined => {
    // What was made is in the result, what was changed in the payload.
    for (const key of keys) {
      for (const value of [fields(result)[key], fields(payload)[key]]) if (typeof value === "string" && id.test(value)) return value;
    }
    return undefined;
  };
  const to = (path: string, found: string | undefined, label: string): Target | undefined => (found === undefined ? undefined : { to: `${path}${found}`, label });
  switch (plugin) {
    case "catalog":
      return /group/i.test(action) ? to("/catalog/system/", find("systemId"), "Open system") ?? { to: "/catalog", label: "Open catalog" } : to("/catalog/system/", find("id", "systemId"), "Open system");
    case "healthcheck":
      return to("/healthcheck/config/", find("configurationId", "id"), "Open health check");
    case "incident":
      return to("/incident/", /^(addUpdate|addLink|removeLink)$/.test(action) ? find("incidentId") : find("id", "incidentId"), "Open incident");
    case "maintenance":
      return to("/maintenance/", /^(addUpdate|addLink|removeLink)$/.test(action) ? find("maintenanceId") : find("id", "maintenanceId"), "Open maintenance");
    default:
      return undefined;
  }
}
