import { mergeFields } from "@/ui/record-form";
import type { Detail, Incident } from "./api";
import { namesLine, overrides, severityLabel } from "./words";

/** What the form of an incident holds. */
export type Values = {
  title: string;
  description: string;
  severity: Incident["severity"];
  systemIds: string[];
  /** "" forces nothing. */
  override: string;
  suppressNotifications: boolean;
};

export type FieldName = keyof Values;

export const fieldLabels: Record<FieldName, string> = {
  title: "Title",
  description: "Description",
  severity: "Severity",
  systemIds: "Systems",
  override: "Health of the systems",
  suppressNotifications: "Notifications",
};

export function valuesOf(incident: Pick<Detail, "title" | "description" | "severity" | "systemIds" | "override" | "suppressNotifications">): Values {
  return {
    title: incident.title,
    description: incident.description ?? "",
    severity: incident.severity,
    systemIds: incident.systemIds ?? [],
    override: incident.override ?? "",
    suppressNotifications: incident.suppressNotifications,
  };
}

function same(a: Values[FieldName], b: Values[FieldName]): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((id) => b.includes(id));
  if (typeof a === "string" && typeof b === "string") return a.trim() === b.trim();
  return a === b;
}

/** The fields in which two states differ. */
export function changedFields(before: Values, after: Values): FieldName[] {
  return (Object.keys(fieldLabels) as FieldName[]).filter((field) => !same(before[field], after[field]));
}

/** What somebody else saved, with what was changed here on top of it. Of what both changed, the version that was taken. */
export function withTheirs(base: Values, mine: Values, theirs: Values, take: "mine" | "theirs"): Values {
  return mergeFields(mine, theirs, { fields: Object.keys(fieldLabels) as FieldName[], here: changedFields(base, mine), there: changedFields(base, theirs) }, take);
}

/**
 * The change that brings the opened incident to the form's state: only what
 * was touched here, so that what others changed elsewhere meanwhile stays.
 */
export function editOf(opened: Values, form: Values) {
  const touched = changedFields(opened, form);
  const has = (field: FieldName) => touched.includes(field);
  return {
    ...(has("title") ? { title: form.title.trim() } : {}),
    ...(has("description") ? { description: form.description.trim() === "" ? null : form.description.trim() } : {}),
    ...(has("severity") ? { severity: form.severity } : {}),
    ...(has("systemIds") ? { systemIds: form.systemIds } : {}),
    ...(has("override") ? { override: form.override === "" ? null : (form.override as "degraded" | "unhealthy") } : {}),
    ...(has("suppressNotifications") ? { suppressNotifications: form.suppressNotifications } : {}),
  };
}

/** A field's value as a reader sees it. */
export function shownValue(field: FieldName, values: Values, nameOf: (systemId: string) => string): string {
  switch (field) {
    case "severity":
      return severityLabel(values.severity);
    case "systemIds":
      return values.systemIds.length === 0 ? "none" : namesLine(values.systemIds.map(nameOf), 10);
    case "override":
      return overrides.find((each) => each.value === values.override)?.label ?? values.override;
    case "suppressNotifications":
      return values.suppressNotifications ? "silenced" : "not silenced";
    default:
      return values[field] === "" ? "empty" : values[field];
  }
}
