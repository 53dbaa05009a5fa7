import { clsx } from "clsx";
import { ArrowRight, Ban, Check, CircleCheck, CircleX, Clock, Hourglass, LoaderCircle, ShieldAlert, ShieldQuestion, TriangleAlert } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState, type RefObject } from "react";
import { Link } from "react-router";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { DiffView } from "@/ui/diff-view";
import { Badge } from "@/ui/state";
import { countdown, exactTime } from "@/ui/time";
import { useProposal } from "./api";
import { isOpen, withState, type AppliedCard, type Block, type ConfirmCard } from "./fold";
import { actionTitle, toolLabel } from "./labels";
import { useNames } from "./names";
import { PayloadView, RawData } from "./payload";
import { targetOf, timesOf, wordDiff } from "./words";

/** What the reader decided in this session, before the stored card knows it. */
export type Decision = { state: "applying" | "declining" } | { state: "applied"; result?: unknown } | { state: "declined" } | { state: "failed"; message: string };

export function ToolLine({ block }: { block: Extract<Block, { kind: "tool" }> }) {
  const [started] = useState(() => (block.status === "running" ? Date.now() : undefined));
  const [took, setTook] = useState<number>();
  if (block.status !== "running" && started !== undefined && took === undefined) setTook(Date.now() - started);
  const label = toolLabel(block.toolName, block.status === "running" || block.status === "stopped");
  const hasMore = block.input !== undefined || block.output !== undefined;
  const line = (
    <>
      {block.status === "running" ? <LoaderCircle aria-hidden size={15} className="spin shrink-0" /> : null}
      {block.status === "done" ? <Check aria-hidden size={15} className="shrink-0 text-healthy" /> : null}
      {block.status === "stopped" ? <Ban aria-hidden size={15} className="shrink-0 text-ink-3" /> : null}
      {block.status === "error" ? <TriangleAlert aria-hidden size={15} className="shrink-0 text-degraded" /> : null}
      <span title={block.toolName}>
        {label}
        {block.status === "running" ? "…" : ""}
        {block.status === "stopped" ? ", stopped" : ""}
      </span>
      {took !== undefined ? <span className="text-ink-3">{(took / 1000).toFixed(1)} s</span> : null}
    </>
  );
  return (
    <div className="text-sm text-ink-2">
      {hasMore ? (
        <details>
          <summary className="inline-flex min-h-6 items-center gap-2 rounded-[6px] hover:text-ink">{line}</summary>
          <div className="mt-1.5 mb-1 grid gap-2 border-l-2 border-line pl-3">
            <Json label="Arguments" value={block.input} />
            <Json label="Result" value={block.output} />
          </div>
        </details>
      ) : (
        <p className="inline-flex min-h-6 items-center gap-2">{line}</p>
      )}
      {block.errorText ? <p className="mt-0.5 pl-[23px] break-words text-unhealthy-ink"><bdi>{block.errorText}</bdi></p> : null}
    </div>
  );
}

