import { BellOff, ChevronLeft, CircleCheck, Pencil, Sparkles, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { ApiError } from "@/api/errors";
import { UnsavedGuard } from "@/app/guard";
import { useCan } from "@/app/session";
import { useBulkHealth } from "@/pages/healthcheck/api";
import { isolate } from "@/ui/bidi";
import { Button, LinkButton } from "@/ui/button";
import { RelativeTime, Since } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock, SkeletonRows, toast } from "@/ui/feedback";
import { Field, FormErrors } from "@/ui/field";
import { Folded, isLong } from "@/ui/folded";
import { LinkList } from "@/ui/link-list";
import { OperatorText } from "@/ui/markdown";
import { MentionScope } from "@/ui/mention-scope";
import { MentionTextarea } from "@/ui/mention-textarea";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page, Section } from "@/ui/page";
import { ReferencedItems } from "@/ui/referenced-items";
import { Reveal } from "@/ui/reveal";
import { StateIcon, StatePill } from "@/ui/state";
import { Timeline } from "@/ui/timeline";
import { formatDuration } from "@/ui/time";
import { UpdateForm, type NewUpdate } from "@/ui/update-form";
import { useAddLink, useAddUpdate, useDeleteIncident, useIncident, useRemoveLink, useResolveIncident, type Detail } from "./api";
import { SeverityBadge, StatusBadge } from "./badges";
import { isActive, statuses, type Status } from "./words";

export function Component() {
  const { incidentId = "" } = useParams();
  return <One key={incidentId} id={incidentId} />;
}

function One({ id }: { id: string }) {
  const incident = useIncident(id);
  if (incident.error instanceof ApiError && (incident.error.status === 404 || incident.error.status === 400)) {
    return (
      <Page title="Incident not found">
        <EmptyState title="This incident does not exist" action={<LinkButton to="/incident/config">Go to the incidents</LinkButton>}>
          It may have been deleted, or the link is incomplete.
        </EmptyState>
      </Page>
    );
  }
  if (incident.isPending) {
    return (
      <Page title="Incident">
        <SkeletonBlock className="mb-7 h-20" />
        <SkeletonRows rows={3} />
      </Page>
    );
  }
  if (!incident.data) {
    return (
      <Page title="Incident">
        <ErrorState title="The incident could not be loaded" error={incident.error} onRetry={() => void incident.refetch()} />
      </Page>
    );
  }
  return <IncidentPage incident={incident.data} stale={incident.isError ? { error: incident.error, retry: () => void incident.refetch() } : undefined} />;
}

