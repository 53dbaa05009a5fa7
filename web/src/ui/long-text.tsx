import { clsx } from "clsx";
import { useState } from "react";

/** Text of any length: more than a few lines are folded until someone asks for them. */
export function LongText({ text, className }: { text: string; className?: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > 320 || text.split("\n").length > 4;
  return (
    <div className={className}>
      <p dir="auto" className={clsx("break-words whitespace-pre-line", long && !open && "line-clamp-3")}>
        {text}
      </p>
      {long ? (
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="link min-h-6 text-sm">
          {open ? "Show less" : "Show all"}
        </button>
      ) : null}
    </div>
  );
}
