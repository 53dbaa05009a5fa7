import { clsx } from "clsx";
import { Check, X } from "lucide-react";
import { useId, useMemo, useRef, useState } from "react";

export type Pickable = { id: string; name: string };

/** How many systems the list lays out at once; typing reaches the rest. */
const limit = 50;
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * Chooses systems by typing. Arrow keys move in the list, Enter adds or takes
 * away, Backspace in the empty field takes the last one away, Escape closes.
 */
export function SystemPicker({
  systems,
  selected,
  onChange,
  disabled = false,
  ...control
}: {
  /** All that may be chosen; undefined while they are being loaded. */
  systems: readonly Pickable[] | undefined;
  selected: readonly string[];
  onChange: (ids: string[]) => void;
  disabled?: boolean;
  id?: string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: true | undefined;
  "aria-required"?: true | undefined;
}) {
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const names = useMemo(() => new Map(systems?.map((system) => [system.id, system.name])), [systems]);
  const matches = useMemo(() => {
    const needle = typed.trim().toLocaleLowerCase();
    return (systems ?? [])
      .filter((system) => system.name.toLocaleLowerCase().includes(needle))
      .sort((a, b) => Number(!a.name.toLocaleLowerCase().startsWith(needle)) - Number(!b.name.toLocaleLowerCase().startsWith(needle)) || collator.compare(a.name, b.name));
  }, [systems, typed]);
  const shown = matches.slice(0, limit);
  const index = Math.min(active, Math.max(0, shown.length - 1));
  const nameOf = (id: string) => names.get(id) ?? "Unknown system";
  const toggle = (system: Pickable | undefined) => {
    if (!system) return;
    onChange(selected.includes(system.id) ? selected.filter((id) => id !== system.id) : [...selected, system.id]);
    setTyped("");
  };

  return (
    <div className="relative">
      {selected.length > 0 ? (
        <ul aria-label="Chosen systems" className="mb-2 flex max-h-40 flex-wrap gap-1.5 overflow-y-auto">
          {selected.map((id) => (
            <li key={id} className="inline-flex max-w-full items-center rounded-[6px] bg-accent-soft pl-2.5 text-accent-ink">
              <bdi className="min-w-0 truncate">{nameOf(id)}</bdi>
              <button
                type="button"
                disabled={disabled}
                aria-label={`Remove ${nameOf(id)}`}
                className="inline-flex size-7 shrink-0 items-center justify-center"
                onClick={() => {
                  onChange(selected.filter((each) => each !== id));
                  input.current?.focus();
                }}
              >
                <X aria-hidden size={14} />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <input
        {...control}
        ref={input}
        role="combobox"
        aria-expanded={open}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={open && shown[index] ? `${listId}-${index}` : undefined}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled || systems === undefined}
        placeholder={systems === undefined ? "Loading systems" : "Type to find a system"}
        className="control"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setActive(0);
          setOpen(true);
        }}
        onClick={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          setTyped("");
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            if (!open) {
              setOpen(true);
              return;
            }
            const next = (index + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length);
            setActive(next);
            document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: "nearest" });
          } else if (event.key === "Enter") {
            // Enter never sends the form from here.
            event.preventDefault();
            if (open) toggle(shown[index]);
            else setOpen(true);
          } else if (event.key === "Escape" && open) {
            event.preventDefault();
            event.stopPropagation();
            setOpen(false);
          } else if (event.key === "Backspace" && typed === "" && selected.length > 0) {
            onChange(selected.slice(0, -1));
          }
        }}
      />
      <div hidden={!open} className="rise absolute inset-x-0 top-full z-30 mt-1 rounded-[8px] border border-line bg-surface shadow-[var(--shadow-overlay)]">
        <div id={listId} role="listbox" aria-label="Systems" aria-multiselectable className="max-h-64 overflow-y-auto p-1">
          {open
            ? shown.map((system, i) => {
                const chosen = selected.includes(system.id);
                return (
                  // The input keeps the focus and drives the list; the pointer is a second way.
                  // eslint-disable-next-line jsx-a11y/click-events-have-key-events
                  <div
                    key={system.id}
                    id={`${listId}-${i}`}
                    role="option"
                    tabIndex={-1}
                    aria-selected={chosen}
                    onPointerDown={(event) => event.preventDefault()}
                    onPointerMove={() => setActive(i)}
                    onClick={() => toggle(system)}
                    className={clsx("flex min-h-8 cursor-pointer items-center gap-2.5 rounded-[6px] px-2.5 py-1.5", i === index && "bg-raised")}
                  >
                    <Check aria-hidden size={15} className={clsx("shrink-0 text-accent-ink", !chosen && "invisible")} />
                    <bdi className="min-w-0 break-words">{system.name}</bdi>
                  </div>
                );
              })
            : null}
        </div>
        {shown.length === 0 ? <p className="px-3 pb-2 text-sm text-ink-3">{systems?.length === 0 ? "The catalog has no systems yet." : "No system fits."}</p> : null}
        {matches.length > limit ? <p className="border-t border-line px-3 py-1.5 text-sm text-ink-3">{matches.length - limit} more. Type to find them.</p> : null}
      </div>
      <span role="status" className="sr-only">
        {open ? `${matches.length} ${matches.length === 1 ? "system" : "systems"}, ${selected.length} chosen` : ""}
      </span>
    </div>
  );
}
