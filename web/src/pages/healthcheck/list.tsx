import { Activity, Pause, Pencil, Play, Plus, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { useCan } from "@/app/session";
import { useEntities } from "@/pages/catalog/api";
import { LinkButton } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows, toast, toastError } from "@/ui/feedback";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { SearchParam } from "@/ui/search-param";
import { Badge, StatePill } from "@/ui/state";
import { Table } from "@/ui/table";
import { formatDuration } from "@/ui/time";
import { useConfigurations, useDeleteCheck, usePauseCheck, useStrategies, type Configuration } from "./api";
import { targetOf } from "./target";

export function Component() {
  const can = useCan();
  const navigate = useNavigate();
  const manage = can("healthcheck.healthcheck.manage");
  const checks = useConfigurations();
  const strategies = useStrategies();
  const entities = useEntities(can("catalog.system.read"));
  const pause = usePauseCheck();
  const remove = useDeleteCheck();
  const [removing, setRemoving] = useState<Configuration>();
  const [params] = useSearchParams();
  const q = params.get("q") ?? "";

  const strategyName = (id: string) => strategies.data?.strategies?.find((each) => each.id === id)?.displayName ?? id;
  const systemNames = useMemo(() => new Map(entities.data?.systems?.map((each) => [each.id, each.name])), [entities.data]);
  const systemName = (id: string) => systemNames.get(id) ?? "unknown system";
  const all = checks.data?.configurations ?? [];
  const needle = q.trim().toLowerCase();
  const rows = needle === "" ? all : all.filter((check) => `${check.name} ${targetOf(check)} ${(check.systemIds ?? []).map(systemName).join(" ")}`.toLowerCase().includes(needle));

  return (
    <Page
      title="Health checks"
      description={checks.data && all.length > 0 ? `${all.length} ${all.length === 1 ? "check" : "checks"}` : undefined}
      actions={
        manage ? (
          <LinkButton look="primary" to="/healthcheck/config/new" icon={<Plus aria-hidden size={16} />}>
            New health check
          </LinkButton>
        ) : null
      }
    >
      {checks.isPending ? <SkeletonRows rows={5} /> : null}
      {checks.isError && !checks.data ? <ErrorState title="The health checks could not be loaded" error={checks.error} onRetry={() => void checks.refetch()} /> : null}
      {checks.data && all.length === 0 ? (
        <div className="card">
          <EmptyState
            icon={<Activity aria-hidden size={28} />}
            title="No health checks yet"
            action={
              manage ? (
                <LinkButton look="primary" to="/healthcheck/config/new">
                  Create a health check
                </LinkButton>
              ) : null
            }
          >
            A health check asks one of your systems a question on a schedule and remembers the answers.
          </EmptyState>
        </div>
      ) : null}
      {all.length > 0 ? (
        <>
          <SearchParam label="Search health checks" className="mb-4 max-w-[420px]" />
          {rows.length === 0 ? (
            <div className="card">
              <EmptyState title="Nothing matches">No health check fits this search.</EmptyState>
            </div>
          ) : (
            <Table
              label="Health checks"
              rows={rows}
              rowKey={(check) => check.id}
              initialSort={{ key: "name", down: false }}
              columns={[
                {
                  key: "name",
                  label: "Name",
                  primary: true,
                  sort: (check) => check.name.toLowerCase(),
                  cell: (check) => (
                    <div className="min-w-0">
                      {manage ? (
                        <Link to={`/healthcheck/config/${check.id}`} className="font-medium text-ink hover:underline">
                          {check.name}
                        </Link>
                      ) : (
                        <span className="font-medium">{check.name}</span>
                      )}
                      <p className="max-w-[46ch] truncate text-sm text-ink-3" title={targetOf(check)}>
                        {targetOf(check) || strategyName(check.strategyId)}
                      </p>
                    </div>
                  ),
                },
                {
                  key: "systems",
                  label: "Systems",
                  sort: (check) => check.systemIds?.length ?? 0,
                  cell: (check) => {
                    const ids = check.systemIds ?? [];
                    if (ids.length === 0) return <Badge tone="warn">Not assigned</Badge>;
                    const [first] = ids;
                    return ids.length === 1 && first ? (
                      <Link to={`/catalog/system/${first}`} className="text-ink-2 hover:underline">
                        {systemName(first)}
                      </Link>
                    ) : (
                      <span title={namesOf(ids.map(systemName))}>{ids.length} systems</span>
                    );
                  },
                },
                { key: "interval", label: "Every", sort: (check) => check.intervalSeconds, cell: (check) => <span className="whitespace-nowrap">{formatDuration(check.intervalSeconds * 1000)}</span> },
                { key: "state", label: "Schedule", sort: (check) => (check.paused ? 1 : 0), cell: (check) => (check.paused ? <StatePill state="paused" /> : <Badge>Running</Badge>) },
                ...(manage
                  ? [
                      {
                        key: "actions",
                        label: "Actions",
                        quiet: true,
                        className: "md:w-12",
                        cell: (check: Configuration) => (
                          <RowMenu label={`Actions for ${check.name}`}>
                            <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => void navigate(`/healthcheck/config/${check.id}`)}>
                              Edit
                            </MenuItem>
                            <MenuItem
                              icon={check.paused ? <Play aria-hidden size={15} /> : <Pause aria-hidden size={15} />}
                              onSelect={() =>
                                pause.mutate(
                                  { id: check.id, paused: !check.paused },
                                  { onSuccess: () => toast(check.paused ? `${check.name} runs again` : `${check.name} is paused`), onError: toastError },
                                )
                              }
                            >
                              {check.paused ? "Resume" : "Pause"}
                            </MenuItem>
                            <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(check)}>
                              Delete
                            </MenuItem>
                          </RowMenu>
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </>
      ) : null}
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the health check “${removing?.name ?? ""}”?`}
        action="Delete health check"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast(`${removing.name} deleted`);
        }}
      >
        Its assignments and its whole run history go with it. This cannot be undone.
        {removing?.systemIds?.length ? ` It watches ${namesOf(removing.systemIds.map(systemName))}.` : ""}
      </ConfirmDialog>
    </Page>
  );
}

/** The first ten names and how many more there are. */
function namesOf(names: string[]): string {
  return names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");
}
