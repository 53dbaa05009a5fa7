import { CircleCheck, Plus, Siren, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, Navigate, useParams, useSearchParams } from "react-router";
import { useCan } from "@/app/session";
import { SystemFilter, SystemHeading } from "@/pages/catalog/system-filter";
import { isolate } from "@/ui/bidi";
import { BulkBar, BulkNote, type BulkReport } from "@/ui/bulk-bar";
import { Button, LinkButton } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { Page } from "@/ui/page";
import { SearchParam } from "@/ui/search-param";
import { useSettled } from "@/ui/settled";
import { Table } from "@/ui/table";
import { Tabs } from "@/ui/tabs";
import { formatDuration } from "@/ui/time";
import { useBulkDelete, useBulkResolve, useIncidents, type Filter, type Incident } from "./api";
import { SeverityBadge, StatusBadge } from "./badges";
import { activeStatuses, namesLine, severities } from "./words";

type Tab = "active" | "resolved";

/** All incidents, or those of the system in the address. */
export function Component() {
  const { systemId } = useParams();
  const [params] = useSearchParams();
  if (params.get("action") === "create") return <Navigate to={`/incident/new${systemId ? `?systemId=${systemId}` : ""}`} replace />;
  return <Incidents key={systemId ?? "all"} systemId={systemId} />;
}

function Incidents({ systemId }: { systemId: string | undefined }) {
  const can = useCan();
  const manage = can("incident.incident.manage");
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string>) =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        for (const [key, value] of Object.entries(changes)) {
          if (value === "") next.delete(key);
          else next.set(key, value);
        }
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  const tab: Tab = params.get("tab") === "resolved" ? "resolved" : "active";
  const typed = params.get("q") ?? "";
  const query = useSettled(typed.trim(), 200);
  const status = activeStatuses.find((each) => each.value === params.get("status"))?.value;
  const severity = severities.find((each) => each.value === params.get("severity"))?.value;
  const system = systemId ?? params.get("system") ?? "";
  const common: Filter = { severity, systemId: system || undefined, query: query.slice(0, 200) || undefined };
  const filter: Filter = tab === "resolved" ? { ...common, status: "resolved" } : { ...common, status };
  const incidents = useIncidents(filter);
  // The number counts all systems, so on the list of one it would mislead.
  const activeCount = systemId ? undefined : incidents.data?.pages[0]?.activeCount;

  return (
    <Page
      title={systemId ? "Incidents of a system" : "Incidents"}
      {...(systemId ? { heading: <SystemHeading systemId={systemId} noun="Incidents" /> } : {})}
      actions={
        manage ? (
          <LinkButton look="primary" to={`/incident/new${system ? `?systemId=${system}` : ""}`} icon={<Plus aria-hidden size={16} />}>
            Open an incident
          </LinkButton>
        ) : null
      }
    >
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <SearchParam label="Search incidents" className="min-w-[220px] flex-1 basis-[260px]" />
        {tab === "active" ? (
          <Select aria-label="Status" className="w-auto!" value={status ?? ""} onChange={(event) => set({ status: event.target.value })}>
            <option value="">Any status</option>
            {activeStatuses.map((each) => (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            ))}
          </Select>
        ) : null}
        <Select aria-label="Severity" className="w-auto!" value={severity ?? ""} onChange={(event) => set({ severity: event.target.value })}>
          <option value="">Any severity</option>
          {severities.map((each) => (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          ))}
        </Select>
        {systemId || !can("catalog.system.read") ? null : <SystemFilter value={system} onChange={(value) => set({ system: value })} />}
      </div>
      <Tabs
        label="Incidents by state"
        value={tab}
        onChange={(next) => set({ tab: next === "active" ? "" : next, status: "" })}
        tabs={(["active", "resolved"] as const).map((name) => ({
          name,
          label: name === "active" ? <>Active{activeCount === undefined ? null : <span className="text-sm font-normal text-ink-3">{activeCount.toLocaleString()}</span>}</> : "Resolved",
          content: (
            <Rows
              key={JSON.stringify(filter)}
              tab={name}
              incidents={incidents}
              manage={manage}
              narrowed={query !== "" || status !== undefined || severity !== undefined || (!systemId && system !== "")}
              waiting={incidents.isPlaceholderData}
              onClear={() => set({ q: "", status: "", severity: "", system: "" })}
              createTo={`/incident/new${system ? `?systemId=${system}` : ""}`}
            />
          ),
        }))}
      />
    </Page>
  );
}

