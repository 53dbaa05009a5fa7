import type { ReactNode } from "react";
import { Link } from "react-router";
import { readDiff } from "@/pages/assistant/fold";
import { actionTitle, toolLabel } from "@/pages/assistant/labels";
import { PayloadView } from "@/pages/assistant/payload";
import { useToolCall, type Call } from "@/pages/approvals/api";
import { doors, statusOf, whoName } from "@/pages/approvals/words";
import { Dialog } from "@/ui/dialog";
import { DiffView } from "@/ui/diff-view";
import { CopyButton, ErrorState, SkeletonBlock } from "@/ui/feedback";
import { Badge } from "@/ui/state";
import { exactTime, formatLatency } from "@/ui/time";
import { durationOf, effects } from "./filter";

/** Everything that is kept of one call, beside the list. */
export function CallPanel({ id, known, close }: { id: string; known: Call | undefined; close: () => void }) {
  const loaded = useToolCall(id, known === undefined);
  const call = known ?? (id === "" ? undefined : loaded.data);
  return (
    <Dialog open={id !== ""} onOpenChange={(open) => (open ? undefined : close())} title={call ? (call.effect === "read" ? toolLabel(call.toolName, false) : actionTitle(call.toolName)) : "Tool call"} wide>
      {call ? <Details call={call} /> : loaded.isError ? <ErrorState title="This call could not be loaded" error={loaded.error} onRetry={() => void loaded.refetch()} /> : <SkeletonBlock className="h-48" />}
    </Dialog>
  );
}

function Details({ call }: { call: Call }) {
  const diff = readDiff(call.diff);
  const took = durationOf(call);
  const status = statusOf(call.status);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {call.summary ? (
        <p dir="auto" className="font-medium break-words">
          {call.summary}
        </p>
      ) : null}
      <dl className="grid grid-cols-[minmax(96px,140px)_1fr] gap-x-3 gap-y-1.5">
        <Row term="Outcome">
          <Badge tone={status.tone}>{status.label}</Badge>
          {call.status === "proposed" ? (
            <>
              {" "}
              <Link className="link" to={`/approvals?call=${call.toolCallId}`}>
                Decide in Approvals
              </Link>
            </>
          ) : null}
        </Row>
        <Row term="Tool">
          <code className="font-mono text-sm break-all">{call.toolName}</code>
        </Row>
        <Row term="Effect">{effects.find((each) => each.value === call.effect)?.label}</Row>
        <Row term="Asked by">
          <bdi>{whoName(call.requestedBy)}</bdi>
          {call.mine ? " (you)" : call.requestedBy.kind === "application" ? " (application)" : ""}
        </Row>
        <Row term="Came through">
          {doors.find((door) => door.value === call.transport)?.label}
          {call.conversationId ? (
            <>
              {" · "}
              <Link className="link" to={`/ai/chat/${call.conversationId}`}>
                Open the conversation
              </Link>
            </>
          ) : null}
        </Row>
        <Row term="Asked">{exactTime(new Date(call.createdAt))}</Row>
        {call.decidedBy ? (
          <Row term={call.status === "rejected" ? "Declined by" : "Applied by"}>
            <bdi>{whoName(call.decidedBy)}</bdi>
            {call.decidedBy.kind === "application" ? " (application)" : ""}
          </Row>
        ) : null}
        {call.appliedAt ? <Row term="Decided">{exactTime(new Date(call.appliedAt))}</Row> : null}
        {call.expiresAt && (call.status === "proposed" || call.status === "expired") ? <Row term={call.status === "expired" ? "Expired" : "Expires"}>{exactTime(new Date(call.expiresAt))}</Row> : null}
        {took === undefined ? null : <Row term="Took">{formatLatency(took)}</Row>}
      </dl>
      {call.error ? <p className="rounded-[8px] bg-unhealthy-soft px-3 py-2 break-words text-unhealthy-ink">{call.error}</p> : null}
      {diff ? (
        <section aria-label="Changes">
          <h3 className="mb-1.5 text-sm font-medium text-ink-2">Changes</h3>
          <DiffView changes={diff} title={call.summary ?? call.toolName} />
        </section>
      ) : null}
      {call.payload !== undefined ? (
        <section aria-label="Data">
          <h3 className="mb-1.5 text-sm font-medium text-ink-2">{call.effect === "read" ? "Data" : "What applying it runs"}</h3>
          <PayloadView payload={call.payload} />
        </section>
      ) : null}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line pt-3 text-sm text-ink-3">
        <span>
          Call <code className="font-mono text-xs break-all">{call.toolCallId}</code>
        </span>
        <CopyButton size="sm" label="Copy call id" text={call.toolCallId} />
        <span title="SHA-256 of the arguments in canonical JSON: equal arguments have equal ones">
          Arguments <code className="font-mono text-xs break-all">{call.argsHash.slice(0, 16)}</code>
        </span>
        <CopyButton size="sm" label="Copy hash" text={call.argsHash} />
      </div>
    </div>
  );
}

function Row({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
