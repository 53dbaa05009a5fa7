import type { UIMessage } from "ai";
import { useEffect, useRef, useState } from "react";
import { blocksOf } from "./fold";

const longest = 400;

/** What a finished answer says to who cannot see it: its text, and what it waits for. */
export function spokenAnswer(message: UIMessage | undefined): string {
  const blocks = message?.role === "assistant" ? blocksOf(message, true) : [];
  const text = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join(" ");
  const cards = blocks.flatMap((block) => {
    if (block.kind === "confirm" && block.card.token) return [`${block.card.effect === "destructive" ? "A change that cannot be undone" : "A change"} needs your approval: ${block.card.summary}.`];
    if (block.kind === "applied") return [`Applied: ${block.card.summary}.`];
    if (block.kind === "question") return [`The assistant asks: ${block.card.question} ${block.card.options.map((option) => option.label).join(", ")}.`];
    return [];
  });
  return [text.length > longest ? `${text.slice(0, longest)}…` : text, ...cards].join(" ").trim();
}

/** Tells screen readers the finished answer once, not every fragment of it. */
export function Announcer({ messages, streaming }: { messages: UIMessage[]; streaming: boolean }) {
  const [spoken, setSpoken] = useState("");
  const was = useRef(streaming);
  useEffect(() => {
    if (was.current && !streaming) setSpoken(spokenAnswer(messages.at(-1)));
    else if (!was.current && streaming) setSpoken("The assistant is answering.");
    was.current = streaming;
  }, [streaming, messages]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {spoken}
    </p>
  );
}
