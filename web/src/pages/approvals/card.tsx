import { clsx } from "clsx";
import { CircleCheck, Clock, Hourglass, Link2, ShieldAlert, ShieldQuestion } from "lucide-react";
import { useEffect, useId, useMemo, useRef } from "react";
import { Link } from "react-router";
import { readDiff } from "@/pages/assistant/fold";
import { actionTitle } from "@/pages/assistant/labels";
import { PayloadView } from "@/pages/assistant/payload";
import { Button } from "@/ui/button";
import { RelativeTime, useNow } from "@/ui/clock";
import { DiffView } from "@/ui/diff-view";
import { Badge } from "@/ui/state";
import { exactTime } from "@/ui/time";
import { useToolCall, type Call } from "./api";
import { phaseOf, type Outcome, type Phase } from "./inbox";
import { doorPhrases, timeLeft, whoName } from "./words";

const words: Record<Exclude<Phase, "open" | "busy">, { label: string; tone: "neutral" | "good" | "danger" | "accent" | "warn" }> = {
  applied: { label: "Applied", tone: "good" },
  declined: { label: "Declined", tone: "neutral" },
  expired: { label: "Expired", tone: "neutral" },
  failed: { label: "Failed", tone: "danger" },
  outdated: { label: "Out of date", tone: "warn" },
  applying: { label: "Being applied", tone: "accent" },
  gone: { label: "No longer waiting", tone: "neutral" },
};

/**
 * A change that waits, or what became of it. waiting: it is in the inbox now.
 * focused: the address names it.
 */
export function ApprovalCard({ call: stored, waiting, outcome, focused, onApprove, onReject }: { call: Call; waiting: boolean; outcome: Outcome | undefined; focused: boolean; onApprove: () => void; onReject: () => void }) {
  const id = useId();
  const now = useNow();
  const heading = useRef<HTMLHeadingElement>(null);
  // Decided by somebody else, or too late: the log knows, for those who may read it.
  const log = useToolCall(stored.toolCallId, !waiting && outcome?.state !== "applied" && outcome?.state !== "declined");
  const call = waiting ? stored : (log.data ?? stored);
  const phase = phaseOf(stored, waiting, outcome, log.data, now);
  const open = phase === "open" || phase === "busy";
  const destructive = call.effect === "destructive";
  const expires = call.expiresAt ? new Date(call.expiresAt) : undefined;
  const diff = useMemo(() => readDiff(call.diff), [call.diff]);
  const outdated = phase === "outdated";
  const error = outdated ? call.error : outcome?.state === "failed" ? outcome.message : phase === "failed" ? (call.error ?? "The change failed; nothing further was done.") : undefined;
  const title = actionTitle(call.toolName);

  useEffect(() => {
    if (!focused) return;
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: "center" });
  }, [focused]);

  return (
    <article
      aria-labelledby={`${id}-title`}
      className={clsx("card overflow-hidden", destructive && open && "border-unhealthy! border-l-4!", !open && "bg-surface/70", focused && "ring-2 ring-accent/60")}
    >
      <header className="border-b border-line px-4 py-2.5">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          {phase === "applied" ? (
            <CircleCheck aria-hidden size={17} className="text-healthy" />
          ) : destructive ? (
            <ShieldAlert aria-hidden size={17} className={open ? "text-unhealthy" : "text-ink-3"} />
          ) : (
            <ShieldQuestion aria-hidden size={17} className={open ? "text-accent-ink" : "text-ink-3"} />
          )}
          <h2 id={`${id}-title`} ref={heading} tabIndex={-1} className="rounded-[4px] font-semibold" title={call.toolName}>
            {title}
          </h2>
          {destructive && open ? <Badge tone="danger">cannot be undone</Badge> : null}
          <span className="ml-auto inline-flex items-center gap-2">
            {open ? null : <Badge tone={words[phase].tone}>{words[phase].label}</Badge>}
            <Link
              to={`/approvals?call=${call.toolCallId}`}
              replace
              aria-label={`Link to ${title}, ${call.summary ?? ""}`}
              title="Link to this proposal"
              className="inline-flex size-7 items-center justify-center rounded-[6px] text-ink-3 hover:bg-raised hover:text-ink"
            >
              <Link2 aria-hidden size={15} />
            </Link>
          </span>
        </div>
        <p className="mt-0.5 text-sm text-ink-2">
          <bdi className="font-medium text-ink">{whoName(call.requestedBy, call.mine)}</bdi>
          {call.requestedBy.kind === "application" ? " (application)" : ""} asked {doorPhrases[call.transport]} <RelativeTime at={call.createdAt} />
          {call.conversationId ? (
            <>
              {" · "}
              <Link className="link" to={`/ai/chat/${call.conversationId}`}>
                Open the conversation
              </Link>
            </>
          ) : null}
        </p>
      </header>
      <div className="px-4 py-3">
        {call.summary ? (
          <p dir="auto" className="mb-2 font-medium break-words">
            {call.summary}
          </p>
        ) : null}
        {diff ? <DiffView changes={diff} title={call.summary ?? title} /> : <PayloadView payload={call.payload} />}
        {phase === "open" && call.blocked && !error ? (
          <p className="mt-3 flex items-start gap-2 rounded-[8px] bg-raised px-3 py-2 text-ink-2">
            <Hourglass aria-hidden size={15} className="mt-0.5 shrink-0" />
            <span className="min-w-0 break-words">{call.blocked}</span>
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
          {expires ? (
            <span className="mr-auto inline-flex items-center gap-1.5 text-sm text-ink-3" title={exactTime(expires)}>
              <Clock aria-hidden size={14} />
              expires in {timeLeft(expires, now)}
            </span>
          ) : null}
          {/* The safe answer comes first, so that the keyboard meets it first. */}
          <div className="ml-auto flex gap-2">
            <Button look={destructive ? "primary" : "secondary"} busy={outcome?.state === "declining"} disabled={phase === "busy"} onClick={onReject}>
              Decline
            </Button>
            <Button look={destructive ? "danger" : "primary"} busy={outcome?.state === "applying"} disabled={phase === "busy"} onClick={onApprove}>
              {destructive ? title : "Apply change"}
            </Button>
          </div>
        </footer>
      ) : (
        <Ending phase={phase} call={call} outcome={outcome} />
      )}
    </article>
  );
}

