import { CircleCheck, Plus, Trash2, Wrench } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, Navigate, useParams, useSearchParams } from "react-router";
import { useCan } from "@/app/session";
import { SystemFilter, SystemHeading } from "@/pages/catalog/system-filter";
import { isolate } from "@/ui/bidi";
import { BulkBar, BulkNote, type BulkReport } from "@/ui/bulk-bar";
import { Button, LinkButton } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/feedback";
import { Checkbox, Select } from "@/ui/field";
import { Page } from "@/ui/page";
import { SearchParam } from "@/ui/search-param";
import { useSettled } from "@/ui/settled";
import { Table } from "@/ui/table";
import { Tabs } from "@/ui/tabs";
import { useBulkClose, useBulkDelete, useFirst, useMaintenances, useSeriesWords, type Filter, type Maintenance } from "./api";
import { SeriesMark, StatusBadge } from "./badges";
import { foldSeries, type Folded } from "./folding";
import { ViewSwitch } from "./view-switch";
import { WindowCell, ZoneNote } from "./window";
import { isOpen, namesLine, pastStatuses } from "./words";

type Tab = "upcoming" | "now" | "past";
const tabs: Tab[] = ["upcoming", "now", "past"];

/** All maintenances, or those of the system in the address. */
export function Component() {
  const { systemId } = useParams();
  const [params] = useSearchParams();
  if (params.get("action") === "create") return <Navigate to={`/maintenance/new${systemId ? `?systemId=${systemId}` : ""}`} replace />;
  return <Maintenances key={systemId ?? "all"} systemId={systemId} />;
}

function Maintenances({ systemId }: { systemId: string | undefined }) {
  const can = useCan();
  const manage = can("maintenance.maintenance.manage");
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
  const tab = tabs.find((each) => each === params.get("tab")) ?? "upcoming";
  const query = useSettled((params.get("q") ?? "").trim(), 200);
  const status = pastStatuses.find((each) => each.value === params.get("status"))?.value;
  const seriesId = params.get("series") ?? "";
  const system = systemId ?? params.get("system") ?? "";
  const every = params.get("every") === "1" || seriesId !== "";
  const common: Filter = { systemId: system || undefined, seriesId: seriesId || undefined, query: query.slice(0, 200) || undefined };
  const filters: Record<Tab, Filter> = {
    upcoming: { ...common, status: "scheduled", sortOrder: "asc" },
    now: { ...common, status: "in_progress", sortOrder: "asc" },
    past: status ? { ...common, status } : { ...common, open: false },
  };
  const filter = filters[tab];
  const maintenances = useMaintenances(filter);
  const running = useFirst({ ...common, status: "in_progress" }, 100);
  const runningCount = running.data?.maintenances?.length ?? 0;
  const narrowed = query !== "" || (tab === "past" && status !== undefined) || seriesId !== "" || (!systemId && system !== "");
  const planTo = `/maintenance/new${system ? `?systemId=${system}` : ""}`;

  return (
    <Page
      title={systemId ? "Maintenances of a system" : "Maintenances"}
      {...(systemId ? { heading: <SystemHeading systemId={systemId} noun="Maintenances" /> } : {})}
      description={<ZoneNote />}
      actions={
        <>
          <ViewSwitch view="list" system={system} />
          {manage ? (
            <LinkButton look="primary" to={planTo} icon={<Plus aria-hidden size={16} />}>
              Plan a maintenance
            </LinkButton>
          ) : null}
        </>
      }
    >
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <SearchParam label="Search maintenances" className="min-w-[220px] flex-1 basis-[260px]" />
        {tab === "past" ? (
          <Select aria-label="Status" className="w-auto!" value={status ?? ""} onChange={(event) => set({ status: event.target.value })}>
            <option value="">Completed and cancelled</option>
            {pastStatuses.map((each) => (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            ))}
          </Select>
        ) : null}
        {systemId || !can("catalog.system.read") ? null : <SystemFilter value={system} onChange={(value) => set({ system: value })} />}
      </div>
      {seriesId ? (
        <p className="mb-3 flex flex-wrap items-center gap-2 text-ink-2">
          Only the occurrences of one series.
          <Button size="sm" onClick={() => set({ series: "" })}>
            Show all maintenances
          </Button>
        </p>
      ) : null}
      <Tabs
        label="Maintenances by state"
        value={tab}
        onChange={(next) => set({ tab: next === "upcoming" ? "" : next, status: "" })}
        tabs={tabs.map((name) => ({
          name,
          label: {
            upcoming: "Upcoming",
            now: <>In progress{runningCount > 0 ? <span className="text-sm font-normal text-ink-3">{running.data?.nextCursor ? "100+" : runningCount}</span> : null}</>,
            past: "Past",
          }[name],
          content: (
            <Rows
              key={JSON.stringify(filter)}
              tab={name}
              maintenances={maintenances}
              manage={manage}
              narrowed={narrowed}
              waiting={maintenances.isPlaceholderData}
              every={every}
              onEvery={seriesId ? undefined : (on) => set({ every: on ? "1" : "" })}
              onClear={() => set({ q: "", status: "", system: "", series: "" })}
              planTo={planTo}
            />
          ),
        }))}
      />
    </Page>
  );
}

