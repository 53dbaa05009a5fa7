/** Weekdays by their codes in rules, Monday first. */
export const weekdays = [
  { code: "MO", label: "Monday" },
  { code: "TU", label: "Tuesday" },
  { code: "WE", label: "Wednesday" },
  { code: "TH", label: "Thursday" },
  { code: "FR", label: "Friday" },
  { code: "SA", label: "Saturday" },
  { code: "SU", label: "Sunday" },
] as const;

export type Weekday = (typeof weekdays)[number]["code"];

/** How a monthly maintenance finds its day; all but the last day follow the date of the start. */
export type Monthly = "day" | "nth" | "last" | "lastDay";

/** What the editor of a recurrence holds. */
export type Recurrence = {
  repeats: "none" | "daily" | "weekly" | "monthly" | "custom";
  /** Every so many days, weeks or months, as typed. */
  interval: string;
  /** Empty: the weekday of the start. */
  days: Weekday[];
  monthly: Monthly;
  ends: "never" | "on" | "after";
  /** The last day that an occurrence may begin on. */
  until: string;
  count: string;
  /** A rule of RFC 5545 as typed. */
  custom: string;
};

export const noRecurrence: Recurrence = { repeats: "none", interval: "1", days: [], monthly: "day", ends: "never", until: "", count: "10", custom: "" };

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;

