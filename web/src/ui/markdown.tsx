import { isValidElement, memo, useMemo } from "react";
import ReactMarkdown, { defaultUrlTransform, type Components } from "react-markdown";
import { Link } from "react-router";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { splitBlocks } from "./blocks";
import { useMentioned } from "./mention-scope";
import { parseMention } from "./mentions";
import { OrElse } from "./or-else";

// Foreign text: no images (an address could carry data away), no forms, and
// links to web and mail addresses only.
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !["img", "picture", "source", "input"].includes(name)),
  protocols: { href: ["http", "https", "mailto"] },
};

/** The visible text below an element. */
function plainText(node: React.ReactNode): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(plainText).join("");
  return isValidElement<{ children?: React.ReactNode }>(node) ? plainText(node.props.children) : "";
}

/** Undoes percent-encoding; what is none stays as it was written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where a link really leads, when its own text does not say so. */
export function hiddenTarget(href: string, shown: string): string | undefined {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return undefined;
  }
  const target = url.protocol === "mailto:" ? decoded(url.pathname) : url.host;
  const text = shown.trim().toLowerCase();
  // Only a text that is the address, or begins with the very host, tells where it leads.
  const bare = text.replace(/^(https?:\/\/|mailto:)/, "");
  return bare === target || (url.protocol !== "mailto:" && bare.startsWith(`${target}/`)) ? undefined : target;
}

function ForeignLink({ href, children }: { href?: string | undefined; children?: React.ReactNode }) {
  // An address without scheme and host would lead somewhere inside of this site.
  if (!href || !/^(https?:|mailto:)/i.test(href)) return <bdi>{children}</bdi>;
  const hidden = hiddenTarget(href, plainText(children));
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        <bdi>{children}</bdi>
      </a>
      {hidden ? <bdi className="text-ink-3"> ({hidden})</bdi> : null}
    </>
  );
}

// What may scroll sideways needs a way in for the keyboard.
const components: Components = {
  a: ForeignLink,
  p: ({ children }) => <p dir="auto">{children}</p>,
  table: ({ children }) => (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="max-w-full overflow-x-auto" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre role="region" aria-label="Code" tabIndex={0}>
      {children}
    </pre>
  ),
};

// Quotes and lists in each other, further than anybody writes them: reading them
// takes a time and a stack that grow with their depth.
const deep = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){30}/m;

/** How far folded sections may stand in each other. */
const maxFolds = 20;

/** The text as it was typed, for one that Markdown cannot show. */
function Plain({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap">
      {text}
    </p>
  );
}

const Block = memo(function Block({ text }: { text: string }) {
  if (deep.test(text)) return <Plain text={text} />;
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm, safeHtml]} rehypePlugins={[[rehypeSanitize, schema]]} components={components}>
      {text}
    </ReactMarkdown>
  );
});

/** Sanitised Markdown. While text streams in, only its last block renders again. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  return (
    <div className="prose min-w-0 break-words">
      {blocks.map((block, i) => (
        <OrElse key={i} of={block} fallback={<Plain text={block} />}>
          <Block text={block} />
        </OrElse>
      ))}
    </div>
  );
}

type Node = { type: string; value?: string; alt?: string | null; children?: Node[]; data?: { hName: string } };

const tag = /<\s*(\/?)\s*(details|summary|br)\b[^<>]*>/gi;

/**
 * Makes folded sections and line breaks of the few tags that answers use, and
 * leaves all other HTML as the text it is. Attributes are dropped: nothing but
 * the tags' names is taken over.
 */