/** What happened after the decision, or instead of one. */
function Ending({ phase, call, outcome }: { phase: Exclude<Phase, "open" | "busy">; call: Call; outcome: Outcome | undefined }) {
  const here = outcome?.state === "applied" || outcome?.state === "declined";
  const decider = here ? "You" : call.decidedBy ? whoName(call.decidedBy) : undefined;
  const at = call.finishedAt ?? call.appliedAt;
  const text = {
    applied: `${decider ?? "Somebody"} applied this change.`,
    declined: `${decider ?? "Somebody"} declined; nothing was changed.`,
    expired: "Nobody decided in time; nothing was changed. Whoever asked has to ask again.",
    failed: "The change was tried and did not succeed. It is not tried again.",
    outdated: "Nothing was changed. Whoever asked has to look again and ask anew.",
    applying: `${decider ?? "Somebody"} applied this change; it is being carried out.`,
    gone: "This change no longer waits for you: somebody else decided it, or your rights have changed.",
  }[phase];
  return (
    <div role="status" className="border-t border-line px-4 py-2.5 text-sm text-ink-2">
      <p>
        {text} {at && !here && phase !== "expired" ? <RelativeTime at={at} className="text-ink-3" /> : null}
      </p>
      {outcome?.state === "applied" && outcome.result !== null && outcome.result !== undefined ? (
        <details className="mt-1">
          <summary className="text-ink-3">What came out of it</summary>
          <div className="mt-1.5">
            <PayloadView payload={outcome.result} />
          </div>
        </details>
      ) : null}
    </div>
  );
}
