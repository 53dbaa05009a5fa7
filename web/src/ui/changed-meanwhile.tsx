import { TriangleAlert } from "lucide-react";
import { useEffect, useRef } from "react";
import { Button } from "./button";

/** A field that somebody else changed: what it holds now, and whether the reader changed it as well. */
export type ForeignChange = { label: string; theirs: string; both: boolean };

/** Shows what somebody else saved while a form was open, and lets the reader decide what stays. */
export function ChangedMeanwhile({ noun, changes, otherwise, onGoOn }: { noun: string; changes: readonly ForeignChange[]; otherwise: string; onGoOn: (take: "mine" | "theirs") => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const both = changes.some((each) => each.both);
  return (
    <div ref={box} role="alert" tabIndex={-1} className="rounded-[8px] border border-degraded/40 bg-degraded-soft px-4 py-3 text-degraded-ink outline-none">
      <p className="flex items-start gap-2 font-medium">
        <TriangleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
        Somebody changed this {noun} while you were editing. Nothing of yours was saved or lost.
      </p>
      {changes.length > 0 ? (
        <dl className="mt-2 grid gap-1">
          {changes.map((each) => (
            <div key={each.label} className="grid gap-x-3 sm:grid-cols-[150px_minmax(0,1fr)]">
              <dt className="font-medium">{each.label}</dt>
              <dd className="min-w-0 break-words">
                <bdi className="line-clamp-4">{each.theirs}</bdi>
                {each.both ? <span className="text-sm"> (you changed this too)</span> : null}
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <p className="mt-1">{otherwise}</p>
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        <Button size="sm" onClick={() => onGoOn("mine")}>
          {both ? "Keep my version of what both changed" : "Take their changes and go on"}
        </Button>
        {both ? (
          <Button size="sm" onClick={() => onGoOn("theirs")}>
            Take theirs instead
          </Button>
        ) : null}
      </div>
    </div>
  );
}
