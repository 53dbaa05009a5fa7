import { useState } from "react";
import { Input, Select } from "./field";
import { splitDuration, unitMs, type Unit } from "./time";

const words: Record<Unit, string> = { ms: "ms", s: "s", min: "min", h: "h", d: "d" };

/** A number with its unit. The value is held in the base unit ("ms" or "s"). */
export function DurationInput({
  value,
  base,
  label,
  onChange,
  ...control
}: {
  value: number | undefined;
  base: "ms" | "s";
  /** Name of the field, for naming the unit control. */
  label: string;
  onChange: (value: number | undefined) => void;
  id?: string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: true | undefined;
  "aria-required"?: true | undefined;
  disabled?: boolean;
}) {
  const initial = value === undefined ? { amount: undefined, unit: base as Unit } : splitDuration(value * unitMs[base], base);
  const [unit, setUnit] = useState<Unit>(initial.unit);
  const amount = value === undefined ? "" : String((value * unitMs[base]) / unitMs[unit]);
  const units: Unit[] = base === "ms" ? ["ms", "s", "min"] : ["s", "min", "h"];
  return (
    <div className="flex gap-2">
      <Input
        {...control}
        type="number"
        inputMode="decimal"
        min={0}
        step="any"
        className="max-w-32"
        value={amount}
        onChange={(event) => {
          const next = event.target.value;
          onChange(next === "" ? undefined : (Number(next) * unitMs[unit]) / unitMs[base]);
        }}
      />
      <Select
        aria-label={`Unit of ${label.toLowerCase()}`}
        className="w-20!"
        value={unit}
        disabled={control.disabled}
        onChange={(event) => {
          const next = event.target.value as Unit;
          if (value !== undefined) onChange((Number(amount) * unitMs[next]) / unitMs[base]);
          setUnit(next);
        }}
      >
        {units.map((each) => (
          <option key={each} value={each}>
            {words[each]}
          </option>
        ))}
      </Select>
    </div>
  );
}