export function safeHtml() {
  const element = (name: string): Node => ({ type: "safeHtml", children: [], data: { hName: name } });
  const fold = (children: Node[], inFlow: boolean): Node[] => {
    const out: Node[] = [];
    const open: Node[] = [];
    const put = (node: Node) => {
      (open.at(-1)?.children ?? out).push(node);
    };
    const putText = (value: string) => {
      if (value.trim() === "" && inFlow) return;
      const text: Node = { type: "text", value };
      put(inFlow && open.at(-1)?.data?.hName !== "summary" ? { type: "paragraph", children: [text] } : text);
    };
    for (const child of children) {
      if (child.type === "image" || child.type === "imageReference") {
        // An address could carry data away, so only the words for the image are left.
        put({ type: "text", value: child.alt ?? "" });
        continue;
      }
      if (child.type !== "html") {
        if (child.children) child.children = fold(child.children, ["blockquote", "listItem", "footnoteDefinition"].includes(child.type));
        put(child);
        continue;
      }
      const value = child.value ?? "";
      let at = 0;
      for (const match of value.matchAll(tag)) {
        putText(value.slice(at, match.index));
        at = match.index + match[0].length;
        const name = (match[2] ?? "").toLowerCase();
        if (name === "br") put({ type: "break" });
        else if (match[1] !== "/") {
          if (open.length >= maxFolds) continue;
          const made = element(name);
          put(made);
          open.push(made);
        } else if (open.some((each) => each.data?.hName === name)) {
          while (open.pop()?.data?.hName !== name);
        }
      }
      putText(value.slice(at));
    }
    return out;
  };
  return (tree: Node) => {
    if (tree.children) tree.children = fold(tree.children, true);
  };
}

/** Shows HTML as it was typed: "<timeout>" in an update is a word someone meant. */
function literalHtml() {
  const visit = (node: Node, inFlow: boolean) => {
    node.children = node.children?.map((child) => {
      if (child.type !== "html") {
        visit(child, ["blockquote", "listItem", "footnoteDefinition"].includes(child.type));
        return child;
      }
      const text = { type: "text", value: child.value ?? "" };
      return inFlow ? { type: "paragraph", children: [text] } : text;
    });
  };
  return (tree: Node) => visit(tree, true);
}

const operatorSchema = { ...schema, protocols: { href: ["http", "https", "mailto", "checkstack"] } };

function OperatorLink({ href, children }: { href?: string | undefined; children?: React.ReactNode }) {
  const mentioned = useMentioned();
  const ref = parseMention(href);
  if (ref) {
    const found = mentioned(ref);
    if (!found) return <bdi>{children}</bdi>;
    return (
      <Link to={found.href} title={`${found.noun}: ${found.title}`}>
        <bdi>{children}</bdi>
      </Link>
    );
  }
  // An address without scheme and host would lead somewhere inside of this site.
  if (!href || !/^(https?:|mailto:)/i.test(href)) return <bdi>{children}</bdi>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{children}</bdi>
    </a>
  );
}

// Each block decides its own direction, so that a Hebrew update does not turn
// the English one after it around.
const operatorComponents: Components = {
  a: OperatorLink,
  p: ({ children }) => <p dir="auto">{children}</p>,
  ul: ({ children }) => <ul dir="auto">{children}</ul>,
  ol: ({ children, start }) => (
    <ol dir="auto" start={start}>
      {children}
    </ol>
  ),
  h1: ({ children }) => <p dir="auto" className="font-semibold">{children}</p>,
  h2: ({ children }) => <p dir="auto" className="font-semibold">{children}</p>,
  h3: ({ children }) => <p dir="auto" className="font-semibold">{children}</p>,
  h4: ({ children }) => <p dir="auto" className="font-semibold">{children}</p>,
  h5: ({ children }) => <p dir="auto" className="font-semibold">{children}</p>,
  h6: ({ children }) => <p dir="auto" className="font-semibold">{children}</p>,
};

/**
 * What people wrote about their systems: sanitised Markdown in which mentions
 * become links, as far as the MentionScope around it knows them.
 */
export const OperatorText = memo(function OperatorText({ text, className }: { text: string; className?: string | undefined }) {
  return (
    <div className={`prose min-w-0 break-words ${className ?? ""}`}>
      {deep.test(text) ? (
        <Plain text={text} />
      ) : (
        <OrElse of={text} fallback={<Plain text={text} />}>
          <ReactMarkdown
            remarkPlugins={[remarkGfm, literalHtml]}
            rehypePlugins={[[rehypeSanitize, operatorSchema]]}
            components={operatorComponents}
            urlTransform={(url) => (parseMention(url) ? url : defaultUrlTransform(url))}
          >
            {text}
          </ReactMarkdown>
        </OrElse>
      )}
    </div>
  );
});
