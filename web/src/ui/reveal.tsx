import { useState, type ReactNode } from "react";
import { Button } from "./button";

/**
 * Shows a long list in portions, so that a thousand rows cost no more than the
 * ones someone looks at. Search and filters reach all of them.
 */
export function Reveal<T>({ items, step, noun, children, className }: { items: readonly T[]; step: number; noun: string; children: (shown: readonly T[]) => ReactNode; className?: string }) {
  const [limit, setLimit] = useState(step);
  const rest = items.length - limit;
  return (
    <>
      {children(rest > 0 ? items.slice(0, limit) : items)}
      {rest > 0 ? (
        <div className={className}>
          <Button size="sm" onClick={() => setLimit(limit + step)}>
            Show {Math.min(step, rest)} more of {rest.toLocaleString()} {noun}
          </Button>
        </div>
      ) : null}
    </>
  );
}
