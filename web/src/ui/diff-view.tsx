import { Maximize2 } from "lucide-react";
import { memo, useState } from "react";
import { Button } from "./button";
import { diffLines, documentOf, type DiffRow, type FieldChange, type Token } from "./diff";
import { Dialog } from "./dialog";

/** Shows what would change, one block per path. */
export function DiffView({ changes, title }: { changes: FieldChange[]; title: string }) {
  const [expanded, setExpanded] = useState(false);
  const blocks = (
    <div className="grid gap-3">
      {changes.map((change) => (
        <Block key={change.path} change={change} />
      ))}
    </div>
  );
  return (
    <div>
      {/* Long diffs scroll, so the keyboard needs a way in. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="max-h-[340px] overflow-auto" tabIndex={0} role="group" aria-label="Changes">
        {blocks}
      </div>
      <div className="mt-1.5 flex justify-end">
        <Button size="sm" look="quiet" icon={<Maximize2 aria-hidden size={14} />} onClick={() => setExpanded(true)}>
          Expand
        </Button>
      </div>
      <Dialog open={expanded} onOpenChange={setExpanded} title={title} wide>
        {blocks}
      </Dialog>
    </div>
  );
}

function Block({ change }: { change: FieldChange }) {
  const words = !("before" in change) ? "added" : !("after" in change) ? "removed" : "changed";
  return (
    <div className="overflow-hidden rounded-[8px] border border-line">
      <p className="flex items-center justify-between gap-2 border-b border-line bg-raised px-3 py-1.5 text-sm">
        <span className="font-mono font-medium break-all">{change.path}</span>
        <span className="text-ink-3">{words}</span>
      </p>
      <table className="w-full table-fixed border-collapse font-mono text-xs">
        <caption className="sr-only">
          {change.path} {words}
        </caption>
        <colgroup>
          <col className="w-9" />
          <col />
          <col className="w-9" />
          <col />
        </colgroup>
        <thead className="sr-only">
          <tr>
            <th>Old line</th>
            <th>Old text</th>
            <th>New line</th>
            <th>New text</th>
          </tr>
        </thead>
        <Rows before={documentOf(change, "before")} after={documentOf(change, "after")} />
      </table>
    </div>
  );
}

// A card that counts its time down renders every second; what it would change
// stays the same.
const Rows = memo(function Rows({ before, after }: { before: string; after: string }) {
  return (
    <tbody>
      {diffLines(before, after).map((row, i) => (
        <tr key={i} className="align-top">
          <Side row={row} side="left" />
          <Side row={row} side="right" />
        </tr>
      ))}
    </tbody>
  );
});

function Side({ row, side }: { row: DiffRow; side: "left" | "right" }) {
  const content: string | Token[] | undefined = side === "left" ? ("left" in row ? row.left : undefined) : "right" in row ? row.right : undefined;
  const no = side === "left" ? ("leftNo" in row ? row.leftNo : "") : "rightNo" in row ? row.rightNo : "";
  const touched = content !== undefined && row.kind !== "equal";
  const tint = !touched ? "" : side === "left" ? "bg-unhealthy-soft text-unhealthy-ink" : "bg-healthy-soft text-healthy-ink";
  const strong = side === "left" ? "bg-unhealthy/25" : "bg-healthy/25";
  return (
    <>
      <td className={`px-1.5 py-0.5 text-right select-none ${touched ? tint : "text-ink-3"}`}>{no}</td>
      <td className={`px-1.5 py-0.5 break-words whitespace-pre-wrap ${tint}`}>
        {touched ? <span>{side === "left" ? "- " : "+ "}</span> : null}
        {typeof content === "string"
          ? content
          : content?.map((token, i) =>
              token.changed ? (
                <mark key={i} className={`rounded-[3px] text-ink ${strong}`}>
                  {token.text}
                </mark>
              ) : (
                token.text
              ),
            )}
      </td>
    </>
  );
}
