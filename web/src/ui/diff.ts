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

/** What one comparison may still cost, in cells of its tables: they are quadratic. */
export type Effort = { left: number };

/** Small enough to be computed between two frames of the page. */
export const effort = 2_000_000;

/**
 * Longest common subsequence; on ties a deletion comes first. What is equal at
 * both ends costs nothing; a middle beyond the effort is all removed, all added.
 */
function lcs(a: readonly string[], b: readonly string[], budget: Effort): Step<string>[] {
  // Numbers are compared in one step, texts are not.
  const numbers = new Map<string, number>();
  const numbered = (list: readonly string[]) =>
    list.map((text) => {
      const known = numbers.get(text) ?? numbers.size;
      numbers.set(text, known);
      return known;
    });
  const [m, n] = [numbered(a), numbered(b)];
  let from = 0;
  while (from < m.length && from < n.length && m[from] === n[from]) from++;
  let same = 0;
  while (same < m.length - from && same < n.length - from && m[m.length - 1 - same] === n[n.length - 1 - same]) same++;
  const [aEnd, bEnd] = [m.length - same, n.length - same];
  const width = bEnd - from + 1;
  const cells = (aEnd - from) * (bEnd - from);
  const fits = cells <= budget.left;
  if (fits) budget.left -= cells;
  const table = new Uint32Array(fits ? (aEnd - from + 1) * width : 0);
  const at = (i: number, j: number) => table[(i - from) * width + (j - from)] ?? 0;
  if (fits) {
    for (let i = aEnd - 1; i >= from; i--) {
      for (let j = bEnd - 1; j >= from; j--) {
        table[(i - from) * width + (j - from)] = m[i] === n[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  const steps: Step<string>[] = [];
  const text = (list: readonly string[], i: number) => list[i] ?? "";
  let i = 0;
  let j = 0;
  while (i < m.length || j < n.length) {
    const paired = i < from || i >= aEnd ? j < from || j >= bEnd : fits && j < bEnd && m[i] === n[j];
    if (paired) steps.push({ op: "equal", left: text(a, i++), right: text(b, j++) });
    else if (i < aEnd && (j >= bEnd || !fits || at(i + 1, j) >= at(i, j + 1))) steps.push({ op: "removed", left: text(a, i++) });
    else steps.push({ op: "added", right: text(b, j++) });
  }
  return steps;
}

// Words of any script; of scripts that put no space between words, each letter.
const token = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]\p{M}*|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[\p{L}\p{N}\p{M}_])+|\s+|[^\s]/gu;

function tokens(line: string): string[] {
  return line.match(token) ?? [];
}

function refine(left: string, right: string, budget: Effort): { left: Token[]; right: Token[] } {
  const out = { left: [] as Token[], right: [] as Token[] };
  const push = (list: Token[], text: string, changed: boolean) => {
    const last = list.at(-1);
    if (last?.changed === changed) last.text += text;
    else list.push({ text, changed });
  };
  for (const step of lcs(tokens(left), tokens(right), budget)) {
    if (step.op !== "added") push(out.left, step.left, step.op === "removed");
    if (step.op !== "removed") push(out.right, step.right, step.op === "added");
  }
  return out;
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

/**
 * Compares two texts line by line, pairing deletions with the insertions that
 * follow them. What goes beyond the budget is compared less finely.
 */
export function diffLines(before: string, after: string, budget: Effort = { left: effort }): DiffRow[] {
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
      const refined = refine(removed[i] ?? "", added[i] ?? "", budget);
      rows.push({ kind: "changed", ...refined, leftNo: leftNo++, rightNo: rightNo++ });
    }
    for (const left of removed.slice(pairs)) rows.push({ kind: "removed", left, leftNo: leftNo++ });
    for (const right of added.slice(pairs)) rows.push({ kind: "added", right, rightNo: rightNo++ });
    removed = [];
    added = [];
  };
  for (const step of lcs(a, b, budget)) {
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
