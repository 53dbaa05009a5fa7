import { CircleAlert } from "lucide-react";
import { useId } from "react";
import { Button } from "./button";
import { choiceOf, chosen, readDateTime, shownWall, typed, type DateTime } from "./date-time";
import { Input } from "./field";
import { dateTimeText, offsetLabel, timeText, utcText, wallAt } from "./zone";

/**
 * A date and a time of day in a zone, with what they mean in words below. An
 * hour that clocks leave out is refused with what it would be, of one that
 * comes twice it asks which is meant.
 */
export function DateTimeField({
  label,
  value,
  zone,
  onChange,
  id: givenId,
  error,
  help,
  disabled = false,
}: {
  /** Names the group; the inputs are "<label> date" and "<label> time". */
  label: string;
  value: DateTime;
  zone: string;
  onChange: (value: DateTime) => void;
  /** Of the date input, where a link from an error leads. */
  id?: string | undefined;
  error?: string | undefined;
  help?: string | undefined;
  disabled?: boolean;
}) {
  const ownId = useId();
  const id = givenId ?? ownId;
  const wall = shownWall(value, zone);
  const { at, clock } = readDateTime(value, zone);
  const missing = clock.kind === "missing" && at === undefined;
  const doubled = clock.kind === "doubled";
  const described = [error ? `${id}-error` : "", missing || doubled ? `${id}-clock` : "", `${id}-means`].filter(Boolean).join(" ");
  const shared = { disabled, "aria-describedby": described, "aria-invalid": error || missing ? true : undefined, required: true } as const;
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 block text-sm font-medium text-ink">
        {label}
        <span className="text-ink-3" aria-hidden>
          {" *"}
        </span>
      </legend>
      <div className="flex flex-wrap gap-2">
        <Input
          {...shared}
          id={id}
          type="date"
          aria-label={`${label} date`}
          min="1970-01-01"
          max="2200-12-31"
          className="min-w-0 flex-1 basis-[150px]"
          value={wall.date}
          onChange={(event) => onChange(typed(value, zone, { date: event.target.value }))}
        />
        <Input
          {...shared}
          type="time"
          aria-label={`${label} time`}
          step={wall.time.includes(".") ? 0.001 : wall.time.length > 5 ? 1 : 60}
          className="min-w-0 flex-1 basis-[110px]"
          value={wall.time}
          onChange={(event) => onChange(typed(value, zone, { time: event.target.value }))}
        />
      </div>
      {missing ? (
        <div id={`${id}-clock`} role="alert" className="mt-1.5 rounded-[8px] bg-degraded-soft px-3 py-2 text-sm text-degraded-ink">
          <p>
            {wall.time} does not exist on this day in {zone}: the clocks go forward and leave it out.
          </p>
          <Button size="sm" className="mt-1.5" onClick={() => onChange(typed(value, zone, wallAt(clock.later, zone)))}>
            Use {timeText(clock.later, zone)} ({offsetLabel(clock.later, zone)})
          </Button>
        </div>
      ) : null}
      {doubled ? (
        <div id={`${id}-clock`} role="radiogroup" aria-label={`Which ${wall.time} is meant`} className="mt-1.5 rounded-[8px] bg-degraded-soft px-3 py-2 text-sm text-degraded-ink">
          <p>
            The clocks go back on this day and show {wall.time} twice in {zone}. Which one is meant?
          </p>
          {(["first", "second"] as const).map((which) => (
            <label key={which} className="mt-1 flex min-h-6 items-center gap-2">
              <input type="radio" name={`${id}-choice`} className="size-4 shrink-0 accent-accent" disabled={disabled} checked={choiceOf(value, zone) === which} onChange={() => onChange(chosen(value, zone, which))} />
              <span>
                The {which}, {timeText(clock[which], zone)} {offsetLabel(clock[which], zone)} ({utcText(clock[which], zone)})
              </span>
            </label>
          ))}
        </div>
      ) : null}
      {error ? (
        <p id={`${id}-error`} className="mt-1 flex items-start gap-1 text-sm text-unhealthy-ink">
          <CircleAlert aria-hidden size={14} className="mt-0.5 shrink-0" />
          {error}
        </p>
      ) : null}
      <p id={`${id}-means`} className="mt-1 text-sm text-ink-3">
        {at === undefined ? null : <Meaning at={at} zone={zone} />}
        {help ? <span className="block">{help}</span> : null}
      </p>
    </fieldset>
  );
}

/** An instant in a zone with its offset, and in UTC. */
function Meaning({ at, zone }: { at: number; zone: string }) {
  const offset = offsetLabel(at, zone);
  return (
    <time dateTime={new Date(at).toISOString()}>
      {dateTimeText(at, zone)} {offset}{" "}
      {offset === "UTC" ? null : <span className="whitespace-nowrap">· {utcText(at, zone)}</span>}
    </time>
  );
}