function IncidentPage({ incident, stale }: { incident: Detail; stale: { error: unknown; retry: () => void } | undefined }) {
  const can = useCan();
  const navigate = useNavigate();
  const manage = can("incident.incident.manage");
  const [resolving, setResolving] = useState(false);
  const [removing, setRemoving] = useState(false);
  const [typing, setTyping] = useState(false);
  // Leaving a page whose incident was just deleted loses nothing.
  const [gone, setGone] = useState(false);
  const addUpdate = useAddUpdate();
  const addLink = useAddLink();
  const removeLink = useRemoveLink();
  const remove = useDeleteIncident();
  const updates = useMemo(() => incident.updates ?? [], [incident.updates]);
  const texts = useMemo(() => [incident.description, ...updates.map((update) => update.message)], [incident.description, updates]);
  const active = isActive(incident);
  const add = (update: NewUpdate) => addUpdate.mutateAsync({ incidentId: incident.id, message: update.message, audience: update.audience, ...(update.statusChange ? { statusChange: update.statusChange as Status, fromStatus: update.fromStatus as Status } : {}) });

  return (
    <MentionScope texts={texts}>
      <Page
        title={incident.title}
        heading={
          <>
            <Link to="/incident/config" className="mb-1.5 inline-flex items-center gap-1 text-sm text-ink-3 hover:text-ink">
              <ChevronLeft aria-hidden size={14} />
              Incidents
            </Link>
            <div className="mb-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-1">
              <StatusBadge status={incident.status} />
              <SeverityBadge severity={incident.severity} />
              <Span incident={incident} />
            </div>
            <h1 className="text-xl font-semibold tracking-[-0.01em] wrap-anywhere">
              <bdi>{incident.title}</bdi>
            </h1>
          </>
        }
        actions={
          <>
            {can("ai.chat.read") ? (
              <LinkButton to={`/ai/chat?prompt=${encodeURIComponent(`What is known about the incident "${incident.title.slice(0, 120)}"?`)}`} icon={<Sparkles aria-hidden size={16} />}>
                <span className="max-sm:sr-only">Ask</span>
              </LinkButton>
            ) : null}
            {manage ? (
              <>
                <LinkButton to={`/incident/${incident.id}/edit`} icon={<Pencil aria-hidden size={15} />}>
                  Edit
                </LinkButton>
                {active ? (
                  <Button look="primary" icon={<CircleCheck aria-hidden size={16} />} onClick={() => setResolving(true)}>
                    Resolve incident
                  </Button>
                ) : null}
                <RowMenu label="More actions for this incident">
                  <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(true)}>
                    Delete incident
                  </MenuItem>
                </RowMenu>
              </>
            ) : null}
          </>
        }
      >
        {stale ? (
          <div className="mb-4">
            <ErrorState title="This page could not be refreshed and may be out of date" error={stale.error} onRetry={stale.retry} />
          </div>
        ) : null}
        <Facts incident={incident} />
        {incident.description ? (
          <Folded long={isLong(incident.description)} className="mb-6 max-w-[75ch]">
            <OperatorText text={incident.description} />
          </Folded>
        ) : null}
        <div className="grid grid-cols-[minmax(0,1fr)] gap-x-6 lg:grid-cols-[minmax(0,1fr)_320px]">
          <div className="min-w-0">
            <Section title="Updates">
              <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
                {manage ? <UpdateForm statuses={statuses} current={incident.status} onAdd={add} onDirty={setTyping} /> : null}
                <Timeline label="Updates, newest first" updates={updates} status={(status) => <StatusBadge status={status} />} empty={manage ? "Nothing was written yet. Say what is known, even if it is little." : "Nothing was written yet."} />
              </div>
            </Section>
          </div>
          <div className="min-w-0">
            <LinkList links={incident.links ?? []} manage={manage} onAdd={(link) => addLink.mutateAsync({ incidentId: incident.id, ...link })} onRemove={(id) => removeLink.mutateAsync({ incidentId: incident.id, id })} />
            <ReferencedItems texts={texts} except={{ type: "incident", id: incident.id }} />
          </div>
        </div>
        <Dialog open={resolving} onOpenChange={setResolving} title="Resolve this incident" description="The last update tells everyone how it ended.">
          <ResolveForm incident={incident} close={() => setResolving(false)} />
        </Dialog>
        <ConfirmDialog
          open={removing}
          onOpenChange={setRemoving}
          title={`Delete the incident “${isolate(incident.title)}”?`}
          action="Delete incident"
          onConfirm={async () => {
            await remove.mutateAsync(incident.id);
            setGone(true);
            toast("Incident deleted");
            await navigate("/incident/config", { replace: true });
          }}
        >
          {consequences(incident)} This cannot be undone; resolving keeps the record.
        </ConfirmDialog>
      </Page>
      <UnsavedGuard dirty={typing && !gone} />
    </MentionScope>
  );
}

function consequences(incident: Detail): string {
  const updates = incident.updates?.length ?? 0;
  const links = incident.links?.length ?? 0;
  const parts = [updates > 0 ? `${updates} ${updates === 1 ? "update" : "updates"}` : "", links > 0 ? `${links} ${links === 1 ? "link" : "links"}` : ""].filter(Boolean);
  const goes = parts.length > 0 ? `Its ${parts.join(" and ")} ${updates + links === 1 ? "goes" : "go"} with it.` : "";
  const lifts = isActive(incident) && incident.override ? ` Its systems are no longer forced to be ${incident.override}.` : "";
  return `${goes}${lifts}`;
}

