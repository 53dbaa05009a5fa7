import { BellOff, CalendarPlus, ChevronLeft, CircleCheck, CircleSlash, Copy, Pencil, Play, SkipForward, Sparkles, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { ApiError } from "@/api/errors";
import { UnsavedGuard } from "@/app/guard";
import { useCan } from "@/app/session";
import { useBulkHealth } from "@/pages/healthcheck/api";
import { isolate } from "@/ui/bidi";
import { Button, LinkButton } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock, SkeletonRows, toast } from "@/ui/feedback";
import { Field, FormErrors } from "@/ui/field";
import { LinkList } from "@/ui/link-list";
import { OperatorText } from "@/ui/markdown";
import { MentionScope } from "@/ui/mention-scope";
import { MentionTextarea } from "@/ui/mention-textarea";
import { Menu, MenuItem, MenuSeparator, RowMenu } from "@/ui/menu";
import { Page, Section } from "@/ui/page";
import { ReferencedItems } from "@/ui/referenced-items";
import { Reveal } from "@/ui/reveal";
import { StateIcon } from "@/ui/state";
import { Timeline } from "@/ui/timeline";
import { formatDuration, relativeTime } from "@/ui/time";
import { UpdateForm, type NewUpdate } from "@/ui/update-form";
import { dateTimeText, localZone, offsetLabel, timeText, utcText, wholeMinute } from "@/ui/zone";
import { useAddLink, useAddUpdate, useCloseMaintenance, useDeleteMaintenance, useMaintenance, useRemoveLink, useSkipOccurrence, useUpdateMaintenance, type Detail } from "./api";
import { SeriesMark, StatusBadge } from "./badges";
import { followsSeries } from "./scope";
import { SeriesPanel } from "./series-panel";
import { tense } from "./window";
import { isOpen, nextStatuses, type Status } from "./words";

export function Component() {
  const { maintenanceId = "" } = useParams();
  return <One key={maintenanceId} id={maintenanceId} />;
}

function One({ id }: { id: string }) {
  const maintenance = useMaintenance(id);
  if (maintenance.error instanceof ApiError && (maintenance.error.status === 404 || maintenance.error.status === 400)) {
    return (
      <Page title="Maintenance not found">
        <EmptyState title="This maintenance does not exist" action={<LinkButton to="/maintenance/config">Go to the maintenances</LinkButton>}>
          It may have been deleted, or taken back with its series, or the link is incomplete.
        </EmptyState>
      </Page>
    );
  }
  if (maintenance.isPending) {
    return (
      <Page title="Maintenance">
        <SkeletonBlock className="mb-7 h-20" />
        <SkeletonRows rows={3} />
      </Page>
    );
  }
  if (!maintenance.data) {
    return (
      <Page title="Maintenance">
        <ErrorState title="The maintenance could not be loaded" error={maintenance.error} onRetry={() => void maintenance.refetch()} />
      </Page>
    );
  }
  return <MaintenancePage maintenance={maintenance.data} stale={maintenance.isError ? { error: maintenance.error, retry: () => void maintenance.refetch() } : undefined} />;
}

type Asking = "start" | "complete" | "cancel" | "skip" | "delete";

