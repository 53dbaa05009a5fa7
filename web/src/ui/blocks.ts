/**
 * Cuts Markdown at blank lines into pieces that render alone. Fenced code stays
 * whole, and so do lists, indented text and <details>, whose meaning spans blank
 * lines.
 */
export function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let current: string[] = [];
  let fence: string | undefined;
  let folded = 0;
  const flush = () => {
    if (current.some((line) => line.trim() !== "")) blocks.push(current.join("\n"));
    current = [];
  };
  const lines = text.split("\n");
  lines.forEach((line, i) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence.charAt(0)) && mark.length >= fence.length) fence = undefined;
    }
    if (fence === undefined) for (const [, closing] of line.matchAll(/<(\/?)details\b/gi)) folded = closing === "/" ? Math.max(0, folded - 1) : folded + 1;
    if (line.trim() !== "" || fence !== undefined || folded > 0) {
      current.push(line);
      return;
    }
    const next = lines[i + 1] ?? "";
    const inList = current.some((each) => /^\s*([-*+]|\d+[.)])\s/.test(each));
    if (/^(\s{2,}|\t)/.test(next) || (inList && /^\s*([-*+]|\d+[.)])\s/.test(next))) current.push(line);
    else flush();
  });
  flush();
  return blocks;
}
