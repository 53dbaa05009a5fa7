/**
 * Mentions in operator text. They are stored as Markdown links whose target
 * names a record, not an address: `[label](checkstack:<type>/<id>)`.
 */
export type MentionRef = { type: string; id: string };

/** What an owner tells about a record that the reader may read. */
export type MentionItem = {
  id: string;
  title: string;
  /** A record that is over ranks last; absent counts as active. */
  active?: boolean | undefined;
};

/** One kind of record that texts can mention, contributed by its owner. */
export type MentionType = {
  /** The part after "checkstack:". */
  type: string;
  /** What the reader calls such a record: "Incident". */
  noun: string;
  /** The rule that reading such records needs; without it nothing is asked or linked. */
  rule: string;
  /** Plugin whose realtime signals make answers stale. */
  plugin: string;
  /** The page of one record. */
  href: (id: string) => string;
  /** Of these ids the ones the reader may read, in any order; 1 to 100 ids. */
  resolve: (ids: string[]) => Promise<MentionItem[]>;
  /** Records that fit the words, best first. */
  search: (query: string, limit: number) => Promise<MentionItem[]>;
};

/** A record that the reader may open. */
export type Mentioned = MentionRef & { title: string; active: boolean; noun: string; href: string };

const scheme = "checkstack:";

/** Reads the target of a link; undefined when it names no record. */
export function parseMention(href: string | undefined): MentionRef | undefined {
  const match = /^checkstack:([a-z][a-z0-9-]*)\/([A-Za-z0-9._-]{1,100})$/.exec(href ?? "");
  return match?.[1] && match[2] ? { type: match[1], id: match[2] } : undefined;
}

/** Writes the stored form. Whatever the title holds, it stays the link's label. */
export function mentionMarkdown(ref: MentionRef, title: string): string {
  const label = title
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_[\]<>!#~|&:@]/g, "\\$&");
  return `[${label}](${scheme}${ref.type}/${ref.id})`;
}

/** The text without code, in which a mention is shown as it was written and refers to nothing. */
function withoutCode(text: string): string {
  let fence: string | undefined;
  return text
    .replace(/\\[^\n]/g, "")
    .split("\n")
    .map((line) => {
      const mark = /^\s{0,3}(```|~~~)/.exec(line)?.[1];
      const inside = fence !== undefined;
      if (mark !== undefined && (!inside || mark === fence)) fence = inside ? undefined : mark;
      return inside || mark !== undefined ? "" : line.replace(/`[^`]*`/g, "");
    })
    .join("\n");
}

/** The records that texts mention, each once, in the order of their first mention. */
export function mentionsIn(texts: readonly (string | null | undefined)[]): MentionRef[] {
  const found = new Map<string, MentionRef>();
  for (const text of texts) {
    if (!text?.includes(scheme)) continue;
    for (const match of withoutCode(text).matchAll(/\]\((checkstack:[^)\s]{1,160})\)/g)) {
      const ref = parseMention(match[1]);
      if (ref) found.set(keyOf(ref), found.get(keyOf(ref)) ?? ref);
    }
  }
  return [...found.values()];
}

export function keyOf(ref: MentionRef): string {
  return `${ref.type}/${ref.id}`;
}

/** How many suggestions the picker shows at most. */
export const mentionLimit = 10;

/**
 * Orders suggestions: what is active before what is over, then a match at the
 * start of the title before one inside it, then by alphabet. Without a query
 * the owner's order stays.
 */
export function rankMentions<T extends { title: string; active?: boolean | undefined }>(items: readonly T[], query: string): T[] {
  const needle = query.trim().toLocaleLowerCase();
  return [...items]
    .sort((a, b) => {
      const byState = Number(a.active === false) - Number(b.active === false);
      if (byState !== 0 || needle === "") return byState;
      const x = a.title.toLocaleLowerCase();
      const y = b.title.toLocaleLowerCase();
      return Number(!x.startsWith(needle)) - Number(!y.startsWith(needle)) || x.localeCompare(y, undefined, { numeric: true });
    })
    .slice(0, mentionLimit);
}

/** The "#query" that ends at the caret: where it starts and what was typed after "#". */
export function mentionQuery(text: string, caret: number): { start: number; query: string } | undefined {
  // "# " begins a heading and "a#b" or "##" is not a mention either.
  const match = /(?:^|[\s(])#((?:[^\s#[\]()][^\n#[\]()]{0,60})?)$/.exec(text.slice(Math.max(0, caret - 80), caret));
  if (!match) return undefined;
  const query = match[1] ?? "";
  // Nobody searches for a sentence: after four words the "#" was meant as such.
  if (query.split(/\s+/).length > 4) return undefined;
  return { start: caret - query.length - 1, query };
}
