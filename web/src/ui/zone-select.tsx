import { useMemo } from "react";
import { Select } from "./field";
import { localZone, zoneNames } from "./zone";

/** Chooses a time zone; the reader's own and UTC come first. Typing letters jumps to a name. */
export function ZoneSelect({
  value,
  onChange,
  disabled,
  ...control
}: {
  value: string;
  onChange: (zone: string) => void;
  disabled?: boolean;
  id?: string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: true | undefined;
  "aria-required"?: true | undefined;
}) {
  const local = localZone();
  // A stored zone may be one that this browser does not list.
  const names = useMemo(() => [...new Set([...zoneNames(), value])].sort(), [value]);
  return (
    <Select {...control} disabled={disabled} value={value} onChange={(event) => onChange(event.target.value)}>
      <optgroup label="Most used">
        {[...new Set([local, "UTC"])].map((zone) => (
          <option key={zone} value={zone}>
            {zone === local ? `${zone} (this browser)` : zone}
          </option>
        ))}
      </optgroup>
      <optgroup label="All time zones">
        {names
          .filter((zone) => zone !== local && zone !== "UTC")
          .map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
      </optgroup>
    </Select>
  );
}