/** Since when it is open, or when it ended and how long it took. */
function Span({ incident }: { incident: Detail }) {
  if (isActive(incident)) return <Since at={incident.createdAt} className="text-ink-2" />;
  return (
    <span className="text-ink-2">
      {incident.resolvedAt ? (
        <>
          resolved <RelativeTime at={incident.resolvedAt} /> · took {formatDuration(Date.parse(incident.resolvedAt) - Date.parse(incident.createdAt))}
        </>
      ) : (
        "resolved"
      )}
    </span>
  );
}

function Facts({ incident }: { incident: Detail }) {
  const can = useCan();
  const systems = incident.systems ?? [];
  const ids = can("healthcheck.healthcheck.status.read") ? systems.map((each) => each.id) : [];
  const health = useBulkHealth(ids);
  return (
    <dl className="card mb-6 divide-y divide-line">
      <Row label="Systems">
        {systems.length === 0 ? (
          <span className="text-ink-3">{(incident.systemIds?.length ?? 0) > 0 ? `${incident.systemIds?.length ?? 0} that you may not see` : "None left: the systems it was about were deleted."}</span>
        ) : (
          <Reveal items={systems} step={12} noun="systems" className="mt-2">
            {(shown) => (
              <ul className="flex flex-wrap gap-x-5 gap-y-1.5" aria-label="Systems concerned">
                {shown.map((system) => {
                  const state = health.data?.statuses?.[system.id]?.status;
                  return (
                    <li key={system.id} className="inline-flex max-w-full items-center gap-1.5">
                      {state ? <StateIcon state={state} size={15} /> : null}
                      <Link to={`/catalog/system/${system.id}`} className="min-w-0 break-words text-ink hover:underline">
                        <bdi>{system.name}</bdi>
                      </Link>
                    </li>
                  );
                })}
              </ul>
            )}
          </Reveal>
        )}
      </Row>
      {incident.override ? (
        <Row label="Health">
          <span className="flex flex-wrap items-center gap-2">
            <StatePill state={incident.override} />
            {isActive(incident) ? "forced on its systems until it is resolved, unless checks measure worse" : "was forced on its systems while it was open"}
          </span>
        </Row>
      ) : null}
      {incident.suppressNotifications ? (
        <Row label="Notifications">
          <span className="inline-flex items-center gap-1.5">
            <BellOff aria-hidden size={15} className="shrink-0 text-suppressed" />
            {isActive(incident) ? "Changes of health of its systems tell nobody while it is open" : "Changes of health of its systems told nobody while it was open"}
          </span>
        </Row>
      ) : null}
    </dl>
  );
}

function Row({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="grid gap-x-4 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[110px_minmax(0,1fr)]">
      <dt className="text-ink-3">{label}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

function ResolveForm({ incident, close }: { incident: Detail; close: () => void }) {
  const resolve = useResolveIncident();
  const [message, setMessage] = useState("");
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        resolve.mutate(
          { id: incident.id, ...(message.trim() === "" ? {} : { message: message.trim() }) },
          {
            onSuccess: () => {
              toast("Incident resolved");
              close();
            },
          },
        );
      }}
    >
      <FormErrors error={resolve.error} />
      <Field label="Message" help="Left empty it says “Incident resolved”.">
        {(control) => <MentionTextarea {...control} rows={3} placeholder="What it was and what fixed it" value={message} onChange={setMessage} />}
      </Field>
      {incident.override ? <p className="text-ink-2">Its systems are no longer forced to be {incident.override}; what their checks measure counts again.</p> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={resolve.isPending}>
          Resolve incident
        </Button>
      </div>
    </form>
  );
}
