import { clsx } from "clsx";
import { ScrollText } from "lucide-react";
import { useSearchParams } from "react-router";
import { useSession } from "@/app/session";
import { actionTitle, toolLabel } from "@/pages/assistant/labels";
import type { Call } from "@/pages/approvals/api";
import { doors, statuses, statusOf, whoName } from "@/pages/approvals/words";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/feedback";
import { Input, Select } from "@/ui/field";
import { Page } from "@/ui/page";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { formatLatency } from "@/ui/time";
import { useCalls } from "./api";
import { CallPanel } from "./call";
import { durationOf, effects, readFilter } from "./filter";

/** Filters stand two in a row on a phone. */
const half = "w-auto! min-w-0 grow basis-[44%] md:grow-0 md:basis-auto";

const filterKeys = ["who", "tool", "effect", "status", "door", "from", "to"];

export function Component() {
  const [params, setParams] = useSearchParams();
  const { user } = useSession();
  const set = (key: string, value: string) =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        if (value === "") next.delete(key);
        else next.set(key, value);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  const filter = readFilter(params);
  const calls = useCalls(filter);
  const pages = calls.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.calls ?? []);
  const everybody = pages[0]?.everybody;
  const tools = pages[0]?.tools ?? [];
  const narrowed = filterKeys.some((key) => params.has(key));
  const tool = params.get("tool") ?? "";
  const who = params.get("who") ?? "";
  const person = rows.find((call) => who === `${call.requestedBy.kind}:${call.requestedBy.id}`);

  return (
    <Page
      title="Audit log"
      description={
        everybody === undefined
          ? "Every tool call, newest first."
          : everybody
            ? "Every tool call of people, outside agents, applications and automations, newest first. Kept for a year."
            : "You see your own calls, newest first. Those of others are for holders of the access rule ai.audit.read."
      }
    >
      <div role="group" aria-label="Filters" className="mb-4 flex flex-wrap items-end gap-2">
        {everybody === true ? (
          <Select aria-label="Who" className={half} value={who} onChange={(event) => set("who", event.target.value)}>
            <option value="">Everybody</option>
            <option value="me">Only me</option>
            {who !== "" && who !== "me" ? <option value={who}>{person ? whoName(person.requestedBy) : "One person or application"}</option> : null}
          </Select>
        ) : null}
        <Select aria-label="Tool" className={clsx(half, "md:max-w-[240px]")} value={tool} onChange={(event) => set("tool", event.target.value)}>
          <option value="">Any tool</option>
          {tool !== "" && !tools.includes(tool) ? <option value={tool}>{tool}</option> : null}
          {tools.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
        <Choice label="Effect" any="Any effect" value={params.get("effect") ?? ""} options={effects} onChange={(value) => set("effect", value)} />
        <Choice label="Outcome" any="Any outcome" value={params.get("status") ?? ""} options={statuses} onChange={(value) => set("status", value)} />
        <Choice label="Came through" any="Came anywhere" value={params.get("door") ?? ""} options={doors} onChange={(value) => set("door", value)} />
        <span className="inline-flex grow basis-full items-center gap-1.5 text-sm text-ink-3 md:grow-0 md:basis-auto">
          from
          <Input type="date" aria-label="From day" className="min-w-0 md:w-auto!" value={params.get("from") ?? ""} onChange={(event) => set("from", event.target.value)} />
          to
          <Input type="date" aria-label="To day" className="min-w-0 md:w-auto!" value={params.get("to") ?? ""} onChange={(event) => set("to", event.target.value)} />
        </span>
        {narrowed ? (
          <Button look="quiet" onClick={() => setParams({}, { replace: true })}>
            Clear filters
          </Button>
        ) : null}
      </div>
      {calls.isPending ? <SkeletonRows rows={8} /> : null}
      {calls.isError && !calls.data ? <ErrorState title="The audit log could not be loaded" error={calls.error} onRetry={() => void calls.refetch()} /> : null}
      {calls.data && rows.length === 0 ? (
        <div className="card">
          {narrowed ? (
            <EmptyState title="No call matches" action={<Button onClick={() => setParams({}, { replace: true })}>Clear filters</Button>}>
              Nothing was called that fits all filters.
            </EmptyState>
          ) : (
            <EmptyState icon={<ScrollText aria-hidden size={28} />} title="No calls yet">
              {everybody ? "What the assistant, outside agents and programs look up and propose appears here." : "What you let the assistant or an outside agent look up and propose appears here."}
            </EmptyState>
          )}
        </div>
      ) : null}
      {rows.length > 0 ? (
        <div aria-busy={calls.isPlaceholderData || undefined} className={calls.isPlaceholderData ? "opacity-60" : ""}>
          <Table
            label="Tool calls"
            rows={rows}
            paged={false}
            rowKey={(call) => call.toolCallId}
            columns={[
              {
                key: "what",
                label: "What",
                primary: true,
                cell: (call) => (
                  <button type="button" className="group min-w-0 text-left" onClick={() => set("call", call.toolCallId)}>
                    <span className="block font-medium group-hover:underline">{titleOf(call)}</span>
                    <span dir="auto" className="block max-w-[46ch] truncate text-sm text-ink-3">
                      {call.summary ?? call.toolName}
                    </span>
                  </button>
                ),
              },
              {
                key: "who",
                label: "Who",
                cell: (call) => (
                  <span className="inline-flex flex-wrap items-baseline gap-x-1.5">
                    {everybody && !call.mine ? (
                      <button type="button" className="link text-left" title="Only calls of this one" onClick={() => set("who", `${call.requestedBy.kind}:${call.requestedBy.id}`)}>
                        <bdi>{whoName(call.requestedBy)}</bdi>
                      </button>
                    ) : (
                      <bdi>{whoName(call.requestedBy, call.mine && user !== undefined)}</bdi>
                    )}
                    <span className="text-sm text-ink-3">{doors.find((door) => door.value === call.transport)?.label}</span>
                  </span>
                ),
              },
              {
                key: "status",
                label: "Outcome",
                bare: true,
                cell: (call) => (
                  <span className="inline-flex flex-wrap gap-1">
                    <Badge tone={statusOf(call.status).tone}>{statusOf(call.status).label}</Badge>
                    {call.effect === "destructive" ? <Badge tone="danger">destructive</Badge> : null}
                  </span>
                ),
              },
              { key: "took", label: "Took", cell: (call) => <span className="whitespace-nowrap">{formatLatency(durationOf(call))}</span> },
              { key: "when", label: "When", bare: true, className: "whitespace-nowrap", cell: (call) => <RelativeTime at={call.createdAt} className="text-ink-2" /> },
            ]}
          />
          {calls.hasNextPage ? (
            <div className="mt-4 flex justify-center">
              <Button busy={calls.isFetchingNextPage} onClick={() => void calls.fetchNextPage()}>
                Show older calls
              </Button>
            </div>
          ) : (
            <p className="mt-3 text-center text-sm text-ink-3">{rows.length === 1 ? "That is the only one." : `That is all: ${rows.length.toLocaleString()} calls.`}</p>
          )}
        </div>
      ) : null}
      <CallPanel id={params.get("call") ?? ""} known={rows.find((call) => call.toolCallId === params.get("call"))} close={() => set("call", "")} />
    </Page>
  );
}

/** What was called, for people: readings as they are told in the chat, changes by their outcome. */
function titleOf(call: Call): string {
  return call.effect === "read" ? toolLabel(call.toolName, false) : actionTitle(call.toolName);
}

function Choice({ label, any, value, options, onChange }: { label: string; any: string; value: string; options: readonly { value: string; label: string }[]; onChange: (value: string) => void }) {
  return (
    <Select aria-label={label} className={half} value={options.some((each) => each.value === value) ? value : ""} onChange={(event) => onChange(event.target.value)}>
      <option value="">{any}</option>
      {options.map((each) => (
        <option key={each.value} value={each.value}>
          {each.label}
        </option>
      ))}
    </Select>
  );
}