function Json({ label, value }: { label: string; value: unknown }) {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <div>
      <p className="text-xs text-ink-3">{label}</p>
      {/* Long content scrolls, so the keyboard needs a way in. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="region" aria-label={label} className="max-h-56 overflow-auto rounded-[8px] bg-raised p-2.5 font-mono text-xs break-words whitespace-pre-wrap">
        {text}
      </pre>
    </div>
  );
}

/**
 * A change that waits for the reader. It stays after the decision, with what
 * became of it. unblocked: what had to happen first has happened meanwhile.
 * onAskAgain: repeats what the reader had asked for.
 */
export function ConfirmCardView({ card: stored, decision, unblocked = false, onApply, onDecline, onAskAgain }: { card: ConfirmCard; decision: Decision | undefined; unblocked?: boolean; onApply?: () => void; onDecline?: () => void; onAskAgain?: () => void }) {
  const now = useNow();
  const id = useId();
  // Another tab, or someone with the API, may decide while this page is open.
  const proposal = useProposal(stored.toolCallId, (decision === undefined || decision.state === "failed") && isOpen(stored, now));
  const card = withState(stored, proposal.data);
  const safe = useRef<HTMLButtonElement>(null);
  const destructive = card.effect === "destructive";
  const expires = new Date(card.expiresAt);
  const settled = decision?.state === "applied" || decision?.state === "declined" ? decision.state : card.status;
  const waiting = settled === "awaiting_operator" || settled === "proposed";
  const busy = decision?.state === "applying" || decision?.state === "declining";
  const expired = settled === "expired" || (waiting && !busy && expires <= now);
  const open = waiting && !expired && card.token !== undefined && onApply !== undefined;
  const declined = settled === "declined" || settled === "rejected";
  const outdated = settled === "failed" && card.outdated;
  useSafeFocus(safe, destructive && open);
  const frame = useRef<HTMLElement>(null);
  useKeptFocus(frame, open);
  const target = settled === "applied" ? targetOf(card.toolName, card.payload, decision?.state === "applied" ? (decision.result ?? card.result) : card.result) : undefined;
  const error = decision?.state === "failed" && !outdated ? decision.message : settled === "failed" ? (card.error ?? "The change failed; nothing further was done.") : undefined;
  return (
    <section
      ref={frame}
      tabIndex={-1}
      aria-labelledby={`${id}-title`}
      className={clsx("card overflow-hidden outline-none", destructive && open ? "border-unhealthy! border-l-4!" : "", !open && !error && "bg-surface/70")}
    >
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-1 border-b border-line px-4 py-2.5">
        {destructive ? <ShieldAlert aria-hidden size={17} className="text-unhealthy" /> : <ShieldQuestion aria-hidden size={17} className="text-accent-ink" />}
        <h2 id={`${id}-title`} className="font-semibold" title={card.toolName}>
          {actionTitle(card.toolName)}
        </h2>
        {destructive ? <Badge tone="danger">cannot be undone</Badge> : null}
        <span className="ml-auto text-sm text-ink-2">
          {open ? "needs your approval" : null}
          {settled === "applied" ? <Badge tone="good">Applied</Badge> : null}
          {declined ? <Badge>Declined</Badge> : null}
          {expired ? <Badge>Expired</Badge> : null}
          {settled === "applying" ? <Badge>Being applied</Badge> : null}
          {outdated ? <Badge tone="warn">Out of date</Badge> : settled === "failed" ? <Badge tone="danger">Failed</Badge> : null}
        </span>
      </header>
      <div className="px-4 py-3">
        <p className="mb-2 font-medium break-words">
          <bdi>{timesOf(card.summary)}</bdi>
        </p>
        <Change diff={card.diff} payload={card.payload} title={timesOf(card.summary)} />
        {open && card.blocked && !unblocked && !error ? (
          <p className="mt-3 flex items-start gap-2 rounded-[8px] bg-raised px-3 py-2 text-ink-2">
            <Hourglass aria-hidden size={15} className="mt-0.5 shrink-0" />
            <span className="min-w-0 break-words">{card.blocked}</span>
          </p>
        ) : null}
        {error ? (
          <p role="alert" className={clsx("mt-3 rounded-[8px] px-3 py-2 break-words", outdated ? "bg-degraded-soft text-degraded-ink" : "bg-unhealthy-soft text-unhealthy-ink")}>
            {error}
          </p>
        ) : null}
      </div>
      {open ? (
        <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-2.5">
          <span className="mr-auto inline-flex items-center gap-1.5 text-sm text-ink-3" title={exactTime(expires)}>
            <Clock aria-hidden size={14} />
            expires in {countdown(expires, now)}
          </span>
          {/* The safe answer comes first, so that the keyboard meets it first. */}
          <div className="ml-auto flex flex-wrap justify-end gap-2">
            <Button ref={safe} look={destructive ? "primary" : "secondary"} busy={decision?.state === "declining"} disabled={busy} onClick={onDecline}>
              Decline
            </Button>
            <Button look={destructive ? "danger" : "primary"} busy={decision?.state === "applying"} disabled={busy} onClick={onApply}>
              {destructive ? actionTitle(card.toolName) : "Apply change"}
            </Button>
          </div>
        </footer>
      ) : null}
      {outdated && onAskAgain ? (
        <footer className="flex justify-end border-t border-line px-4 py-2.5">
          <Button onClick={onAskAgain}>Ask again</Button>
        </footer>
      ) : null}
      <OpenLink target={target} />
      {expired ? <p className="border-t border-line px-4 py-2.5 text-sm text-ink-2">This proposal is too old to apply; nothing was changed. Ask again to get a new one.</p> : null}
      {declined ? <p className="border-t border-line px-4 py-2.5 text-sm text-ink-2">You declined; nothing was changed.</p> : null}
    </section>
  );
}

/** What changes, in words, with the exact data on demand. */
function Change({ diff, payload, title }: { diff: ConfirmCard["diff"]; payload: unknown; title: string }) {
  const names = useNames();
  const worded = useMemo(() => (diff ? wordDiff(diff, names) : []), [diff, names]);
  if (!diff) return <PayloadView payload={payload} />;
  return (
    <>
      <DiffView changes={worded} title={title} />
      <details>
        <summary className="text-sm text-ink-3">Raw data</summary>
        <RawData value={diff} />
      </details>
    </>
  );
}

function OpenLink({ target }: { target: ReturnType<typeof targetOf> }) {
  if (!target) return null;
  return (
    <p className="border-t border-line px-4 py-2.5">
      <Link to={target.to} className="link inline-flex min-h-6 items-center gap-1">
        {target.label}
        <ArrowRight aria-hidden size={14} />
      </Link>
    </p>
  );
}

/** The buttons go away with the decision; the focus that was on them stays on the card. */
function useKeptFocus(frame: RefObject<HTMLElement | null>, open: boolean) {
  const was = useRef(open);
  const inside = useRef(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const enter = () => (inside.current = true);
    const leave = (event: FocusEvent) => {
      // A removed button gives no new owner of the focus; a person who leaves does.
      if (event.relatedTarget instanceof Node && !element.contains(event.relatedTarget)) inside.current = false;
    };
    element.addEventListener("focusin", enter);
    element.addEventListener("focusout", leave);
    return () => {
      element.removeEventListener("focusin", enter);
      element.removeEventListener("focusout", leave);
    };
  }, [frame]);
  useEffect(() => {
    if (was.current && !open && inside.current && (document.activeElement === document.body || document.activeElement === null)) frame.current?.focus({ preventScroll: true });
    was.current = open;
  }, [open, frame]);
}

/**
 * Moves the focus to the safe answer of a destructive card that just appeared,
 * but only from an empty message field: whoever is typing or elsewhere stays.
 */
function useSafeFocus(safe: RefObject<HTMLButtonElement | null>, open: boolean) {
  const asked = useRef(false);
  useEffect(() => {
    if (!open || asked.current) return;
    asked.current = true;
    const active = document.activeElement;
    if (active instanceof HTMLTextAreaElement && active.value === "") safe.current?.focus({ preventScroll: true });
  }, [open, safe]);
}

export function AppliedCardView({ card }: { card: AppliedCard }) {
  const id = useId();
  return (
    <section aria-labelledby={`${id}-title`} className="card overflow-hidden">
      <header className="flex flex-wrap items-center gap-2.5 px-4 py-2.5">
        <CircleCheck aria-hidden size={17} className="text-healthy" />
        <h2 id={`${id}-title`} className="font-semibold" title={card.toolName}>
          {actionTitle(card.toolName)}
        </h2>
        <Badge tone="good" className="ml-auto">
          Applied
        </Badge>
      </header>
      <div className="border-t border-line px-4 py-3">
        <p className="mb-2 font-medium break-words">
          <bdi>{timesOf(card.summary)}</bdi>
        </p>
        <Change diff={card.diff} payload={card.result} title={timesOf(card.summary)} />
      </div>
      <OpenLink target={targetOf(card.toolName, undefined, card.result)} />
    </section>
  );
}

export function DecisionLine({ block }: { block: Extract<Block, { kind: "decision" }> }) {
  const applied = block.decision === "apply";
  return (
    <p className="flex items-center justify-end gap-1.5 text-sm text-ink-2">
      {applied ? <Check aria-hidden size={15} className="text-healthy" /> : <CircleX aria-hidden size={15} className="text-ink-3" />}
      {applied ? "You applied: " : "You declined: "}
      <bdi>{timesOf(block.summary)}</bdi>
    </p>
  );
}
