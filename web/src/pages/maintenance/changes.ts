import { readDateTime, shownWall, type DateTime } from "@/ui/date-time";
import { mergeFields } from "@/ui/record-form";
import { dateTimeText, offsetLabel } from "@/ui/zone";
import type { Detail, Maintenance } from "./api";
import { fromRule, noRecurrence, sameRule, toRule, type Recurrence } from "./recurrence";
import { namesLine } from "./words";

/** What the form of a maintenance holds. */
export type Values = {
  title: string;
  description: string;
  systemIds: string[];
  suppressNotifications: boolean;
  /** In which the times are written, and whose clocks a series follows. */
  zone: string;
  start: DateTime;
  end: DateTime;
  recurrence: Recurrence;
};

export type FieldName = keyof Values;

export const fieldLabels: Record<FieldName, string> = {
  title: "Title",
  description: "Description",
  systemIds: "Systems",
  start: "Start",
  end: "End",
  zone: "Time zone",
  recurrence: "Repeats",
  suppressNotifications: "Notifications",
};

type Stored = Pick<Maintenance, "title" | "description" | "systemIds" | "suppressNotifications" | "startAt" | "endAt">;

/** The form of one maintenance, whose times are read in the reader's zone. */
export function valuesOf(maintenance: Stored, zone: string): Values {
  return {
    title: maintenance.title,
    description: maintenance.description ?? "",
    systemIds: maintenance.systemIds ?? [],
    suppressNotifications: maintenance.suppressNotifications,
    zone,
    start: { at: Date.parse(maintenance.startAt) },
    end: { at: Date.parse(maintenance.endAt) },
    recurrence: noRecurrence,
  };
}

/** The form of a series from one of its occurrences on, whose times are read in the zone of the series. */
export function seriesValuesOf(occurrence: Detail): Values | undefined {
  const { series } = occurrence;
  if (!series) return undefined;
  const values = valuesOf({ ...series, startAt: occurrence.startAt, endAt: occurrence.endAt }, series.timeZone);
  return { ...values, recurrence: fromRule(series.rule, shownWall(values.start, series.timeZone).date) };
}

export function instantOf(value: DateTime, zone: string): number | undefined {
  return readDateTime(value, zone).at;
}

export function ruleOf(values: Values): string | undefined {
  return toRule(values.recurrence, shownWall(values.start, values.zone).date);
}

/** The fields in which two states differ. `series` says whether zone and rule count. */
export function changedFields(before: Values, after: Values, series: boolean): FieldName[] {
  const same: Record<FieldName, () => boolean> = {
    title: () => before.title.trim() === after.title.trim(),
    description: () => before.description.trim() === after.description.trim(),
    systemIds: () => before.systemIds.length === after.systemIds.length && before.systemIds.every((id) => after.systemIds.includes(id)),
    start: () => instantOf(before.start, before.zone) === instantOf(after.start, after.zone),
    end: () => instantOf(before.end, before.zone) === instantOf(after.end, after.zone),
    zone: () => !series || before.zone === after.zone,
    recurrence: () => {
      if (!series) return true;
      const [a, b] = [ruleOf(before), ruleOf(after)];
      return a === undefined || b === undefined ? a === b : sameRule(a, b);
    },
    suppressNotifications: () => before.suppressNotifications === after.suppressNotifications,
  };
  return (Object.keys(fieldLabels) as FieldName[]).filter((field) => !same[field]());
}

function textsOf(form: Values, touched: readonly FieldName[]) {
  const has = (field: FieldName) => touched.includes(field);
  return {
    ...(has("title") ? { title: form.title.trim() } : {}),
    ...(has("description") ? { description: form.description.trim() === "" ? null : form.description.trim() } : {}),
    ...(has("systemIds") ? { systemIds: form.systemIds } : {}),
    ...(has("suppressNotifications") ? { suppressNotifications: form.suppressNotifications } : {}),
  };
}

