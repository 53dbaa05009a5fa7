import { CircleCheck, ClipboardList } from "lucide-react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { refusalText, toApiError } from "@/api/errors";
import { useNow } from "@/ui/clock";
import { EmptyState, ErrorState, SkeletonBlock, SkeletonRows } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { Page } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { Button, LinkButton } from "@/ui/button";
import { useApprovals, useApprove, useReject, useToolCall, type Call } from "./api";
import { ApprovalCard } from "./card";
import { mergeSeen, type Outcome } from "./inbox";
import { doors } from "./words";

const most = 200;

export function Component() {
  const approvals = useApprovals();
  const approve = useApprove();
  const reject = useReject();
  const now = useNow();
  const [params, setParams] = useSearchParams();
  const [outcomes, setOutcomes] = useState<Record<string, Outcome>>({});
  const [seen, setSeen] = useState<{ from: readonly Call[] | undefined; calls: Call[] }>({ from: undefined, calls: [] });
  // What the reader took off the list stays off it.
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const fresh = approvals.data?.approvals;
  if (fresh && fresh !== seen.from) setSeen({ from: fresh, calls: mergeSeen(seen.calls, [...fresh, ...(approvals.data?.outdated ?? []).filter((call) => !hidden.has(call.toolCallId))]) });

  const focusedId = params.get("call") ?? "";
  const door = doors.find((each) => each.value === params.get("door"))?.value;
  const waiting = new Map((fresh ?? []).map((call) => [call.toolCallId, call]));
  const all = seen.calls;
  const shown = all.filter((call) => door === undefined || call.transport === door || call.toolCallId === focusedId);
  const open = [...waiting.values()].filter((call) => !call.expiresAt || new Date(call.expiresAt) > now).length;
  const settled = all.filter((call) => !waiting.has(call.toolCallId));
  const foreign = focusedId !== "" && fresh !== undefined && !all.some((call) => call.toolCallId === focusedId);

  const decide = async (call: Call, what: "apply" | "decline") => {
    const set = (outcome: Outcome) => setOutcomes((current) => ({ ...current, [call.toolCallId]: outcome }));
    set({ state: what === "apply" ? "applying" : "declining" });
    try {
      if (what === "apply") {
        const { result } = await approve.mutateAsync(call.toolCallId);
        set({ state: "applied", result });
      } else {
        await reject.mutateAsync(call.toolCallId);
        set({ state: "declined" });
      }
    } catch (error) {
      set({ state: "failed", message: refusalText(error) });
    }
  };

  const card = (call: Call) => (
    <ApprovalCard
      key={call.toolCallId}
      call={call}
      waiting={waiting.has(call.toolCallId)}
      outcome={outcomes[call.toolCallId]}
      focused={call.toolCallId === focusedId}
      onApprove={() => void decide(call, "apply")}
      onReject={() => void decide(call, "decline")}
    />
  );

  return (
    <Page
      title="Approvals"
      width="narrow"
      description={
        fresh ? (
          <span role="status">{open === 0 ? "Nothing waits for you." : open === 1 ? "One change waits for your decision." : `${open >= most ? `The ${most} most urgent` : open} changes wait for your decision.`}</span>
        ) : null
      }
      actions={
        <LinkButton to="/audit" icon={<ClipboardList aria-hidden size={16} />}>
          Audit log
        </LinkButton>
      }
    >
      {approvals.isPending ? <SkeletonRows rows={3} /> : null}
      {approvals.isError && !approvals.data ? <ErrorState title="The approvals could not be loaded" error={approvals.error} onRetry={() => void approvals.refetch()} /> : null}
      {all.length > 1 || door !== undefined ? (
        <div className="mb-4 flex flex-wrap items-center gap-2">
          <Select
            aria-label="Asked through"
            className="w-auto!"
            value={door ?? ""}
            onChange={(event) =>
              setParams(
                (current) => {
                  const next = new URLSearchParams(current);
                  if (event.target.value === "") next.delete("door");
                  else next.set("door", event.target.value);
                  return next;
                },
                { replace: true, preventScrollReset: true },
              )
            }
          >
            <option value="">Asked anywhere</option>
            {doors.map((each) => (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            ))}
          </Select>
          {settled.length > 0 ? (
            <Button look="quiet" className="ml-auto" onClick={() => {
                setHidden(new Set([...hidden, ...settled.map((call) => call.toolCallId)]));
                setSeen({ from: seen.from, calls: all.filter((call) => waiting.has(call.toolCallId)) });
              }}
            >
              Hide what is decided
            </Button>
          ) : null}
        </div>
      ) : null}
      {foreign ? <Elsewhere id={focusedId} /> : null}
      {fresh && all.length === 0 && !foreign ? (
        <div className="card">
          <EmptyState icon={<CircleCheck aria-hidden size={28} />} title="Nothing to decide">
            Changes that an agent, a program or an automation proposes wait here, and nothing happens before a person applies them.
          </EmptyState>
        </div>
      ) : null}
      {fresh && all.length > 0 && shown.length === 0 ? (
        <div className="card">
          <EmptyState title="Nothing came that way" action={<LinkButton to="/approvals">Show all</LinkButton>} />
        </div>
      ) : null}
      {shown.length > 0 ? (
        <Reveal items={shown} step={Math.max(20, shown.findIndex((call) => call.toolCallId === focusedId) + 1)} noun="changes" className="mt-4 flex justify-center">
          {(part) => <div className="grid grid-cols-[minmax(0,1fr)] gap-4">{part.map(card)}</div>}
        </Reveal>
      ) : null}
    </Page>
  );
}

/** The proposal that the address names, when it is not in the inbox. */
function Elsewhere({ id }: { id: string }) {
  const found = useToolCall(id);
  if (found.isPending) return <SkeletonBlock className="mb-4 h-40" />;
  if (found.data)
    return (
      <div className="mb-6">
        <ApprovalCard call={found.data} waiting={false} outcome={undefined} focused onApprove={() => undefined} onReject={() => undefined} />
      </div>
    );
  const { status } = toApiError(found.error);
  if (status !== 404 && status !== 400) return <ErrorState title="The proposal could not be loaded" error={found.error} onRetry={() => void found.refetch()} />;
  return (
    <div className="card mb-6">
      <EmptyState title="This proposal is not in your inbox" action={<Link className="link" to="/approvals">Show what waits for you</Link>}>
        It was decided or expired, or it changes something that you may not change.
      </EmptyState>
    </div>
  );
}
