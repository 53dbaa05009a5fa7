/** One changed path of a proposal; an absent side means added or removed. */
export type FieldChange = { path: string; before?: unknown; after?: unknown };

export type Token = { text: string; changed: boolean };
export type DiffRow =
  | { kind: "equal"; left: string; right: string; leftNo: number; rightNo: number }
  | { kind: "changed"; left: Token[]; right: Token[]; leftNo: number; rightNo: number }
  | { kind: "removed"; left: string; leftNo: number }
  | { kind: "added"; right: string; rightNo: number };

const lineLimit = 2000;

/** Strings as they are, an absent side as an empty document, the rest as indented JSON. */
export function documentOf(change: FieldChange, side: "before" | "after"): string {
  if (!(side in change)) return "";
  const value = change[side];
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

type Step<T> = { op: "equal"; left: T; right: T } | { op: "removed"; left: T } | { op: "added"; right: T };

/** Longest common subsequence; on ties a deletion comes first. */
function lcs<T>(a: readonly T[], b: readonly T[]): Step<T>[] {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const steps: Step<T>[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) steps.push({ op: "equal", left: a[i++] as T, right: b[j++] as T });
    else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) steps.push({ op: "removed", left: a[i++] as T });
    else steps.push({ op: "added", right: b[j++] as T });
  }
  return steps;
}

function tokens(line: string): string[] {
  return line.match(/\w+|\s+|[^\w\s]/g) ?? [];
}

function refine(left: string, right: string): { left: Token[]; right: Token[] } {
  const out = { left: [] as Token[], right: [] as Token[] };
  const push = (list: Token[], text: string, changed: boolean) => {
    const last = list.at(-1);
    if (last?.changed === changed) last.text += text;
    else list.push({ text, changed });
  };
  for (const step of lcs(tokens(left), tokens(right))) {
    if (step.op !== "added") push(out.left, step.left, step.op === "removed");
    if (step.op !== "removed") push(out.right, step.right, step.op === "added");
  }
  return out;
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

/** Compares two texts line by line, pairing deletions with the insertions that follow them. */
export function diffLines(before: string, after: string): DiffRow[] {
  const a = lines(before);
  const b = lines(after);
  if (a.length > lineLimit || b.length > lineLimit) {
    // The table is quadratic; so much text is shown as two plain blocks.
    return [
      ...a.map((left, i): DiffRow => ({ kind: "removed", left, leftNo: i + 1 })),
      ...b.map((right, i): DiffRow => ({ kind: "added", right, rightNo: i + 1 })),
    ];
  }
  const rows: DiffRow[] = [];
  let leftNo = 1;
  let rightNo = 1;
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    const pairs = Math.min(removed.length, added.length);
    for (let i = 0; i < pairs; i++) {
      const refined = refine(removed[i] ?? "", added[i] ?? "");
      rows.push({ kind: "changed", ...refined, leftNo: leftNo++, rightNo: rightNo++ });
    }
    for (const left of removed.slice(pairs)) rows.push({ kind: "removed", left, leftNo: leftNo++ });
    for (const right of added.slice(pairs)) rows.push({ kind: "added", right, rightNo: rightNo++ });
    removed = [];
    added = [];
  };
  for (const step of lcs(a, b)) {
    if (step.op === "equal") {
      flush();
      rows.push({ kind: "equal", left: step.left, right: step.right, leftNo: leftNo++, rightNo: rightNo++ });
    } else if (step.op === "removed") {
      // A deletion after insertions starts a new block.
      if (added.length > 0) flush();
      removed.push(step.left);
    } else {
      added.push(step.right);
    }
  }
  flush();
  return rows;
}