/** The window for the API; empty where the form names no instant. */
export function windowOf(form: Values): { startAt: string; endAt: string } {
  const iso = (ms: number | undefined) => (ms === undefined ? "" : new Date(ms).toISOString());
  return { startAt: iso(instantOf(form.start, form.zone)), endAt: iso(instantOf(form.end, form.zone)) };
}

/**
 * What somebody else saved, with what was changed here on top of it. Of what
 * both changed, the version that was taken. Without `series` times are read in
 * the reader's zone, whatever theirs was.
 */
export function withTheirs(base: Values, mine: Values, theirs: Values, take: "mine" | "theirs", series: boolean): Values {
  const fields = (Object.keys(fieldLabels) as FieldName[]).filter((field) => series || field !== "zone");
  return mergeFields(mine, theirs, { fields, here: changedFields(base, mine, series), there: changedFields(base, theirs, series) }, take);
}

/**
 * The change that brings the opened maintenance to the form's state: only what
 * was touched here, so that what others changed elsewhere meanwhile stays, and
 * an instant that nobody touched is not even sent.
 */
export function editOf(opened: Values, form: Values) {
  const touched = changedFields(opened, form, false);
  const { startAt, endAt } = windowOf(form);
  return { ...textsOf(form, touched), ...(touched.includes("start") ? { startAt } : {}), ...(touched.includes("end") ? { endAt } : {}) };
}

/** The same for a series. Another window or zone is sent as a whole, so that what is stored is what the form shows. */
export function seriesEditOf(opened: Values, form: Values) {
  const touched = changedFields(opened, form, true);
  const moved = touched.includes("start") || touched.includes("end") || touched.includes("zone");
  const rule = ruleOf(form);
  return {
    ...textsOf(form, touched),
    ...(moved ? windowOf(form) : {}),
    ...(touched.includes("zone") ? { timeZone: form.zone } : {}),
    ...(touched.includes("recurrence") && rule !== undefined ? { rule } : {}),
  };
}

/**
 * Moves the start; the end follows, so that the work takes as long as before.
 * `from` is the start as it last was one: while a date is being typed there is none.
 */
export function withStart(values: Values, start: DateTime, from: number | undefined): Values {
  const end = instantOf(values.end, values.zone);
  const next = instantOf(start, values.zone);
  if (from === undefined || end === undefined || next === undefined || end <= from || next === from) return { ...values, start };
  return { ...values, start, end: { at: end + next - from } };
}

/**
 * Reads the window in another zone. "instants": it stays when it is and is only
 * written differently. "clocks": the same dates and times of day, there.
 */
export function withZone(values: Values, zone: string, keep: "instants" | "clocks"): Values {
  const moved = (value: DateTime): DateTime => {
    const at = instantOf(value, values.zone);
    if (keep === "instants") return at === undefined ? value : { at };
    return { ...shownWall(value, values.zone), was: "at" in value ? value.at : value.was };
  };
  return { ...values, zone, start: moved(values.start), end: moved(values.end) };
}

/** Whether somebody wrote a time of day, which then means clocks, not an instant. */
export function isTyped(values: Values): boolean {
  return !("at" in values.start && "at" in values.end);
}

/** A field's value as a reader sees it. */
export function shownValue(field: FieldName, values: Values, nameOf: (systemId: string) => string): string {
  const moment = (value: DateTime) => {
    const at = instantOf(value, values.zone);
    return at === undefined ? "not set" : `${dateTimeText(at, values.zone)} ${offsetLabel(at, values.zone)}`;
  };
  switch (field) {
    case "systemIds":
      return values.systemIds.length === 0 ? "none" : namesLine(values.systemIds.map(nameOf), 10);
    case "start":
    case "end":
      return moment(values[field]);
    case "recurrence":
      return ruleOf(values) ?? "does not repeat";
    case "suppressNotifications":
      return values.suppressNotifications ? "silenced" : "not silenced";
    default:
      return values[field] === "" ? "empty" : values[field];
  }
}
