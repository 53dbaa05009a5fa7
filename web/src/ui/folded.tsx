import { clsx } from "clsx";
import { useState, type ReactNode } from "react";

/** Content that is folded while it is long, and opens on demand or when the focus moves into what is hidden. */
export function Folded({ long, children, className }: { long: boolean; children: ReactNode; className?: string }) {
  const [open, setOpen] = useState(false);
  const folded = long && !open;
  return (
    <div className={className}>
      <div className={clsx(folded && "max-h-48 overflow-hidden [mask-image:linear-gradient(to_bottom,black_70%,transparent)]")} onFocusCapture={() => setOpen(true)}>
        {children}
      </div>
      {long ? (
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="link min-h-6 text-sm">
          {open ? "Show less" : "Show all"}
        </button>
      ) : null}
    </div>
  );
}

/** Whether a text is long enough to be folded. */
export function isLong(text: string): boolean {
  return text.length > 1000 || text.split("\n").length > 12;
}
