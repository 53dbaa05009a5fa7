import { memo, useMemo } from "react";
import ReactMarkdown, { defaultUrlTransform, type Components } from "react-markdown";
import { Link } from "react-router";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { splitBlocks } from "./blocks";
import { useMentioned } from "./mention-scope";
import { parseMention } from "./mentions";

// Foreign text: no images (an address could carry data away), no forms, and
// links to web and mail addresses only.
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !["img", "picture", "source", "input"].includes(name)),
  protocols: { href: ["http", "https", "mailto"] },
};

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
};

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[[rehypeSanitize, schema]]} components={components}>
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
        <Block key={i} text={block} />
      ))}
    </div>
  );
}

type Node = { type: string; value?: string; children?: Node[] };

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
      <ReactMarkdown
        remarkPlugins={[remarkGfm, literalHtml]}
        rehypePlugins={[[rehypeSanitize, operatorSchema]]}
        components={operatorComponents}
        urlTransform={(url) => (parseMention(url) ? url : defaultUrlTransform(url))}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
});