function Rows({
  tab,
  incidents,
  manage,
  narrowed,
  waiting,
  onClear,
  createTo,
}: {
  tab: Tab;
  incidents: ReturnType<typeof useIncidents>;
  manage: boolean;
  narrowed: boolean;
  /** What is shown answers the filter before. */
  waiting: boolean;
  onClear: () => void;
  createTo: string;
}) {
  const rows = useMemo(() => (incidents.data?.pages ?? []).flatMap((page) => page.incidents ?? []).filter((each) => (each.status === "resolved") === (tab === "resolved")), [incidents.data, tab]);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [report, setReport] = useState<BulkReport>();
  const [asking, setAsking] = useState<"resolve" | "delete">();
  const bulkResolve = useBulkResolve();
  const bulkDelete = useBulkDelete();
  // A row that left the list meanwhile is no longer chosen.
  const chosen = rows.filter((row) => marked.has(row.id));
  const run = async (wanted: "resolved" | "deleted") => {
    const names = new Map(chosen.map((row) => [row.id, row.title]));
    const results = await (wanted === "resolved" ? bulkResolve : bulkDelete).mutateAsync(chosen.map((row) => row.id));
    setMarked(new Set());
    setReport({ results, wanted, names });
  };

  if (incidents.isPending || (waiting && rows.length === 0)) return <SkeletonRows rows={5} />;
  if (incidents.isError && !incidents.data) return <ErrorState title="The incidents could not be loaded" error={incidents.error} onRetry={() => void incidents.refetch()} />;
  return (
    <div aria-busy={waiting || undefined}>
      <BulkNote report={report} onClose={() => setReport(undefined)} />
      {incidents.isError ? (
        <div className="mb-4">
          <ErrorState title="This list could not be refreshed and may be out of date" error={incidents.error} onRetry={() => void incidents.refetch()} />
        </div>
      ) : null}
      {rows.length === 0 ? (
        <div className="card">
          {narrowed ? (
            <EmptyState title="Nothing matches" action={<Button onClick={onClear}>Clear search and filters</Button>}>
              No {tab} incident fits this search and these filters.
            </EmptyState>
          ) : tab === "active" ? (
            <EmptyState
              icon={<CircleCheck aria-hidden size={28} className="text-healthy" />}
              title="No open incidents"
              action={manage ? <LinkButton to={createTo}>Open an incident</LinkButton> : null}
            >
              An incident tells everyone what is broken, who is affected and what happens next. Checks never open one by themselves.
            </EmptyState>
          ) : (
            <EmptyState icon={<Siren aria-hidden size={28} />} title="No resolved incidents yet">
              Incidents stay here after they were resolved, with everything that was written about them.
            </EmptyState>
          )}
        </div>
      ) : (
        <Table
          label={tab === "active" ? "Active incidents" : "Resolved incidents"}
          rows={rows}
          rowKey={(row) => row.id}
          paged={false}
          selection={manage ? { chosen: marked, onChange: setMarked, nameOf: (row) => row.title } : undefined}
          columns={[
            { key: "status", label: "Status", bare: true, className: "whitespace-nowrap md:w-36", cell: (row) => <StatusBadge status={row.status} /> },
            { key: "severity", label: "Severity", bare: true, className: "whitespace-nowrap md:w-28", cell: (row) => <SeverityBadge severity={row.severity} /> },
            {
              key: "title",
              label: "Incident",
              primary: true,
              className: "w-full! md:w-auto!",
              cell: (row) => (
                <div className="min-w-0">
                  <Link to={`/incident/${row.id}`} className="line-clamp-3 font-medium text-ink wrap-anywhere hover:underline">
                    <bdi>{row.title}</bdi>
                  </Link>
                  <Systems systems={row.systems ?? []} />
                </div>
              ),
            },
            tab === "active"
              ? { key: "since", label: "Since", className: "whitespace-nowrap md:w-32", cell: (row) => <RelativeTime at={row.createdAt} className="text-ink-2" /> }
              : {
                  key: "resolved",
                  label: "Resolved",
                  className: "whitespace-nowrap md:w-44",
                  cell: (row) => (
                    <span className="text-ink-2">
                      <RelativeTime at={row.resolvedAt ?? row.updatedAt} />
                      {row.resolvedAt ? <span className="block text-sm text-ink-3 max-md:ml-2 max-md:inline">took {formatDuration(Date.parse(row.resolvedAt) - Date.parse(row.createdAt))}</span> : null}
                    </span>
                  ),
                },
          ]}
        />
      )}
      {incidents.hasNextPage ? (
        <div className="mt-3 text-center">
          <Button busy={incidents.isFetchingNextPage} onClick={() => void incidents.fetchNextPage()}>
            Show older incidents
          </Button>
        </div>
      ) : null}
      <BulkBar count={chosen.length} onClear={() => setMarked(new Set())}>
        {tab === "active" ? (
          <Button size="sm" icon={<CircleCheck aria-hidden size={14} />} onClick={() => setAsking("resolve")}>
            Resolve
          </Button>
        ) : null}
        <Button size="sm" look="danger" icon={<Trash2 aria-hidden size={14} />} onClick={() => setAsking("delete")}>
          Delete
        </Button>
      </BulkBar>
      <ConfirmDialog
        open={asking === "resolve"}
        onOpenChange={(open) => (open ? undefined : setAsking(undefined))}
        title={`Resolve ${named(chosen)}?`}
        action={chosen.length === 1 ? "Resolve incident" : `Resolve ${chosen.length} incidents`}
        look="primary"
        onConfirm={() => run("resolved")}
      >
        Each gets the update “Incident resolved”, and the health that it forces on systems is lifted. An incident can be reopened with an update.
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === "delete"}
        onOpenChange={(open) => (open ? undefined : setAsking(undefined))}
        title={`Delete ${named(chosen)}?`}
        action={chosen.length === 1 ? "Delete incident" : `Delete ${chosen.length} incidents`}
        onConfirm={() => run("deleted")}
      >
        All updates and links go with {chosen.length === 1 ? "it" : "them"}, and the health that {chosen.length === 1 ? "it forces" : "they force"} on systems is lifted. This cannot be undone.
      </ConfirmDialog>
    </div>
  );
}

function named(chosen: Incident[]): string {
  return chosen.length === 1 && chosen[0] ? `“${isolate(chosen[0].title)}”` : `${chosen.length} incidents`;
}

function Systems({ systems }: { systems: { id: string; name: string }[] }) {
  if (systems.length === 0) return <p className="text-sm text-ink-3">No system left</p>;
  return (
    <p className="line-clamp-2 text-sm wrap-anywhere text-ink-3" title={namesLine(systems.map((each) => each.name), 20)}>
      {namesLine(systems.map((each) => isolate(each.name)))}
    </p>
  );
}

