import { clsx } from "clsx";
import { ArrowDown, ArrowUp, ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "./button";

export type Column<T> = {
  key: string;
  /** Heading; also the label of the value when rows become cards. */
  label: string;
  cell: (row: T) => ReactNode;
  /** Makes the column sortable. */
  sort?: (row: T) => string | number;
  className?: string;
  /** In card form: the first line, without a label. */
  primary?: boolean;
  /** In card form: the value says by itself what it is, so it needs no label. */
  bare?: boolean;
  /** Hides the heading's text (it stays for screen readers), for action columns. */
  quiet?: boolean;
};

/** Which rows are chosen for a bulk action. */
export type Selection<T> = { chosen: ReadonlySet<string>; onChange: (chosen: Set<string>) => void; nameOf: (row: T) => string };

const pageSize = 50;

/**
 * A table that turns into cards on a phone, and into pages of 50 rows unless
 * whoever hands in the rows pages them already.
 */
export function Table<T>({
  label,
  columns,
  rows,
  rowKey,
  initialSort,
  paged = true,
  selection,
}: {
  label: string;
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  initialSort?: { key: string; down: boolean };
  paged?: boolean;
  /** Puts a checkbox before each row. */
  selection?: Selection<T> | undefined;
}) {
  const [sort, setSort] = useState(initialSort);
  const by = columns.find((column) => column.key === sort?.key)?.sort;
  const sorted = by
    ? [...rows].sort((a, b) => {
        const x = by(a);
        const y = by(b);
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return sort?.down ? -order : order;
      })
    : rows;
  const [page, setPage] = useState(0);
  const pages = paged ? Math.ceil(sorted.length / pageSize) : 1;
  // Rows may vanish by a search or a deletion while a later page is open.
  const at = Math.min(page, Math.max(0, pages - 1));
  const shown = paged ? sorted.slice(at * pageSize, (at + 1) * pageSize) : sorted;
  return (
    <div className="card overflow-x-clip">
      {/* Explicit roles: display changes on a phone would otherwise drop the table's meaning. */}
      <table role="table" aria-label={label} className="block w-full border-collapse md:table">
        <thead role="rowgroup" className="sr-only md:not-sr-only md:table-header-group">
          <tr role="row">
            {selection ? (
              <th role="columnheader" scope="col" className="sticky top-0 z-1 w-10 rounded-tl-[8px] border-b border-line bg-surface py-2.5 pl-4 text-left">
                <ChooseAll label={label} keys={shown.map(rowKey)} selection={selection} />
              </th>
            ) : null}
            {columns.map((column) => (
              <th
                key={column.key}
                role="columnheader"
                scope="col"
                aria-sort={sort?.key === column.key ? (sort.down ? "descending" : "ascending") : undefined}
                className={clsx("sticky top-0 z-1 border-b border-line bg-surface px-4 py-2.5 text-left text-sm font-medium text-ink-3 first:rounded-tl-[8px] last:rounded-tr-[8px]", column.className)}
              >
                {column.sort ? (
                  <button
                    type="button"
                    className="inline-flex items-center gap-1 hover:text-ink"
                    onClick={() => {
                      setSort({ key: column.key, down: sort?.key === column.key ? !sort.down : false });
                      setPage(0);
                    }}
                  >
                    {column.label}
                    {sort?.key === column.key ? sort.down ? <ArrowDown aria-hidden size={13} /> : <ArrowUp aria-hidden size={13} /> : null}
                  </button>
                ) : column.quiet ? (
                  <span className="sr-only">{column.label}</span>
                ) : (
                  column.label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="block divide-y divide-line md:table-row-group">
          {shown.map((row) => (
            <tr key={rowKey(row)} role="row" className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 md:table-row md:px-0 md:hover:bg-raised/50">
              {selection ? (
                <td role="cell" className="md:table-cell md:py-2.5 md:pl-4 md:align-middle">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${selection.nameOf(row)}`}
                    className="block size-4 accent-accent"
                    checked={selection.chosen.has(rowKey(row))}
                    onChange={(event) => {
                      const next = new Set(selection.chosen);
                      if (event.target.checked) next.add(rowKey(row));
                      else next.delete(rowKey(row));
                      selection.onChange(next);
                    }}
                  />
                </td>
              ) : null}
              {columns.map((column) => (
                <td
                  key={column.key}
                  role="cell"
                  className={clsx("md:table-cell md:px-4 md:py-2.5 md:align-middle", column.primary ? "w-[calc(100%-3rem)] md:w-auto" : "", column.quiet && "ml-auto", column.className)}
                >
                  {!column.primary && !column.quiet && !column.bare ? <span className="mr-1 text-sm text-ink-3 md:hidden">{column.label}</span> : null}
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {pages > 1 ? (
        <nav aria-label={`Pages of ${label.toLowerCase()}`} className="flex items-center justify-between gap-2 border-t border-line px-4 py-2 text-sm text-ink-3">
          <span role="status">
            {at * pageSize + 1} to {at * pageSize + shown.length} of {sorted.length.toLocaleString()}
          </span>
          <span className="flex gap-1">
            <Button size="sm" aria-label="Previous page" disabled={at === 0} onClick={() => setPage(at - 1)} icon={<ChevronLeft aria-hidden size={14} />} />
            <Button size="sm" aria-label="Next page" disabled={at + 1 >= pages} onClick={() => setPage(at + 1)} icon={<ChevronRight aria-hidden size={14} />} />
          </span>
        </nav>
      ) : null}
    </div>
  );
}

function ChooseAll<T>({ label, keys, selection }: { label: string; keys: string[]; selection: Selection<T> }) {
  const box = useRef<HTMLInputElement>(null);
  const chosen = keys.filter((key) => selection.chosen.has(key)).length;
  const all = chosen > 0 && chosen === keys.length;
  useEffect(() => {
    if (box.current) box.current.indeterminate = chosen > 0 && !all;
  }, [chosen, all]);
  return <input ref={box} type="checkbox" aria-label={`Choose all of ${label.toLowerCase()}`} className="block size-4 accent-accent" checked={all} onChange={() => selection.onChange(all ? new Set() : new Set(keys))} />;
}
