import { clsx } from "clsx";
import { useId } from "react";
import { Field, Input, Select } from "@/ui/field";
import { dayOf, monthlyChoices, weekdays, type Monthly, type Recurrence } from "./recurrence";

const units = { daily: "days", weekly: "weeks", monthly: "months" } as const;

export type RecurrenceErrors = Partial<Record<"rule" | "interval" | "count" | "until" | "custom", string>>;

/** How a maintenance repeats: the usual ways by fields, all others as a rule. */
export function RecurrenceEditor({
  value,
  date,
  onChange,
  errors,
  id,
  mayStop = true,
}: {
  value: Recurrence;
  /** The date of the start in the zone of the form, from which weekday and day of the month come. */
  date: string;
  onChange: (changes: Partial<Recurrence>) => void;
  errors: RecurrenceErrors;
  id: string;
  /** Whether "does not repeat" is a choice; a series is ended elsewhere. */
  mayStop?: boolean;
}) {
  const endsId = useId();
  const start = dayOf(date);
  const { repeats } = value;
  const byFields = repeats !== "none" && repeats !== "custom";
  const choices = monthlyChoices(date);
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-start gap-3">
        <Field label="Repeats" id={id} error={repeats === "custom" ? undefined : errors.rule} className="flex-1 basis-[170px] sm:max-w-[220px]">
          {(control) => (
            <Select
              {...control}
              value={repeats}
              onChange={(event) => {
                const next = event.target.value as Recurrence["repeats"];
                onChange({ repeats: next });
              }}
            >
              {mayStop ? <option value="none">Does not repeat</option> : null}
              <option value="daily">Daily</option>
              <option value="weekly">Weekly</option>
              <option value="monthly">Monthly</option>
              <option value="custom">By a rule of its own</option>
            </Select>
          )}
        </Field>
        {byFields ? (
          <Field label={`Every so many ${units[repeats]}`} id={`${id}-interval`} error={errors.interval} className="basis-[150px]">
            {(control) => (
              <span className="flex items-center gap-2">
                <Input {...control} type="number" inputMode="numeric" min={1} max={1000} className="max-w-24" value={value.interval} onChange={(event) => onChange({ interval: event.target.value })} />
                <span aria-hidden>{units[repeats]}</span>
              </span>
            )}
          </Field>
        ) : null}
        {repeats === "monthly" ? (
          <Field label="On which day" id={`${id}-monthly`} className="flex-1 basis-[200px] sm:max-w-[280px]">
            {(control) => (
              <Select {...control} value={choices.some((each) => each.value === value.monthly) ? value.monthly : "day"} onChange={(event) => onChange({ monthly: event.target.value as Monthly })}>
                {choices.map((each) => (
                  <option key={each.value} value={each.value}>
                    {each.label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        ) : null}
      </div>
      {repeats === "weekly" ? (
        <fieldset>
          <legend className="mb-1 text-sm font-medium">On these days</legend>
          <div className="flex flex-wrap gap-1.5">
            {weekdays.map(({ code, label }) => {
              const days = value.days.length > 0 ? value.days : start ? [start.weekday] : [];
              const on = days.includes(code);
              return (
                <button
                  key={code}
                  type="button"
                  aria-pressed={on}
                  className={clsx("min-h-9 min-w-12 rounded-[8px] border px-2.5", on ? "border-accent bg-accent-soft font-medium text-accent-ink" : "border-line-strong/60 text-ink-2 hover:bg-raised")}
                  // The last day cannot be taken away: a week without days is no week.
                  onClick={() => onChange({ days: on ? (days.length > 1 ? days.filter((each) => each !== code) : days) : [...days, code] })}
                >
                  <span aria-hidden>{label.slice(0, 3)}</span>
                  <span className="sr-only">{label}</span>
                </button>
              );
            })}
          </div>
        </fieldset>
      ) : null}
      {byFields ? (
        <div className="flex flex-wrap items-start gap-3">
          <Field label="Ends" id={endsId} className="flex-1 basis-[170px] sm:max-w-[220px]">
            {(control) => (
              <Select {...control} value={value.ends} onChange={(event) => onChange({ ends: event.target.value as Recurrence["ends"] })}>
                <option value="never">Never</option>
                <option value="on">On a day</option>
                <option value="after">After a number of times</option>
              </Select>
            )}
          </Field>
          {value.ends === "on" ? (
            <Field label="Last day" id={`${id}-until`} error={errors.until} className="basis-[170px]">
              {(control) => <Input {...control} type="date" min={date} value={value.until} onChange={(event) => onChange({ until: event.target.value })} />}
            </Field>
          ) : null}
          {value.ends === "after" ? (
            <Field label="How many times" id={`${id}-count`} error={errors.count} className="basis-[150px]">
              {(control) => <Input {...control} type="number" inputMode="numeric" min={1} max={1000} className="max-w-28" value={value.count} onChange={(event) => onChange({ count: event.target.value })} />}
            </Field>
          ) : null}
        </div>
      ) : null}
      {repeats === "custom" ? (
        <Field label="Rule" required id={`${id}-custom`} error={errors.custom ?? errors.rule} help="An RRULE of RFC 5545 that gives days, such as FREQ=MONTHLY;BYDAY=1SA,3SA. The time of day is that of the start.">
          {(control) => <Input {...control} spellCheck={false} autoCapitalize="characters" maxLength={500} className="font-mono" value={value.custom} onChange={(event) => onChange({ custom: event.target.value })} />}
        </Field>
      ) : null}
    </div>
  );
}