function MaintenancePage({ maintenance, stale }: { maintenance: Detail; stale: { error: unknown; retry: () => void } | undefined }) {
  const can = useCan();
  const manage = can("maintenance.maintenance.manage");
  const now = useNow();
  const [asking, setAsking] = useState<Asking>();
  const [typing, setTyping] = useState(false);
  // Leaving a page whose maintenance was just deleted loses nothing.
  const [gone, setGone] = useState(false);
  const addUpdate = useAddUpdate();
  const addLink = useAddLink();
  const removeLink = useRemoveLink();
  const updates = useMemo(() => maintenance.updates ?? [], [maintenance.updates]);
  const texts = useMemo(() => [maintenance.description, ...updates.map((update) => update.message)], [maintenance.description, updates]);
  const add = (update: NewUpdate) => addUpdate.mutateAsync({ maintenanceId: maintenance.id, message: update.message, audience: update.audience, ...(update.statusChange ? { statusChange: update.statusChange as Status } : {}) });

  return (
    <MentionScope texts={texts}>
      <Page
        title={maintenance.title}
        heading={
          <>
            <Link to="/maintenance/config" className="mb-1.5 inline-flex items-center gap-1 text-sm text-ink-3 hover:text-ink">
              <ChevronLeft aria-hidden size={14} />
              Maintenances
            </Link>
            <div className="mb-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-1">
              <StatusBadge status={maintenance.status} />
              <span className="text-ink-2">{countdownText(maintenance, now)}</span>
              {maintenance.seriesId ? <SeriesMark rule={maintenance.series?.ruleText} /> : null}
            </div>
            <h1 className="text-xl font-semibold tracking-[-0.01em] wrap-anywhere">
              <bdi>{maintenance.title}</bdi>
            </h1>
          </>
        }
        description={maintenance.description ? <OperatorText text={maintenance.description} className="mt-1.5 max-w-[75ch]" /> : null}
        actions={
          <>
            {can("ai.chat.read") ? (
              <LinkButton to={`/ai/chat?prompt=${encodeURIComponent(`What is known about the maintenance "${maintenance.title.slice(0, 120)}"?`)}`} icon={<Sparkles aria-hidden size={16} />}>
                Ask
              </LinkButton>
            ) : null}
            {manage ? <Actions maintenance={maintenance} ask={setAsking} /> : null}
          </>
        }
      >
        {stale ? (
          <div className="mb-4">
            <ErrorState title="This page could not be refreshed and may be out of date" error={stale.error} onRetry={stale.retry} />
          </div>
        ) : null}
        <Facts maintenance={maintenance} manage={manage} />
        <div className="grid gap-x-6 lg:grid-cols-[minmax(0,1fr)_340px]">
          <div className="min-w-0">
            <Section title="Updates">
              <div className="grid gap-3">
                {manage ? <UpdateForm statuses={nextStatuses(maintenance.status)} current={maintenance.status} onAdd={add} onDirty={setTyping} /> : null}
                <Timeline label="Updates, newest first" updates={updates} status={(status) => <StatusBadge status={status} />} empty={manage ? "Nothing was written yet. Say how it goes, and when something turns out otherwise." : "Nothing was written yet."} />
              </div>
            </Section>
          </div>
          <div className="min-w-0">
            {maintenance.series ? <SeriesPanel maintenance={maintenance} series={maintenance.series} manage={manage} /> : null}
            <LinkList links={maintenance.links ?? []} manage={manage} onAdd={(link) => addLink.mutateAsync({ maintenanceId: maintenance.id, ...link })} onRemove={(id) => removeLink.mutateAsync({ maintenanceId: maintenance.id, id })} />
            <ReferencedItems texts={texts} except={{ type: "maintenance", id: maintenance.id }} />
          </div>
        </div>
        <Dialogs maintenance={maintenance} asking={asking} close={() => setAsking(undefined)} onGone={() => setGone(true)} />
      </Page>
      <UnsavedGuard dirty={typing && !gone} />
    </MentionScope>
  );
}

/** What matters now: how long until it starts or ends, to the second in the last hour. */
function countdownText(maintenance: Detail, now: Date): string {
  const next = maintenance.status === "scheduled" ? Date.parse(maintenance.startAt) : maintenance.status === "in_progress" ? Date.parse(maintenance.endAt) : undefined;
  if (next === undefined) return tense(maintenance, now);
  const rest = next - now.getTime();
  if (rest <= 0) return tense(maintenance, now);
  return `${maintenance.status === "scheduled" ? "starts" : "ends"} in ${formatDuration(Math.ceil(rest / 1000) * 1000)}`;
}

