import { clsx } from "clsx";
import { Boxes, ChevronRight, FolderPlus, Pencil, Plus, Rows3, Rows4, Trash2 } from "lucide-react";
import { memo, useMemo, useState, type ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { useCan } from "@/app/session";
import { useBulkHealth } from "@/pages/healthcheck/api";
import { forcedText, forcing } from "@/pages/healthcheck/forced";
import { Button, IconButton } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows, toast } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { SearchParam } from "@/ui/search-param";
import { StateIcon, StatePill } from "@/ui/state";
import { useDeleteGroup, useEntities, type Group, type System } from "./api";
import { GroupDialog, SystemDialog } from "./forms";
import { openAtFirst, sectionsOf, type Health, type Section } from "./sections";

const healths: Health[] = ["unhealthy", "degraded", "unknown", "healthy"];

export function Component() {
  const can = useCan();
  const entities = useEntities();
  const systems = useMemo(() => entities.data?.systems ?? [], [entities.data]);
  const groups = useMemo(() => entities.data?.groups ?? [], [entities.data]);
  const seesHealth = can("healthcheck.healthcheck.status.read");
  const ids = useMemo(() => (seesHealth ? systems.map((system) => system.id) : []), [seesHealth, systems]);
  const bulk = useBulkHealth(ids);
  const statuses = bulk.data?.statuses;
  // While health is still being loaded nothing may look healthy or unknown.
  const healthOf = useMemo(() => (statuses ? (id: string): Health => (statuses[id]?.status as Health | undefined) ?? "unknown" : undefined), [statuses]);

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
  const q = params.get("q") ?? "";
  const group = params.get("group") ?? "";
  const health = (params.get("health") ?? "") as Health | "";
  const compact = params.get("density") === "compact";
  const action = params.get("action");
  const toggled = new Set((params.get("toggled") ?? "").split(",").filter(Boolean));
  const [editing, setEditing] = useState<Group>();
  const [removing, setRemoving] = useState<Group>();
  const deleteGroup = useDeleteGroup();

  const sections = useMemo(() => sectionsOf(systems, groups, healthOf, { q, group, health }), [systems, groups, healthOf, q, group, health]);
  const narrowed = q.trim() !== "" || group !== "" || health !== "";
  const settled = !seesHealth || systems.length === 0 || bulk.data !== undefined || bulk.isError;
  const empty = entities.data !== undefined && systems.length === 0 && groups.length === 0;
  const maySystem = can("catalog.system.manage");
  const mayGroup = can("catalog.group.manage");

  return (
    <Page
      title="Catalog"
      description={entities.data && !empty ? `${count(systems.length, "system")} in ${count(groups.length, "group")}` : undefined}
      actions={
        <>
          {mayGroup ? (
            <Button icon={<FolderPlus aria-hidden size={16} />} onClick={() => set({ action: "create-group" })}>
              New group
            </Button>
          ) : null}
          {maySystem ? (
            <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => set({ action: "create" })}>
              New system
            </Button>
          ) : null}
        </>
      }
    >
      {entities.isPending ? <SkeletonRows rows={6} /> : null}
      {entities.isError && !entities.data ? <ErrorState title="The catalog could not be loaded" error={entities.error} onRetry={() => void entities.refetch()} /> : null}
      {bulk.isError ? (
        <div className="mb-4">
          <ErrorState title="The health of your systems could not be loaded" error={bulk.error} onRetry={() => void bulk.refetch()} />
        </div>
      ) : null}
      {empty ? (
        <div className="card">
          <EmptyState
            icon={<Boxes aria-hidden size={28} />}
            title="The catalog is empty"
            action={
              maySystem ? (
                <Button look="primary" onClick={() => set({ action: "create" })}>
                  Add the first system
                </Button>
              ) : null
            }
          >
            A system is anything you run and care about: a service, a site, a database. Groups put them in order.
          </EmptyState>
        </div>
      ) : null}
      {entities.data && !empty && !settled ? <SkeletonRows rows={6} /> : null}
      {entities.data && !empty && settled ? (
        <>
          <div className="mb-4 flex flex-wrap items-center gap-2">
            <SearchParam label="Search systems and groups" className="min-w-[220px] flex-1 basis-[260px]" />
            <Select aria-label="Group" className="w-auto! max-w-[46vw]" value={group} onChange={(event) => set({ group: event.target.value })}>
              <option value="">All groups</option>
              {groups.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name}
                </option>
              ))}
              <option value="ungrouped">Ungrouped</option>
            </Select>
            <Select aria-label="Health" className="w-auto!" value={health} disabled={!healthOf} onChange={(event) => set({ health: event.target.value })}>
              <option value="">Any health</option>
              {healths.map((each) => (
                <option key={each} value={each}>
                  {each.charAt(0).toUpperCase() + each.slice(1)}
                </option>
              ))}
            </Select>
            <IconButton label={compact ? "Comfortable rows" : "Compact rows"} className="max-sm:hidden" onClick={() => set({ density: compact ? "" : "compact" })}>
              {compact ? <Rows3 aria-hidden size={17} /> : <Rows4 aria-hidden size={17} />}
            </IconButton>
          </div>
          {sections.length === 0 ? (
            <div className="card">
              <EmptyState title="Nothing matches" action={<Button onClick={() => set({ q: "", group: "", health: "" })}>Clear search and filters</Button>}>
                No system or group fits this search and these filters.
              </EmptyState>
            </div>
          ) : null}
          <Sections
            sections={sections}
            narrowed={narrowed}
            render={(section, open) => (
              <GroupSection
                key={section.id}
                section={section}
                open={toggled.has(section.id) ? !open : open}
                onToggle={() => {
                  const next = new Set(toggled);
                  if (!next.delete(section.id)) next.add(section.id);
                  set({ toggled: [...next].join(",") });
                }}
                portion={narrowed ? 20 : 50}
                healthOf={healthOf}
                reasonOf={(id) => forcedText(forcing(statuses?.[id]))}
                compact={compact}
                mayManage={mayGroup}
                onEdit={setEditing}
                onRemove={setRemoving}
              />
            )}
          />
        </>
      ) : null}
      <SystemDialog open={action === "create"} onOpenChange={(open) => set({ action: open ? "create" : "" })} />
      <GroupDialog open={action === "create-group"} onOpenChange={(open) => set({ action: open ? "create-group" : "" })} />
      <GroupDialog key={editing?.id} group={editing} open={editing !== undefined} onOpenChange={(open) => (open ? undefined : setEditing(undefined))} />
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the group “${removing?.name ?? ""}”?`}
        action="Delete group"
        onConfirm={async () => {
          if (!removing) return;
          await deleteGroup.mutateAsync(removing.id);
          toast(`Group ${removing.name} deleted`);
        }}
      >
        {removing?.systemIds?.length ? `Its ${count(removing.systemIds.length, "system")} stay in the catalog.` : "It has no systems."}
      </ConfirmDialog>
    </Page>
  );
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * Decides once, at the first sight of the page, which sections are open: later
 * changes of health must not fold or unfold anything under the pointer.
 */
function Sections({ sections, narrowed, render }: { sections: Section<System, Group>[]; narrowed: boolean; render: (section: Section<System, Group>, open: boolean) => ReactNode }) {
  const [atStart] = useState(() => (narrowed ? new Set<string>() : openAtFirst(sections)));
  return <div className="grid grid-cols-[minmax(0,1fr)] gap-3">{sections.map((section) => render(section, narrowed || atStart.has(section.id)))}</div>;
}

function GroupSection({
  section,
  open,
  onToggle,
  portion,
  healthOf,
  reasonOf,
  compact,
  mayManage,
  onEdit,
  onRemove,
}: {
  section: Section<System, Group>;
  open: boolean;
  onToggle: () => void;
  /** How many systems show at once. */
  portion: number;
  healthOf: ((id: string) => Health) | undefined;
  /** Why a system has a health that its checks do not explain. */
  reasonOf: (id: string) => string | undefined;
  compact: boolean;
  mayManage: boolean;
  onEdit: (group: Group) => void;
  onRemove: (group: Group) => void;
}) {
  const { group } = section;
  return (
    <section aria-label={section.name} className="card">
      <div className="flex items-center gap-1 pr-2">
        <h2 className="min-w-0 flex-1">
          <button type="button" aria-expanded={open} onClick={onToggle} className="flex min-h-11 w-full items-center gap-2 px-3 text-left">
            <ChevronRight aria-hidden size={16} className={clsx("shrink-0 text-ink-3 transition-transform duration-120", open && "rotate-90")} />
            <span className="truncate font-semibold">{section.name}</span>
            <span className="text-sm font-normal text-ink-3">{section.systems.length}</span>
            {section.rollup ? <StatePill state={section.rollup.state} word={section.rollup.word} className="ml-auto" /> : null}
          </button>
        </h2>
        {group && mayManage ? (
          <RowMenu label={`Actions for group ${group.name}`}>
            <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => onEdit(group)}>
              Edit group
            </MenuItem>
            <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => onRemove(group)}>
              Delete group
            </MenuItem>
          </RowMenu>
        ) : null}
      </div>
      {open ? (
        section.systems.length > 0 ? (
          <Reveal key={portion} items={section.systems} step={portion} noun="systems" className="border-t border-line px-4 py-2.5">
            {(shown) => (
              <ul className="divide-y divide-line border-t border-line">
                {shown.map((system) => (
                  <SystemRow key={system.id} system={system} state={healthOf?.(system.id)} reason={reasonOf(system.id)} compact={compact} />
                ))}
              </ul>
            )}
          </Reveal>
        ) : (
          <p className="border-t border-line px-4 py-3 text-ink-3">No systems in this group.</p>
        )
      ) : null}
    </section>
  );
}

const SystemRow = memo(function SystemRow({ system, state, reason, compact }: { system: System; state: Health | undefined; reason: string | undefined; compact: boolean }) {
  return (
    <li>
      <Link to={`/catalog/system/${system.id}`} className={clsx("flex items-center gap-3 px-4 text-ink no-underline hover:bg-raised/60", compact ? "py-1.5" : "py-2.5")}>
        {state ? <StateIcon state={state} size={16} /> : <Boxes aria-hidden size={16} className="text-ink-3" />}
        <span className="min-w-0 flex-1">
          <bdi className="font-medium break-words">{system.name}</bdi>
          {system.description && !compact ? <bdi className="block truncate text-sm text-ink-3">{system.description.slice(0, 300)}</bdi> : null}
        </span>
        {state === "degraded" || state === "unhealthy" ? <StatePill state={state} reason={reason} /> : null}
      </Link>
    </li>
  );
});
