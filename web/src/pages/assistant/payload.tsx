import { sentence } from "@/pages/healthcheck/assertion";
import { humanize } from "@/ui/schema";
import { useNames } from "./names";
import { fieldLabel, wordsOf } from "./words";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0) || (isRecord(value) && Object.keys(value).length === 0);
}

/** What every stored thing carries; it tells the reader nothing about the change. */
const bookkeeping = ["id", "version", "createdAt", "updatedAt", "createdBy", "incidentId", "maintenanceId", "configurationId", "fromStatus"];

/** A result often names its systems beside their ids, or as objects. */
function toldTwice(name: string, value: unknown, payload: Record<string, unknown>): boolean {
  if (name === "systemId") return typeof payload.systemName === "string";
  return name === "systems" && Array.isArray(payload.systemIds) && Array.isArray(value) && value.every(isRecord);
}

/** What would be or was created, as labelled values; the raw form on demand. */
export function PayloadView({ payload }: { payload: unknown }) {
  if (isEmpty(payload)) return null;
  const fields = isRecord(payload) ? Object.fromEntries(Object.entries(payload).filter(([name, value]) => !bookkeeping.includes(name) && !toldTwice(name, value, payload))) : undefined;
  return (
    <div>
      {fields ? <Fields fields={fields} depth={0} /> : null}
      <details className="mt-2" open={!isRecord(payload)}>
        <summary className="text-sm text-ink-3">Raw data</summary>
        <RawData value={payload} />
      </details>
    </div>
  );
}

/** The exact data behind a card, for who wants to see it. */
export function RawData({ value }: { value: unknown }) {
  return (
    // Long content scrolls, so the keyboard needs a way in.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre tabIndex={0} role="region" aria-label="Raw data" className="mt-1.5 max-h-60 overflow-auto rounded-[8px] bg-raised p-3 font-mono text-xs">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

/** Names first, structures last; the rest keeps its order. */
function rank(name: string, value: unknown): number {
  if (name === "name" || name === "title") return 0;
  if (name === "description" || name === "url") return 1;
  if (name === "startAt") return 1.1;
  if (name === "endAt") return 1.2;
  return typeof value === "object" ? 3 : 2;
}

function Fields({ fields, depth }: { fields: Record<string, unknown>; depth: number }) {
  const rows = Object.entries(fields)
    .filter(([, value]) => !isEmpty(value))
    .sort(([a, x], [b, y]) => rank(a, x) - rank(b, y));
  return (
    <dl className="grid gap-y-1">
      {rows.map(([name, value]) => {
        const nested = isRecord(value) || (Array.isArray(value) && value.some(isRecord) && name !== "assertions");
        return (
          <div key={name} className={nested ? "" : "grid grid-cols-[minmax(96px,140px)_1fr] gap-x-3"}>
            <dt className="text-ink-3">{fieldLabel(name)}</dt>
            <dd className="min-w-0 break-words">
              <Value name={name} value={value} depth={depth} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Value({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const names = useNames();
  if (typeof value === "string") return <bdi className="whitespace-pre-line">{wordsOf(name, value, names)}</bdi>;
  if (typeof value === "number" || typeof value === "boolean") return wordsOf(name, value, names);
  if (depth > 4) return <code className="font-mono text-xs">{JSON.stringify(value)}</code>;
  if (Array.isArray(value)) {
    if (name === "assertions") {
      return (
        <ul>
          {value.map((each, i) => (
            <li key={i}>{isRecord(each) && typeof each.field === "string" && typeof each.operator === "string" ? sentence({ field: each.field, operator: each.operator, value: each.value, jsonPath: typeof each.jsonPath === "string" ? each.jsonPath : undefined }, humanize(each.field)) : JSON.stringify(each)}</li>
          ))}
        </ul>
      );
    }
    if (!value.some(isRecord)) return value.map((each) => (typeof each === "string" || typeof each === "number" || typeof each === "boolean" ? wordsOf(name, each, names) : JSON.stringify(each))).join(", ");
    return (
      <ul className="mt-1 grid gap-2">
        {value.map((each, i) => (
          <li key={i} className="border-l-2 border-line pl-3">
            {isRecord(each) ? <Fields fields={each} depth={depth + 1} /> : JSON.stringify(each)}
          </li>
        ))}
      </ul>
    );
  }
  if (isRecord(value)) {
    return (
      <div className="mt-1 border-l-2 border-line pl-3">
        <Fields fields={value} depth={depth + 1} />
      </div>
    );
  }
  return JSON.stringify(value);
}