function Actions({ maintenance, ask }: { maintenance: Detail; ask: (asking: Asking) => void }) {
  const navigate = useNavigate();
  const edit = `/maintenance/${maintenance.id}/edit`;
  const follows = followsSeries(maintenance);
  const open = isOpen(maintenance);
  return (
    <>
      {follows ? (
        <Menu
          trigger={
            <Button icon={<Pencil aria-hidden size={15} />} aria-haspopup="menu">
              Edit
            </Button>
          }
        >
          <MenuItem onSelect={() => void navigate(edit)}>This one only</MenuItem>
          <MenuItem onSelect={() => void navigate(`${edit}?scope=series`)}>This and all that follow</MenuItem>
        </Menu>
      ) : (
        <LinkButton to={edit} icon={<Pencil aria-hidden size={15} />}>
          Edit
        </LinkButton>
      )}
      {maintenance.status === "in_progress" ? (
        <Button look="primary" icon={<CircleCheck aria-hidden size={16} />} onClick={() => ask("complete")}>
          Complete now
        </Button>
      ) : null}
      <RowMenu label="More actions for this maintenance">
        {maintenance.status === "scheduled" ? (
          <MenuItem icon={<Play aria-hidden size={15} />} onSelect={() => ask("start")}>
            Start now
          </MenuItem>
        ) : null}
        <MenuItem icon={<Copy aria-hidden size={15} />} onSelect={() => void navigate(`/maintenance/new?like=${maintenance.id}`)}>
          Plan another like this
        </MenuItem>
        {open ? (
          maintenance.status === "scheduled" && maintenance.seriesId ? (
            <MenuItem icon={<SkipForward aria-hidden size={15} />} onSelect={() => ask("skip")}>
              Skip this occurrence
            </MenuItem>
          ) : (
            <MenuItem icon={<CircleSlash aria-hidden size={15} />} onSelect={() => ask("cancel")}>
              Cancel maintenance
            </MenuItem>
          )
        ) : null}
        <MenuSeparator />
        <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => ask("delete")}>
          Delete maintenance
        </MenuItem>
      </RowMenu>
    </>
  );
}

const extensions = [15, 30, 60].map((minutes) => minutes * 60_000);

function Facts({ maintenance, manage }: { maintenance: Detail; manage: boolean }) {
  const zone = localZone();
  const start = Date.parse(maintenance.startAt);
  const end = Date.parse(maintenance.endAt);
  return (
    <dl className="card mb-6 divide-y divide-line">
      <Row label="Start">
        <Instant at={start} zone={zone} series={maintenance.series?.timeZone} />
        <Really planned={start} real={maintenance.startedAt} zone={zone} word="started" />
      </Row>
      <Row label="End">
        <Instant at={end} zone={zone} series={maintenance.series?.timeZone} />
        <Really planned={end} real={maintenance.endedAt} zone={zone} word={maintenance.status === "cancelled" ? "cancelled" : "ended"} />
        {manage && isOpen(maintenance) ? <Extend maintenance={maintenance} /> : null}
      </Row>
      <Row label="Length">{formatDuration(end - start)}</Row>
      <Systems maintenance={maintenance} />
      {maintenance.suppressNotifications ? (
        <Row label="Notifications">
          <span className="inline-flex items-start gap-1.5">
            <BellOff aria-hidden size={15} className="mt-0.5 shrink-0 text-suppressed" />
            {
              {
                scheduled: "Changes of health of its systems will tell nobody while it is in progress",
                in_progress: "Changes of health of its systems tell nobody until it ends",
                completed: "Changes of health of its systems told nobody while it was in progress",
                cancelled: "Changes of health of its systems tell people as usual again",
              }[maintenance.status]
            }
          </span>
        </Row>
      ) : null}
    </dl>
  );
}

