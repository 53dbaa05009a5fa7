import { clsx } from "clsx";
import { Coins } from "lucide-react";
import { useSearchParams } from "react-router";
import { capText } from "@/pages/settings/spend-cap";
import { LinkButton } from "@/ui/button";
import { RelativeTime, useNow } from "@/ui/clock";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { Page, Section } from "@/ui/page";
import { Table } from "@/ui/table";
import { clockTime, exactTime } from "@/ui/time";
import { useSpend, type Spend, type SpendLine } from "./api";
import { capUse, dayLabel, everyDay, windowStart } from "./days";

const ranges = [
  { days: 1, label: "Last 24 hours" },
  { days: 7, label: "Last 7 days" },
  { days: 30, label: "Last 30 days" },
  { days: 90, label: "Last 90 days" },
  { days: 365, label: "Last year" },
];

export function Component() {
  const [params, setParams] = useSearchParams();
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
  const days = ranges.find((range) => String(range.days) === params.get("days"))?.days ?? 30;
  const connection = params.get("connection") ?? "";
  const person = params.get("person") ?? "";
  const spend = useSpend(days, connection, person);
  // Names to choose from come from the whole range, so that a choice can be changed.
  const whole = useSpend(days, "", "");
  const choices = whole.data?.lines ?? [];
  const connections = [...new Map(choices.map((line) => [line.connectionId, connectionName(line)]))];
  const people = [...new Map(choices.map((line) => [line.principalId, personName(line)]))];
  const lines = spend.data?.lines ?? [];
  const narrowed = connection !== "" || person !== "";

  return (
    <Page title="Assistant spend" description="Tokens that language models used, per connection and person. The built-in assistant uses none.">
      <div role="group" aria-label="Filters" className="mb-4 flex flex-wrap gap-2">
        <Select aria-label="Period" className="w-auto!" value={String(days)} onChange={(event) => set("days", event.target.value === "30" ? "" : event.target.value)}>
          {ranges.map((range) => (
            <option key={range.days} value={range.days}>
              {range.label}
            </option>
          ))}
        </Select>
        <Choice label="Connection" any="All connections" value={connection} options={connections} onChange={(value) => set("connection", value)} />
        <Choice label="Person" any="Everybody" value={person} options={people} onChange={(value) => set("person", value)} />
      </div>
      {spend.isPending ? <SkeletonRows /> : null}
      {spend.isError ? (
        <div className="mb-4">
          <ErrorState title={spend.data ? "The spend could not be read again; below is what was read before" : "The spend could not be loaded"} error={spend.error} onRetry={() => void spend.refetch()} />
        </div>
      ) : null}
      {spend.data && lines.length === 0 ? (
        <div className="card">
          <EmptyState icon={<Coins aria-hidden size={28} />} title="No tokens used" action={narrowed ? <LinkButton to="/settings/spend">Show all</LinkButton> : <LinkButton to="/settings/connections">Connections</LinkButton>}>
            {narrowed ? "Nothing was spent that fits the filters." : "Nobody used a language model in this time. Caps are set on each connection."}
          </EmptyState>
        </div>
      ) : null}
      {spend.data && lines.length > 0 ? (
        <div aria-busy={spend.isPlaceholderData || undefined} className={clsx(spend.isPlaceholderData && "opacity-60")}>
          <Totals spend={spend.data} />
          {days > 1 ? <Days spend={spend.data} /> : null}
          <Section title="By connection and person" description={lines.some((line) => line.spendCap) ? capNote : undefined}>
            <Table
              label="Spend"
              rows={lines}
              rowKey={(line) => `${line.connectionId} ${line.principalKind} ${line.principalId}`}
              initialSort={{ key: "tokens", down: true }}
              columns={[
                {
                  key: "person",
                  label: "Person",
                  primary: true,
                  sort: (line) => personName(line).toLowerCase(),
                  cell: (line) => (
                    <span>
                      <bdi className="font-medium">{personName(line)}</bdi>
                      {line.principalKind === "application" ? <span className="text-sm text-ink-3"> application</span> : null}
                    </span>
                  ),
                },
                { key: "connection", label: "Connection", sort: (line) => connectionName(line).toLowerCase(), cell: (line) => <bdi>{connectionName(line)}</bdi> },
                {
                  key: "tokens",
                  label: "Tokens",
                  sort: (line) => line.totalTokens,
                  cell: (line) => (
                    <span title={`${line.inputTokens.toLocaleString()} in, ${line.outputTokens.toLocaleString()} out`}>
                      {line.totalTokens.toLocaleString()}
                      {line.estimatedTokens > 0 ? <span className="text-sm text-ink-3"> ({line.estimatedTokens === line.totalTokens ? "estimated" : `${line.estimatedTokens.toLocaleString()} estimated`})</span> : null}
                    </span>
                  ),
                },
                { key: "entries", label: "Calls", sort: (line) => line.entries, cell: (line) => line.entries.toLocaleString() },
                { key: "cap", label: "Cap now", sort: (line) => capUse(line.windowTokens, line.spendCap?.tokenBudget) ?? -1, cell: (line) => <Cap line={line} reportedAt={spend.data.to} /> },
                { key: "last", label: "Last used", sort: (line) => line.lastUsedAt, cell: (line) => <RelativeTime at={line.lastUsedAt} className="whitespace-nowrap text-ink-2" /> },
              ]}
            />
          </Section>
        </div>
      ) : null}
    </Page>
  );
}

