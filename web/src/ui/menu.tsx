import { clsx } from "clsx";
import { MoreHorizontal } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";

export function Menu({ trigger, children, align = "end" }: { trigger: ReactNode; children: ReactNode; align?: "start" | "end" }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="rise z-50 max-w-[320px] min-w-44 rounded-[8px] border border-line bg-surface p-1 shadow-[var(--shadow-overlay)]"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const item =
  "flex min-h-8 w-full cursor-pointer items-center gap-2.5 rounded-[6px] px-2.5 py-1.5 text-left outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-raised";

export function MenuItem({ children, onSelect, danger = false, icon, disabled }: { children: ReactNode; onSelect: () => void; danger?: boolean; icon?: ReactNode; disabled?: boolean }) {
  return (
    <Radix.Item className={clsx(item, danger && "text-unhealthy-ink")} onSelect={onSelect} {...(disabled ? { disabled } : {})}>
      {icon ? <span className="text-ink-3">{icon}</span> : null}
      {children}
    </Radix.Item>
  );
}

export function MenuRadio<T extends string>({
  value,
  onChange,
  options,
}: {
  value: T;
  onChange: (value: T) => void;
  options: { value: T; label: string; help?: string }[];
}) {
  return (
    <Radix.RadioGroup value={value} onValueChange={(next) => onChange(next as T)}>
      {options.map((option) => (
        <Radix.RadioItem key={option.value} value={option.value} className={clsx(item, "items-start")}>
          <span aria-hidden className="mt-1 inline-flex size-3 shrink-0 items-center justify-center rounded-full border border-line-strong">
            {option.value === value ? <span className="size-1.5 rounded-full bg-accent-ink" /> : null}
          </span>
          <span className="min-w-0">
            <span className="block">{option.label}</span>
            {option.help ? <span className="block text-sm text-ink-3">{option.help}</span> : null}
          </span>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2.5 py-1.5 text-sm text-ink-3">{children}</Radix.Label>;
}

export function MenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}

/** The usual "more" button at the end of a row. */
export function RowMenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <button type="button" aria-label={label} className="inline-flex size-8 items-center justify-center rounded-[8px] text-ink-2 hover:bg-raised hover:text-ink">
          <MoreHorizontal aria-hidden size={18} />
        </button>
      }
    >
      {children}
    </Menu>
  );
}
