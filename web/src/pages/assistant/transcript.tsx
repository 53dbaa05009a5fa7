import { ArrowDown, LoaderCircle } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "@/ui/button";
import { AppliedCardView, ConfirmCardView, DecisionLine, ToolLine, type Decision } from "./cards";
import { chatError } from "./error-text";
import { FailureNotice } from "./banner";
import { blocksOf, isWaiting, type ConfirmCard } from "./fold";
import { QuestionCardView } from "./question";
import { Markdown } from "@/ui/markdown";
import { OrElse } from "@/ui/or-else";

type MessageLike = { id: string; role: string; parts: readonly unknown[]; metadata?: unknown };

/** The messages in order. Scrolls along only while the reader is at the end. */
export function Transcript({
  messages,
  streaming,
  decisions,
  onApply,
  onDecline,
  onAnswer,
  children,
}: {
  messages: readonly MessageLike[];
  streaming: boolean;
  decisions: Record<string, Decision>;
  /** Without them nothing can be decided here. */
  onApply?: (card: ConfirmCard) => void;
  onDecline?: (card: ConfirmCard) => void;
  /** Answers a question of the last message. */
  onAnswer?: (text: string) => void;
  children?: ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const [away, setAway] = useState(false);

  const toEnd = () => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
  }, [messages]);
  // Cards and Markdown settle their height after the messages changed.
  useEffect(() => {
    if (!content.current) return;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  const last = messages.at(-1);
  const lastBlock = last?.role === "assistant" ? blocksOf(last).at(-1) : undefined;
  const steps = last?.role === "assistant" ? last.parts.filter((part) => (part as { type?: unknown }).type === "step-start").length : 0;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        // Positioned, so that texts for screen readers scroll with it and do not
        // stretch the page.
        className="relative h-full overflow-y-auto"
        // The list scrolls on its own, so the keyboard needs a way in.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label="Conversation"
        onScroll={(event) => {
          const element = event.currentTarget;
          atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
          setAway(!atEnd.current);
        }}
      >
        <div ref={content} className="mx-auto grid w-full max-w-[820px] grid-cols-[minmax(0,1fr)] gap-4 px-3 py-5 md:px-6">
          {messages.map((message, i) => (
            <OrElse key={message.id} of={!streaming || message !== last} fallback={<p role="alert" className="text-sm text-ink-3">This message cannot be shown.</p>}>
              <Message message={message} settled={!streaming || message !== last} decisions={decisions} {...(onAnswer && !streaming ? { onAskAgain: () => onAnswer(askedBefore(messages, i)) } : {})} {...(onAnswer && !streaming && message === last ? { onAnswer } : {})} {...(onApply && onDecline ? { decide: { apply: onApply, decline: onDecline } } : {})} />
            </OrElse>
          ))}
          {isWaiting(streaming, lastBlock) ? (
            <p className="late flex items-center gap-2 text-sm text-ink-3">
              <LoaderCircle aria-hidden size={15} className="spin" />
              {steps > 1 ? `Working (step ${steps})` : "Thinking"}
            </p>
          ) : null}
          {children}
        </div>
      </div>
      {away && messages.length > 0 ? (
        <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
          <Button size="sm" className="pointer-events-auto shadow-[var(--shadow-overlay)]" icon={<ArrowDown aria-hidden size={14} />} onClick={toEnd}>
            Newest message
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** The reader's words that a message answers. */
function askedBefore(messages: readonly MessageLike[], index: number): string {
  for (const message of messages.slice(0, index).reverse()) {
    const words = message.role === "user" ? blocksOf(message).flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n\n") : "";
    if (words !== "") return words;
  }
  return "";
}

type Decide = Record<"apply" | "decline", (card: ConfirmCard) => void>;

function Message({ message, settled, decisions, decide, onAskAgain, onAnswer }: { message: MessageLike; settled: boolean; decisions: Record<string, Decision>; decide?: Decide; onAskAgain?: () => void; onAnswer?: (text: string) => void }) {
  const blocks = blocksOf(message, settled);
  const applied = blocks.some((block) => block.kind === "confirm" && (block.card.status === "applied" || decisions[block.card.toolCallId]?.state === "applied"));
  if (message.role === "user") {
    return (
      <div className="flex flex-col items-end">
        {blocks.map((block) =>
          block.kind === "decision" ? (
            <DecisionLine key={block.key} block={block} />
          ) : block.kind === "text" ? (
            <div key={block.key} dir="auto" className="max-w-[85%] rounded-[10px] bg-accent-soft px-3.5 py-2 break-words whitespace-pre-wrap text-ink">
              <span className="sr-only">You: </span>
              {block.text}
            </div>
          ) : null,
        )}
      </div>
    );
  }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2.5">
      <span className="sr-only">Assistant:</span>
      {blocks.map((block) => {
        switch (block.kind) {
          case "text":
            return <Markdown key={block.key} text={block.text} />;
          case "tool":
            return <ToolLine key={block.key} block={block} />;
          case "confirm":
            return <ConfirmCardView key={block.key} card={block.card} decision={decisions[block.card.toolCallId]} unblocked={applied} {...(onAskAgain ? { onAskAgain } : {})} {...(decide ? { onApply: () => decide.apply(block.card), onDecline: () => decide.decline(block.card) } : {})} />;
          case "applied":
            return <AppliedCardView key={block.key} card={block.card} />;
          case "question":
            return <QuestionCardView key={block.key} card={block.card} open={onAnswer !== undefined} {...(onAnswer ? { onAnswer } : {})} />;
          case "notice":
            return block.tone === "warn" ? (
              <FailureNotice key={block.key} error={chatError(block.text)} />
            ) : (
              <p key={block.key} className="text-sm text-ink-3">
                {block.text}
              </p>
            );
          case "decision":
            return <DecisionLine key={block.key} block={block} />;
        }
      })}
    </div>
  );
}