/** What the column of caps counts, which the tokens beside it do not. */
const capNote =
  "A cap looks back over its own stretch of time, whatever period is chosen above. It counts what was used since then and what answers that are being written right now have set aside: a part of that comes back when they end.";

function personName(line: SpendLine): string {
  return line.principalName ?? (line.principalKind === "application" ? "A deleted application" : "A deleted account");
}

function connectionName(line: SpendLine): string {
  return line.connectionName ?? "A deleted connection";
}

function Choice({ label, any, value, options, onChange }: { label: string; any: string; value: string; options: [string, string][]; onChange: (value: string) => void }) {
  return (
    <Select aria-label={label} className="w-auto! max-w-[240px]" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{any}</option>
      {value !== "" && !options.some(([id]) => id === value) ? <option value={value}>Chosen in the address</option> : null}
      {options.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

function Totals({ spend }: { spend: Spend }) {
  const { total } = spend;
  const facts: [string, string][] = [
    ["Tokens", total.totalTokens.toLocaleString()],
    ["In", total.inputTokens.toLocaleString()],
    ["Out", total.outputTokens.toLocaleString()],
    ["Model calls", total.entries.toLocaleString()],
  ];
  return (
    <div className="mb-7">
      <dl className="card grid grid-cols-2 gap-y-3 px-4 py-3 sm:grid-cols-4">
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt className="text-sm text-ink-3">{term}</dt>
            <dd className="text-xl font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-1.5 text-sm text-ink-3">
        Counted from <Instant at={spend.from} /> until now, <Instant at={spend.to} />.
        {total.estimatedTokens > 0
          ? ` ${total.estimatedTokens === total.totalTokens ? "All" : total.estimatedTokens.toLocaleString()} of the tokens are estimates: the provider reported nothing, or the answer is still being written.`
          : null}
      </p>
    </div>
  );
}

function Days({ spend }: { spend: Spend }) {
  const days = everyDay(spend.from, spend.to, spend.days ?? []);
  const most = Math.max(1, ...days.map((day) => day.totalTokens));
  const busiest = days.reduce((a, b) => (b.totalTokens > a.totalTokens ? b : a), days[0] ?? { date: "", totalTokens: 0 });
  return (
    <Section title="By day" description="Days of UTC">
      <div className="card px-4 py-3">
        <div
          role="img"
          aria-label={`Tokens per day from ${dayLabel(days[0]?.date ?? "")} to ${dayLabel(days.at(-1)?.date ?? "")}; most on ${dayLabel(busiest.date)}: ${busiest.totalTokens.toLocaleString()}`}
          className="flex h-24 items-end gap-px"
        >
          {days.map((day) => (
            <div key={day.date} title={`${dayLabel(day.date)}: ${day.totalTokens.toLocaleString()} tokens`} className="flex h-full min-w-0 flex-1 items-end hover:bg-raised">
              <div className={clsx("w-full rounded-t-[2px]", day.totalTokens > 0 ? "min-h-0.5 bg-accent" : "h-px bg-line")} style={day.totalTokens > 0 ? { height: `${(day.totalTokens / most) * 100}%` } : undefined} />
            </div>
          ))}
        </div>
        <div aria-hidden className="mt-1 flex justify-between text-xs text-ink-3">
          <span>{dayLabel(days[0]?.date ?? "")}</span>
          <span>{dayLabel(days.at(-1)?.date ?? "")}</span>
        </div>
      </div>
    </Section>
  );
}

function Instant({ at }: { at: string }) {
  const now = useNow();
  const date = new Date(at);
  return (
    <time dateTime={at} title={exactTime(date)}>
      {clockTime(date, now)}
    </time>
  );
}

/** How much of the cap is used, and since when it counts. */
function Cap({ line, reportedAt }: { line: SpendLine; reportedAt: string }) {
  const cap = line.spendCap;
  const use = capUse(line.windowTokens, cap?.tokenBudget);
  if (!cap || use === undefined) return <span className="text-ink-3">No cap</span>;
  const full = use >= 1;
  const near = use >= 0.8;
  return (
    <span className="inline-block min-w-[150px] align-middle">
      <span className={clsx("text-sm", full ? "text-unhealthy-ink" : near ? "text-degraded-ink" : "text-ink-2")}>
        {(line.windowTokens ?? 0).toLocaleString()} · {Math.floor(use * 100)} %{full ? " · cap reached" : near ? " · nearly used" : ""}
      </span>
      <span aria-hidden className="mt-0.5 block h-1.5 overflow-hidden rounded-full bg-raised">
        <span className={clsx("block h-full rounded-full", full ? "bg-unhealthy" : near ? "bg-degraded" : "bg-accent")} style={{ width: `${Math.min(100, use * 100)}%` }} />
      </span>
      <span className="block text-xs text-ink-3">
        of {capText(cap)}, since <Instant at={windowStart(reportedAt, cap.windowMinutes)} />
      </span>
      {line.reservedTokens ? <span className="block text-xs text-ink-3">{line.reservedTokens.toLocaleString()} of them set aside for answers being written</span> : null}
    </span>
  );
}