/** An instant by the reader's clocks, with their zone, in UTC, and by the clocks of the series where they are others. */
function Instant({ at, zone, series }: { at: number; zone: string; series: string | undefined }) {
  return (
    <time dateTime={new Date(at).toISOString()} className="block">
      <span className="font-medium">{dateTimeText(at, zone)}</span>{" "}
      <span className="text-ink-2">
        {zone} {zone === "UTC" ? "" : `(${offsetLabel(at, zone)})`}
      </span>
      {zone === "UTC" ? null : <span className="text-ink-3"> · {utcText(at, zone)}</span>}
      {series && series !== zone && series !== "UTC" ? (
        <span className="text-ink-3">
          {" "}
          · {dateTimeText(at, series)} {series}
        </span>
      ) : null}
    </time>
  );
}

/** When it really was, where that is not when it was planned. */
function Really({ planned, real, zone, word }: { planned: number; real: string | null; zone: string; word: string }) {
  if (real === null) return null;
  const at = Date.parse(real);
  const late = at - planned;
  // The clock's own steps come within seconds of their time.
  if (Math.abs(late) < 60_000) return null;
  return (
    <p className="text-sm text-ink-3">
      {word} at {Math.abs(late) < 12 * 3_600_000 ? timeText(wholeMinute(at), zone) : dateTimeText(wholeMinute(at), zone)}, {formatDuration(Math.abs(late))} {late < 0 ? "early" : "late"}
    </p>
  );
}

/** Moves the end by the usual amounts with one press. */
function Extend({ maintenance }: { maintenance: Detail }) {
  const update = useUpdateMaintenance();
  const end = Date.parse(maintenance.endAt);
  return (
    <div role="group" aria-label="Extend" className="mt-1.5 flex flex-wrap items-center gap-1.5">
      <CalendarPlus aria-hidden size={15} className="text-ink-3" />
      <span className="text-sm text-ink-3">Extend by</span>
      {extensions.map((each) => (
        <Button
          key={each}
          size="sm"
          disabled={update.isPending}
          onClick={() =>
            update.mutate(
              // The version keeps two people who press at once from extending twice unseen.
              { id: maintenance.id, version: maintenance.version, endAt: new Date(end + each).toISOString() },
              { onSuccess: (now) => toast(`Ends at ${timeText(Date.parse(now.endAt), localZone())} now`) },
            )
          }
        >
          {formatDuration(each)}
        </Button>
      ))}
      {update.error ? (
        <p role="alert" className="basis-full text-sm text-unhealthy-ink">
          {update.error.message}
        </p>
      ) : null}
    </div>
  );
}