const statusesOf: Record<Tab, (status: string) => boolean> = {
  upcoming: (status) => status === "scheduled",
  now: (status) => status === "in_progress",
  past: (status) => !isOpen({ status }),
};

function Rows({
  tab,
  maintenances,
  manage,
  narrowed,
  waiting,
  every,
  onEvery,
  onClear,
  planTo,
}: {
  tab: Tab;
  maintenances: ReturnType<typeof useMaintenances>;
  manage: boolean;
  narrowed: boolean;
  /** What is shown answers the filter before. */
  waiting: boolean;
  /** Whether each occurrence of a series has a row of its own. */
  every: boolean;
  onEvery: ((on: boolean) => void) | undefined;
  onClear: () => void;
  planTo: string;
}) {
  const rows = useMemo(() => (maintenances.data?.pages ?? []).flatMap((page) => page.maintenances ?? []).filter((each) => statusesOf[tab](each.status)), [maintenances.data, tab]);
  const folds = tab === "upcoming" && !every;
  const shown = useMemo((): Folded<Maintenance>[] => (folds ? foldSeries(rows) : rows.map((row) => ({ row, more: 0 }))), [rows, folds]);
  const words = useSeriesWords(rows.some((row) => row.seriesId !== null));
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [report, setReport] = useState<BulkReport>();
  const [asking, setAsking] = useState<"close" | "delete">();
  const bulkClose = useBulkClose();
  const bulkDelete = useBulkDelete();
  // A row that left the list meanwhile is no longer chosen.
  const chosen = shown.map(({ row }) => row).filter((row) => marked.has(row.id));
  const run = async (wanted: "closed" | "deleted") => {
    const names = new Map(chosen.map((row) => [row.id, row.title]));
    const results = await (wanted === "closed" ? bulkClose : bulkDelete).mutateAsync(chosen.map((row) => row.id));
    setMarked(new Set());
    setReport({ results, wanted, names });
  };
  const recurring = tab === "upcoming" && onEvery !== undefined && rows.some((row) => row.seriesId !== null);

  if (maintenances.isPending || (waiting && rows.length === 0)) return <SkeletonRows rows={5} />;
  if (maintenances.isError && !maintenances.data) return <ErrorState title="The maintenances could not be loaded" error={maintenances.error} onRetry={() => void maintenances.refetch()} />;
  return (
    <div aria-busy={waiting || undefined}>
      <BulkNote report={report} onClose={() => setReport(undefined)} />
      {maintenances.isError ? (
        <div className="mb-4">
          <ErrorState title="This list could not be refreshed and may be out of date" error={maintenances.error} onRetry={() => void maintenances.refetch()} />
        </div>
      ) : null}
      {recurring ? <Checkbox className="mb-3" label="Show every occurrence of a series" checked={every} onChange={(event) => onEvery(event.target.checked)} /> : null}
      {rows.length === 0 ? (
        <div className="card">
          {narrowed ? (
            <EmptyState title="Nothing matches" action={<Button onClick={onClear}>Clear search and filters</Button>}>
              No maintenance that is {{ upcoming: "scheduled", now: "in progress", past: "over" }[tab]} fits this search and these filters.
            </EmptyState>
          ) : tab === "upcoming" ? (
            <EmptyState icon={<CircleCheck aria-hidden size={28} className="text-healthy" />} title="Nothing planned" action={manage ? <LinkButton to={planTo}>Plan a maintenance</LinkButton> : null}>
              A maintenance tells everyone when work happens on which systems, and can keep health notifications about them quiet meanwhile.
            </EmptyState>
          ) : tab === "now" ? (
            <EmptyState icon={<CircleCheck aria-hidden size={28} className="text-healthy" />} title="No maintenance in progress">
              Maintenances start and end by themselves when their time has come.
            </EmptyState>
          ) : (
            <EmptyState icon={<Wrench aria-hidden size={28} />} title="No past maintenances yet">
              Maintenances stay here after they were completed or cancelled, with everything that was written about them.
            </EmptyState>
          )}
        </div>
      ) : (
        <Table
          label={{ upcoming: "Upcoming maintenances", now: "Maintenances in progress", past: "Past maintenances" }[tab]}
          rows={shown}
          rowKey={({ row }) => row.id}
          paged={false}
          selection={manage ? { chosen: marked, onChange: setMarked, nameOf: ({ row }) => row.title } : undefined}
          columns={[
            { key: "status", label: "Status", bare: true, className: "whitespace-nowrap md:w-36", cell: ({ row }) => <StatusBadge status={row.status} /> },
            {
              key: "title",
              label: "Maintenance",
              primary: true,
              className: "w-full! md:w-auto!",
              cell: ({ row, more }) => (
                <div className="min-w-0">
                  <Link to={`/maintenance/${row.id}`} className="line-clamp-3 font-medium wrap-anywhere text-ink hover:underline">
                    <bdi>{row.title}</bdi>
                  </Link>
                  <Systems systems={row.systems ?? []} count={row.systemIds?.length ?? 0} />
                  {row.seriesId ? (
                    <p className="flex flex-wrap items-center gap-x-2">
                      <SeriesMark rule={words.data?.get(row.seriesId)} />
                      {more > 0 ? (
                        <Link to={`/maintenance/config?series=${row.seriesId}`} className="link text-sm">
                          {maintenances.hasNextPage ? "all occurrences" : `${more} more`}
                        </Link>
                      ) : null}
                    </p>
                  ) : null}
                </div>
              ),
            },
            { key: "window", label: "Window", bare: true, className: "md:w-72", cell: ({ row }) => <WindowCell maintenance={row} /> },
          ]}
        />
      )}
      {maintenances.hasNextPage ? (
        <div className="mt-3 text-center">
          <Button busy={maintenances.isFetchingNextPage} onClick={() => void maintenances.fetchNextPage()}>
            {tab === "past" ? "Show older maintenances" : "Show later maintenances"}
          </Button>
        </div>
      ) : null}
      <BulkBar count={chosen.length} onClear={() => setMarked(new Set())}>
        {tab === "past" ? null : (
          <Button size="sm" icon={<CircleCheck aria-hidden size={14} />} onClick={() => setAsking("close")}>
            Close
          </Button>
        )}
        <Button size="sm" look="danger" icon={<Trash2 aria-hidden size={14} />} onClick={() => setAsking("delete")}>
          Delete
        </Button>
      </BulkBar>
      <ConfirmDialog
        open={asking === "close"}
        onOpenChange={(open) => (open ? undefined : setAsking(undefined))}
        title={`Close ${named(chosen)}?`}
        action={chosen.length === 1 ? "Close maintenance" : `Close ${chosen.length} maintenances`}
        look="primary"
        onConfirm={() => run("closed")}
      >
        Each becomes completed now, with the update “Maintenance completed early”, and keeps nothing quiet any more. What is closed cannot be opened again.
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === "delete"}
        onOpenChange={(open) => (open ? undefined : setAsking(undefined))}
        title={`Delete ${named(chosen)}?`}
        action={chosen.length === 1 ? "Delete maintenance" : `Delete ${chosen.length} maintenances`}
        onConfirm={() => run("deleted")}
      >
        All updates and links go with {chosen.length === 1 ? "it" : "them"}
        {chosen.some((row) => row.status === "in_progress") ? ", and what is in progress keeps nothing quiet any more" : ""}.
        {chosen.some((row) => row.seriesId !== null) ? " Of a series only the chosen occurrence goes." : ""} This cannot be undone.
      </ConfirmDialog>
    </div>
  );
}

function named(chosen: Maintenance[]): string {
  return chosen.length === 1 && chosen[0] ? `“${isolate(chosen[0].title)}”` : `${chosen.length} maintenances`;
}

function Systems({ systems, count }: { systems: { id: string; name: string }[]; count: number }) {
  if (systems.length === 0) return <p className="text-sm text-ink-3">{count > 0 ? `${count} ${count === 1 ? "system" : "systems"}` : "No system left"}</p>;
  return (
    <p className="line-clamp-2 text-sm wrap-anywhere text-ink-3" title={namesLine(systems.map((each) => each.name), 20)}>
      {namesLine(systems.map((each) => isolate(each.name)))}
    </p>
  );
}
