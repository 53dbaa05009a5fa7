import { expect, test } from "vitest";
import { dayOf, fromRule, monthlyChoices, noRecurrence, recurrenceFault, sameRule, toRule, type Recurrence } from "./recurrence";

const saturday = "2026-12-05";
const make = (changes: Partial<Recurrence>) => ({ ...noRecurrence, ...changes });

test.each<[Partial<Recurrence>, string | undefined]>([
  [{}, undefined],
  [{ repeats: "daily" }, "FREQ=DAILY"],
  [{ repeats: "daily", interval: "3", ends: "after", count: "12" }, "FREQ=DAILY;INTERVAL=3;COUNT=12"],
  [{ repeats: "weekly" }, "FREQ=WEEKLY;BYDAY=SA"],
  [{ repeats: "weekly", interval: "2", days: ["SU", "WE"] }, "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE,SU"],
  [{ repeats: "monthly" }, "FREQ=MONTHLY;BYMONTHDAY=5"],
  [{ repeats: "monthly", monthly: "nth" }, "FREQ=MONTHLY;BYDAY=1SA"],
  [{ repeats: "monthly", monthly: "last", ends: "on", until: "2027-06-30" }, "FREQ=MONTHLY;BYDAY=-1SA;UNTIL=20270630"],
  [{ repeats: "custom", custom: " FREQ=YEARLY;BYMONTH=5 " }, "FREQ=YEARLY;BYMONTH=5"],
])("%j on a Saturday is %j", (changes, rule) => {
  expect(toRule(make(changes), saturday)).toBe(rule);
});

test("what is missing is said and gives no rule", () => {
  const cases: [Partial<Recurrence>, string][] = [
    [{ repeats: "daily", interval: "0" }, "interval"],
    [{ repeats: "weekly", interval: "1.5" }, "interval"],
    [{ repeats: "daily", ends: "after", count: "" }, "count"],
    [{ repeats: "daily", ends: "on" }, "until"],
    [{ repeats: "custom", custom: " " }, "custom"],
  ];
  for (const [changes, field] of cases) {
    expect(recurrenceFault(make(changes))?.field).toBe(field);
    expect(toRule(make(changes), saturday)).toBeUndefined();
  }
  expect(recurrenceFault(make({ repeats: "weekly" }))).toBeUndefined();
  expect(toRule(make({ repeats: "weekly" }), "")).toBeUndefined();
});

test.each([
  "FREQ=DAILY",
  "FREQ=DAILY;INTERVAL=3;COUNT=12",
  "FREQ=WEEKLY;BYDAY=SA",
  "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
  "FREQ=MONTHLY;BYMONTHDAY=5",
  "FREQ=MONTHLY;BYDAY=1SA",
  "FREQ=WEEKLY;BYDAY=SU;UNTIL=20270630",
])("%s comes back from the editor as it went in", (rule) => {
  const read = fromRule(rule, saturday);
  expect(read.repeats).not.toBe("custom");
  expect(toRule(read, saturday)).toBe(rule);
});

test("what a rule leaves to its start is read as the start has it", () => {
  expect(fromRule("FREQ=WEEKLY", saturday)).toMatchObject({ repeats: "weekly", days: [] });
  expect(fromRule("FREQ=MONTHLY;INTERVAL=2", saturday)).toMatchObject({ repeats: "monthly", monthly: "day", interval: "2" });
});

test.each([
  "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=5",
  "FREQ=MONTHLY;BYDAY=2SU",
  "FREQ=MONTHLY;BYMONTHDAY=6",
  "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1",
  "FREQ=DAILY;UNTIL=20270630T220000Z",
  "FREQ=WEEKLY;BYDAY=SA;WKST=SU",
])("%s, which the fields cannot say for that start, stays the rule it is", (rule) => {
  expect(fromRule(rule, saturday)).toMatchObject({ repeats: "custom", custom: rule });
});

test("the order of what a rule says makes no other rule", () => {
  expect(sameRule("FREQ=WEEKLY;BYDAY=SU,WE;INTERVAL=1", "RRULE:BYDAY=WE,SU;FREQ=WEEKLY;")).toBe(true);
  expect(sameRule("FREQ=WEEKLY;BYDAY=SU", "FREQ=WEEKLY;BYDAY=SA")).toBe(false);
  expect(sameRule("FREQ=DAILY", "FREQ=DAILY;COUNT=2")).toBe(false);
});

test("a date knows its place in week and month", () => {
  expect(dayOf(saturday)).toEqual({ day: 5, weekday: "SA", label: "Saturday", nth: 1, isLast: false, isLastDay: false });
  expect(dayOf("2026-02-28")).toMatchObject({ nth: 4, isLast: true, isLastDay: true });
  expect(dayOf("2026-12")).toBeUndefined();
  expect(monthlyChoices("2026-10-31").map((each) => each.label)).toEqual(["on day 31", "on the fifth Saturday", "on the last Saturday", "on the last day of the month"]);
});
