import { ChevronLeft, ExternalLink, Pencil, Sparkles, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { ApiError } from "@/api/errors";
import { Slot } from "@/app/slot";
import { systemActions, systemBlocks } from "@/app/slots";
import { useCan } from "@/app/session";
import { useSystemHealth } from "@/pages/healthcheck/api";
import { ForcedNote, forcing } from "@/pages/healthcheck/forced";
import { Button, LinkButton } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock, toast } from "@/ui/feedback";
import { MenuItem, MenuSeparator, RowMenu } from "@/ui/menu";
import { LongText } from "@/ui/long-text";
import { Page } from "@/ui/page";
import { StatePill } from "@/ui/state";
import { useDeleteSystem, useEntities, useSilence, useSystem, type System } from "./api";
import { SystemDialog } from "./forms";

export function Component() {
  const { systemId = "" } = useParams();
  const system = useSystem(systemId);
  if (system.isPending) {
    return (
      <Page title="System">
        <SkeletonBlock className="mb-7 h-16" />
        <SkeletonBlock className="h-40" />
      </Page>
    );
  }
  if (system.error instanceof ApiError && system.error.status === 404) {
    return (
      <Page title="System not found">
        <EmptyState title="This system does not exist" action={<LinkButton to="/catalog">Go to the catalog</LinkButton>}>
          It may have been deleted, or the link is incomplete.
        </EmptyState>
      </Page>
    );
  }
  if (!system.data) {
    return (
      <Page title="System">
        <ErrorState title="The system could not be loaded" error={system.error} onRetry={() => void system.refetch()} />
      </Page>
    );
  }
  return <SystemPage key={system.data.id} system={system.data} />;
}

function SystemPage({ system }: { system: System }) {
  const can = useCan();
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const [removing, setRemoving] = useState(false);
  const entities = useEntities();
  const health = useSystemHealth(system.id, can("healthcheck.healthcheck.status.read"));
  const silence = useSilence(system.id);
  const deleteSystem = useDeleteSystem();
  const groups = (entities.data?.groups ?? []).filter((group) => system.groupIds?.includes(group.id) ?? false);
  const manage = can("catalog.system.manage");
  const actions = systemActions.filter((each) => can(each.rule)).sort((a, b) => a.order - b.order);
  const checks = health.data?.checkStatuses?.length ?? 0;
  return (
    <Page
      title={system.name}
      heading={
        <>
          <Link to="/catalog" className="mb-1.5 inline-flex items-center gap-1 text-sm text-ink-3 hover:text-ink">
            <ChevronLeft aria-hidden size={14} />
            Catalog
          </Link>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="min-w-0 text-xl font-semibold tracking-[-0.01em] break-words">
              <bdi>{system.name}</bdi>
            </h1>
            {health.data ? <StatePill state={health.data.status} /> : null}
            {health.data?.since ? (
              <span className="text-ink-2">
                since <RelativeTime at={health.data.since} />
              </span>
            ) : null}
            <ForcedNote override={forcing(health.data)} />
            {silence.data?.silencedBy ? <StatePill state="suppressed" word="Silenced" reason={`Nobody is notified of changes of its health: asked for by ${silence.data.silencedBy}`} /> : null}
          </div>
        </>
      }
      description={
        <>
          {system.description ? <LongText text={system.description} className="mt-1 max-w-[75ch]" /> : null}
          {(system.links?.length ?? 0) > 0 || groups.length > 0 ? (
            <p className="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
              {groups.map((group) => (
                <Link key={group.id} to={`/catalog?group=${group.id}`} className="text-ink-3 hover:text-ink hover:underline">
                  {group.name}
                </Link>
              ))}
              {system.links?.map((link) => (
                <a key={link.id} href={link.url} target="_blank" rel="noopener noreferrer" className="link inline-flex items-center gap-1">
                  {link.label}
                  <ExternalLink aria-label="(opens in a new tab)" size={13} />
                </a>
              ))}
            </p>
          ) : null}
        </>
      }
      actions={
        <>
          {can("ai.chat.read") ? (
            <LinkButton to={`/ai/chat?prompt=${encodeURIComponent(`How is "${system.name}" doing?`)}`} icon={<Sparkles aria-hidden size={16} />}>
              Ask
            </LinkButton>
          ) : null}
          {manage ? (
            <Button icon={<Pencil aria-hidden size={15} />} onClick={() => setEditing(true)}>
              Edit
            </Button>
          ) : null}
          {manage || actions.length > 0 ? (
            <RowMenu label={`More actions for ${system.name}`}>
              {actions.map(({ id, label, icon: Icon, to }) => (
                <MenuItem key={id} icon={<Icon aria-hidden size={15} />} onSelect={() => void navigate(to(system.id))}>
                  {label}
                </MenuItem>
              ))}
              {manage && actions.length > 0 ? <MenuSeparator /> : null}
              {manage ? (
                <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(true)}>
                  Delete system
                </MenuItem>
              ) : null}
            </RowMenu>
          ) : null}
        </>
      }
    >
      <Slot entries={systemBlocks} props={{ systemId: system.id, systemName: system.name }} />
      <SystemDialog system={system} open={editing} onOpenChange={setEditing} />
      <ConfirmDialog
        open={removing}
        onOpenChange={setRemoving}
        title={`Delete the system “${system.name}”?`}
        action="Delete system"
        onConfirm={async () => {
          await deleteSystem.mutateAsync(system.id);
          toast(`${system.name} deleted`);
          await navigate("/catalog", { replace: true });
        }}
      >
        {checks > 0
          ? `Its links, the assignment of ${checks === 1 ? "1 check" : `${checks} checks`} and their run history for it go too. The checks themselves stay. This cannot be undone.`
          : "Its links and check assignments go with it. This cannot be undone."}
      </ConfirmDialog>
    </Page>
  );
}
