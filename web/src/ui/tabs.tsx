import { Tabs as Radix } from "radix-ui";
import { useEffect, useRef, type ReactNode } from "react";

/** Parts of one thing, of which one shows; arrow keys move between the tabs. */
export function Tabs<Name extends string>({ label, value, onChange, tabs }: { label: string; value: Name; onChange: (name: Name) => void; tabs: { name: Name; label: ReactNode; content: ReactNode }[] }) {
  const row = useRef<HTMLDivElement>(null);
  // On a narrow screen the row scrolls; the chosen tab is brought into view, the page stays.
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[data-state="active"]');
    if (row.current && chosen) row.current.scrollLeft = chosen.offsetLeft - row.current.offsetLeft - (row.current.clientWidth - chosen.clientWidth) / 2;
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={(name) => onChange(name as Name)}>
      <Radix.List ref={row} aria-label={label} className="mb-3 flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            className="-mb-px inline-flex min-h-9 items-center gap-1.5 border-b-2 border-transparent px-3 whitespace-nowrap text-ink-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.name} value={tab.name}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
