import { useEffect, useState } from "react";
import { ApiError, type Issue } from "@/api/errors";
import type { ForeignChange } from "./changed-meanwhile";

/** How the values of a form are named, compared and shown. */
export type FieldKinds<V> = {
  [K in keyof V]: {
    /** As the person sees it. */
    label: string;
    /** Its name in the API, when that is another one. */
    path?: string;
    same?: (a: V[K], b: V[K]) => boolean;
    /** Its value for a reader. */
    shown?: (value: V[K]) => string;
  };
};

function keys<V>(kinds: FieldKinds<V>): (keyof V & string)[] {
  return Object.keys(kinds) as (keyof V & string)[];
}

/** The fields in which two states of a form differ. */
export function differing<V>(kinds: FieldKinds<V>, a: V, b: V): (keyof V & string)[] {
  return keys(kinds).filter((key) => {
    const [x, y] = [a[key], b[key]];
    const { same } = kinds[key];
    if (same) return !same(x, y);
    return typeof x === "string" && typeof y === "string" ? x.trim() !== y.trim() : JSON.stringify(x) !== JSON.stringify(y);
  });
}

function shown<V, K extends keyof V>(kinds: FieldKinds<V>, key: K, values: V): string {
  const text = kinds[key].shown?.(values[key]) ?? String(values[key]);
  return text.trim() === "" ? "empty" : text;
}

/** What somebody else made of `base` while the reader made `mine` of it. */
export function foreignChanges<V>(kinds: FieldKinds<V>, base: V, mine: V, theirs: V): ForeignChange[] {
  const touched = differing(kinds, base, mine);
  const apart = differing(kinds, mine, theirs);
  return differing(kinds, base, theirs).map((key) => ({ label: kinds[key].label, theirs: shown(kinds, key, theirs), both: touched.includes(key) && apart.includes(key) }));
}

/**
 * Their state with what was changed here on top of it. Of what both changed, the
 * version that was taken; what only one side touched is never lost.
 */
export function mergeFields<V extends object>(mine: V, theirs: V, changed: { fields: readonly (keyof V)[]; here: readonly (keyof V)[]; there: readonly (keyof V)[] }, take: "mine" | "theirs"): V {
  const next = { ...mine };
  for (const key of changed.fields) {
    if (!changed.here.includes(key) || (take === "theirs" && changed.there.includes(key))) next[key] = theirs[key];
  }
  return next;
}

/** The same for what somebody else made of `base` while the reader made `mine` of it. */
export function merged<V extends object>(kinds: FieldKinds<V>, base: V, mine: V, theirs: V, take: "mine" | "theirs"): V {
  return mergeFields(mine, theirs, { fields: keys(kinds), here: differing(kinds, base, mine), there: differing(kinds, base, theirs) }, take);
}

/** Whether a path is the other one or leads into it: "tags[1]" is below "tags". */
function below(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

function versionOf(record: object): unknown {
  return (record as { version?: unknown }).version;
}

type Options<R, V> = {
  /** What is edited; undefined makes a new one. */
  opened: R | undefined;
  start: V;
  kinds: FieldKinds<V>;
  valuesOf: (record: R) => V;
  /** Reads the present state of what is edited; left out where nothing guards against changes by others. */
  read?: (record: R) => Promise<R>;
  /** Hears whether there is something to lose. */
  onDirty?: (dirty: boolean) => void;
};

/**
 * The state of a form for a record, with a version where others may change it. A save that meets somebody
 * else's change loses nothing: `newer` is then what they made, and `goOn`
 * continues from there. A fault that was found at a field is gone once the
 * field is edited.
 */
export function useRecordForm<R extends object, V extends object>({ opened, start, kinds, valuesOf, read, onDirty }: Options<R, V>) {
  const [values, setValues] = useState(start);
  // What the next save is compared with: what was opened, then what was seen of others' changes.
  const [base, setBase] = useState(start);
  const [present, setPresent] = useState(opened);
  const [newer, setNewer] = useState<R>();
  const [fault, setFault] = useState<unknown>();
  const [corrected, setCorrected] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const dirty = differing(kinds, base, values).length > 0;

  useEffect(() => {
    onDirty?.(dirty);
    return () => onDirty?.(false);
  }, [dirty, onDirty]);

  /** Changes values. `paths` says which faults that may put right, when not those of the changed fields as a whole. */
  const set = (changes: Partial<V>, paths = (Object.keys(changes) as (keyof V & string)[]).map((key) => kinds[key].path ?? key)) => {
    setValues((current) => ({ ...current, ...changes }));
    setCorrected((current) => [...current, ...paths]);
  };

  const isCorrected = (path: string) => corrected.some((edited) => below(path, edited));

  /** What is wrong at a field or below it; `from` replaces the last save's fault. */
  const errorAt = (path: string, from = fault): string | undefined => {
    const issues = from instanceof ApiError ? from.issues : [];
    const messages = issues.filter((issue) => below(issue.path, path) && !isCorrected(issue.path)).map((issue) => issue.message);
    return messages.length > 0 ? [...new Set(messages)].join(" ") : undefined;
  };

  /** Before the server looks again: what was wrong is forgotten, and what it finds then is news. */
  const recheck = () => {
    setCorrected([]);
    setFault(undefined);
  };

  /** Stores, unless there are problems; undefined says that it was not stored. */
  const submit = async <T>(problems: Issue[], store: (present: R | undefined) => Promise<T>): Promise<T | undefined> => {
    recheck();
    if (problems.length > 0) {
      setFault(new ApiError({ code: "invalid", message: "Some fields need attention.", status: 400, issues: problems }));
      return undefined;
    }
    setBusy(true);
    try {
      return await store(present);
    } catch (error) {
      if (present && read && error instanceof ApiError && error.status === 409) {
        // Without the newer state the refusal itself is what there is to say.
        const now = await read(present).catch(() => undefined);
        if (now && versionOf(now) !== versionOf(present)) {
          setNewer(now);
          return undefined;
        }
      }
      setFault(error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };

  const theirs = newer && valuesOf(newer);
  /** Goes on from the newer state, with what was typed here on top of it. */
  const goOn = (take: "mine" | "theirs") => {
    if (!newer || !theirs) return;
    setValues(merged(kinds, base, values, theirs, take));
    setBase(theirs);
    setPresent(newer);
    setNewer(undefined);
  };

  return { values, set, recheck, dirty, busy, fault, isCorrected, errorAt, submit, newer, changes: theirs ? foreignChanges(kinds, base, values, theirs) : [], goOn };
}