/** What a date is within its week and month; undefined for half a date. */
export function dayOf(date: string): { day: number; weekday: Weekday; label: string; nth: number; isLast: boolean; isLastDay: boolean } | undefined {
  const d = datePattern.exec(date);
  if (!d) return undefined;
  const [year, month, day] = [Number(d[1]), Number(d[2]) - 1, Number(d[3])];
  const weekday = weekdays[(new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7];
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  if (!weekday) return undefined;
  return { day, weekday: weekday.code, label: weekday.label, nth: Math.ceil(day / 7), isLast: day + 7 > length, isLastDay: day === length };
}

const frequencies = { daily: "DAILY", weekly: "WEEKLY", monthly: "MONTHLY" } as const;

/** The rule that a recurrence means with a start on that date; undefined while something is missing. */
export function toRule(recurrence: Recurrence, date: string): string | undefined {
  const { repeats } = recurrence;
  if (repeats === "none") return undefined;
  if (repeats === "custom") return recurrence.custom.trim() === "" ? undefined : recurrence.custom.trim();
  const start = dayOf(date);
  const interval = whole(recurrence.interval);
  if (!start || interval === undefined) return undefined;
  const parts = [`FREQ=${frequencies[repeats]}`];
  if (interval > 1) parts.push(`INTERVAL=${interval}`);
  if (repeats === "weekly") {
    const days = recurrence.days.length > 0 ? recurrence.days : [start.weekday];
    parts.push(`BYDAY=${weekdays.filter((each) => days.includes(each.code)).map((each) => each.code).join(",")}`);
  }
  if (repeats === "monthly") {
    parts.push({ day: `BYMONTHDAY=${start.day}`, nth: `BYDAY=${start.nth}${start.weekday}`, last: `BYDAY=-1${start.weekday}`, lastDay: "BYMONTHDAY=-1" }[recurrence.monthly]);
  }
  if (recurrence.ends === "after") {
    const count = whole(recurrence.count);
    if (count === undefined) return undefined;
    parts.push(`COUNT=${count}`);
  }
  if (recurrence.ends === "on") {
    if (!datePattern.test(recurrence.until)) return undefined;
    parts.push(`UNTIL=${recurrence.until.replaceAll("-", "")}`);
  }
  return parts.join(";");
}

function whole(text: string): number | undefined {
  return /^[1-9]\d{0,3}$/.test(text.trim()) ? Number(text) : undefined;
}

/** What is still missing in a recurrence, by the field that it is missing in. */
export function recurrenceFault(recurrence: Recurrence): { field: "interval" | "count" | "until" | "custom"; message: string } | undefined {
  const { repeats, ends } = recurrence;
  if (repeats === "none") return undefined;
  if (repeats === "custom") return recurrence.custom.trim() === "" ? { field: "custom", message: "is required" } : undefined;
  if (whole(recurrence.interval) === undefined) return { field: "interval", message: "must be a whole number from 1" };
  if (ends === "after" && whole(recurrence.count) === undefined) return { field: "count", message: "must be a whole number from 1" };
  if (ends === "on" && !datePattern.test(recurrence.until)) return { field: "until", message: "needs a date" };
  return undefined;
}

function partsOf(rule: string): Map<string, string> {
  const text = rule.trim().toUpperCase().replace(/^RRULE:/, "").replace(/;$/, "");
  return new Map(text.split(";").map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
}

/** Whether two rules are the same but for the order of what they say. */
export function sameRule(a: string, b: string): boolean {
  const plain = (rule: string) =>
    [...partsOf(rule)]
      .filter(([name, value]) => !(name === "INTERVAL" && value === "1") && !(name === "WKST" && value === "MO"))
      .map(([name, value]) => `${name}=${value.split(",").sort().join(",")}`)
      .sort()
      .join(";");
  return plain(a) === plain(b);
}

/**
 * Reads a rule for the editor. What the editor's fields cannot say, or would
 * say differently for a start on that date, is shown as the rule it is.
 */
export function fromRule(rule: string, date: string): Recurrence {
  const custom: Recurrence = { ...noRecurrence, repeats: "custom", custom: rule };
  const parts = partsOf(rule);
  const repeats = (Object.keys(frequencies) as (keyof typeof frequencies)[]).find((each) => frequencies[each] === parts.get("FREQ"));
  if (!repeats) return custom;
  const until = /^(\d{4})(\d{2})(\d{2})$/.exec(parts.get("UNTIL") ?? "");
  const days = weekdays.map((each) => each.code).filter((code) => parts.get("BYDAY")?.split(",").includes(code));
  const candidate: Recurrence = {
    ...noRecurrence,
    repeats,
    interval: parts.get("INTERVAL") ?? "1",
    // The start's own weekday moves along with the start.
    days: repeats === "weekly" && !(days.length === 1 && days[0] === dayOf(date)?.weekday) ? days : [],
    ends: until ? "on" : parts.has("COUNT") ? "after" : "never",
    until: until ? `${until[1]}-${until[2]}-${until[3]}` : "",
    count: parts.get("COUNT") ?? noRecurrence.count,
  };
  for (const monthly of ["day", "nth", "last", "lastDay"] as const) {
    const tried = { ...candidate, monthly };
    const written = toRule(tried, date);
    if (written !== undefined && (sameRule(written, rule) || sameRule(written, completed(rule, date)))) return tried;
  }
  return custom;
}

/** The rule with what it leaves to its start: the weekday or the day of the month. */
function completed(rule: string, date: string): string {
  const parts = partsOf(rule);
  const start = dayOf(date);
  if (!start || parts.has("BYDAY") || parts.has("BYMONTHDAY")) return rule;
  if (parts.get("FREQ") === "WEEKLY") return `${rule};BYDAY=${start.weekday}`;
  return parts.get("FREQ") === "MONTHLY" ? `${rule};BYMONTHDAY=${start.day}` : rule;
}

const ordinals = ["", "first", "second", "third", "fourth", "fifth"];

/** The ways in which a monthly maintenance can find its day, for a start on that date. */
export function monthlyChoices(date: string): { value: Monthly; label: string }[] {
  const start = dayOf(date);
  if (!start) return [{ value: "day", label: "on the day of the start" }];
  return [
    { value: "day", label: `on day ${start.day}` },
    { value: "nth", label: `on the ${ordinals[start.nth] ?? ""} ${start.label}` },
    ...(start.isLast ? [{ value: "last" as const, label: `on the last ${start.label}` }] : []),
    ...(start.isLastDay ? [{ value: "lastDay" as const, label: "on the last day of the month" }] : []),
  ];
}