function Systems({ maintenance }: { maintenance: Detail }) {
  const can = useCan();
  const systems = maintenance.systems ?? [];
  const ids = can("healthcheck.healthcheck.status.read") ? systems.map((each) => each.id) : [];
  const health = useBulkHealth(ids);
  return (
    <Row label="Systems">
      {systems.length === 0 ? (
        <span className="text-ink-3">{(maintenance.systemIds?.length ?? 0) > 0 ? `${maintenance.systemIds?.length ?? 0} that you may not see` : "None left: the systems it was about were deleted."}</span>
      ) : (
        <Reveal items={systems} step={12} noun="systems" className="mt-2">
          {(shown) => (
            <ul className="flex flex-wrap gap-x-5 gap-y-1.5" aria-label="Systems worked on">
              {shown.map((system) => {
                const state = health.data?.statuses?.[system.id]?.status;
                return (
                  <li key={system.id} className="inline-flex max-w-full items-center gap-1.5">
                    {state ? <StateIcon state={state} size={15} /> : null}
                    <Link to={`/catalog/system/${system.id}`} className="min-w-0 wrap-anywhere text-ink hover:underline">
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

function Dialogs({ maintenance, asking, close, onGone }: { maintenance: Detail; asking: Asking | undefined; close: () => void; onGone: () => void }) {
  const navigate = useNavigate();
  const update = useUpdateMaintenance();
  const skip = useSkipOccurrence();
  const remove = useDeleteMaintenance();
  const name = `“${isolate(maintenance.title)}”`;
  const leave = (open: boolean) => (open ? undefined : close());
  return (
    <>
      <Dialog open={asking === "complete"} onOpenChange={leave} title="Complete this maintenance" description="It ends now instead of at its planned end.">
        <CompleteForm maintenance={maintenance} close={close} />
      </Dialog>
      <ConfirmDialog
        open={asking === "start"}
        onOpenChange={leave}
        title={`Start ${name} now?`}
        action="Start now"
        look="primary"
        onConfirm={async () => {
          await update.mutateAsync({ id: maintenance.id, version: maintenance.version, status: "in_progress" });
          toast("Maintenance started");
        }}
      >
        It would start {relativeTime(new Date(maintenance.startAt), new Date())} by itself. Its planned end stays. What has started is not scheduled again.
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === "skip"}
        onOpenChange={leave}
        title={`Skip this occurrence of ${name}?`}
        action="Skip this occurrence"
        look="primary"
        onConfirm={async () => {
          await skip.mutateAsync(maintenance.id);
          toast("Occurrence skipped");
        }}
      >
        It is cancelled and stays on record. The other occurrences of the series stay as they are.
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === "cancel"}
        onOpenChange={leave}
        title={`Cancel the maintenance ${name}?`}
        action="Cancel maintenance"
        onConfirm={async () => {
          await update.mutateAsync({ id: maintenance.id, version: maintenance.version, status: "cancelled" });
          toast("Maintenance cancelled");
        }}
      >
        {maintenance.status === "in_progress" ? "It ends now and is shown as cancelled." : "It will not take place and is shown as cancelled."} It stays on record and cannot be planned again; plan another like it instead.
      </ConfirmDialog>
      <ConfirmDialog
        open={asking === "delete"}
        onOpenChange={leave}
        title={`Delete the maintenance ${name}?`}
        action="Delete maintenance"
        onConfirm={async () => {
          await remove.mutateAsync(maintenance.id);
          onGone();
          toast("Maintenance deleted");
          await navigate("/maintenance/config", { replace: true });
        }}
      >
        {consequences(maintenance)} This cannot be undone; {maintenance.status === "in_progress" ? "completing" : "cancelling"} keeps the record.
      </ConfirmDialog>
    </>
  );
}

function consequences(maintenance: Detail): string {
  const updates = maintenance.updates?.length ?? 0;
  const links = maintenance.links?.length ?? 0;
  const parts = [updates > 0 ? `${updates} ${updates === 1 ? "update" : "updates"}` : "", links > 0 ? `${links} ${links === 1 ? "link" : "links"}` : ""].filter(Boolean);
  const sentences = [
    parts.length > 0 ? `Its ${parts.join(" and ")} ${updates + links === 1 ? "goes" : "go"} with it.` : "",
    maintenance.seriesId ? "The other occurrences of its series stay." : "",
    maintenance.status === "in_progress" && maintenance.suppressNotifications ? "It keeps notifications about its systems quiet no longer." : "",
  ];
  return sentences.filter(Boolean).join(" ");
}

function CompleteForm({ maintenance, close }: { maintenance: Detail; close: () => void }) {
  const complete = useCloseMaintenance();
  const [message, setMessage] = useState("");
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        complete.mutate(
          { id: maintenance.id, ...(message.trim() === "" ? {} : { message: message.trim() }) },
          {
            onSuccess: () => {
              toast("Maintenance completed");
              close();
            },
          },
        );
      }}
    >
      <FormErrors error={complete.error} />
      <Field label="Message" help="Left empty it says “Maintenance completed early”.">
        {(control) => <MentionTextarea {...control} rows={3} placeholder="What was done" value={message} onChange={setMessage} />}
      </Field>
      {maintenance.suppressNotifications ? <p className="text-ink-2">Changes of health of its systems tell people again from now on.</p> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={complete.isPending}>
          Complete maintenance
        </Button>
      </div>
    </form>
  );
}
