import { useQueryClient } from "@tanstack/react-query";
import { ChevronLeft } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { ApiError, issuesByPath, type Issue } from "@/api/errors";
import { UnsavedGuard } from "@/app/guard";
import { useEntities } from "@/pages/catalog/api";
import { Button, LinkButton } from "@/ui/button";
import { ChangedMeanwhile } from "@/ui/changed-meanwhile";
import { useNow } from "@/ui/clock";
import { dateTimeFault, shownWall, typed } from "@/ui/date-time";
import { DateTimeField } from "@/ui/date-time-field";
import { EmptyState, ErrorState, SkeletonBlock, toast } from "@/ui/feedback";
import { Field, FormErrors, Input, Toggle } from "@/ui/field";
import { MentionTextarea } from "@/ui/mention-textarea";
import { Page } from "@/ui/page";
import { useSettled } from "@/ui/settled";
import { SystemPicker } from "@/ui/system-picker";
import { formatDuration } from "@/ui/time";
import { isZone, localZone } from "@/ui/zone";
import { ZoneSelect } from "@/ui/zone-select";
import { listPage, plugin, readMaintenance, useCreateMaintenance, useOpenedMaintenance, usePreview, useUpdateMaintenance, useUpdateSeries, type Detail, type Recurring } from "./api";
import { changedFields, editOf, fieldLabels, instantOf, isTyped, ruleOf, seriesEditOf, seriesValuesOf, shownValue, valuesOf, windowOf, withStart, withTheirs, withZone, type Values } from "./changes";
import { OccurrencePreview } from "./preview";
import { noRecurrence, recurrenceFault } from "./recurrence";
import { RecurrenceEditor, type RecurrenceErrors } from "./recurrence-editor";
import { followsSeries } from "./scope";
import { isOpen, statusLabel } from "./words";

const hour = 3_600_000;

/** What is changed: one maintenance, or a series from one of its occurrences on. */
type Scope = "one" | "series";

export function Component() {
  const { maintenanceId } = useParams();
  const [params] = useSearchParams();
  const scope: Scope = params.get("scope") === "series" ? "series" : "one";
  if (maintenanceId) return <Existing key={`${maintenanceId} ${scope}`} id={maintenanceId} scope={scope} />;
  const like = params.get("like");
  return like ? <Another key={like} id={like} /> : <New />;
}

/** In an hour, to the minute. */
function soon(): number {
  return Math.floor(Date.now() / 60_000) * 60_000 + hour;
}

function New() {
  const [params] = useSearchParams();
  const systemId = params.get("systemId");
  const date = params.get("date");
  const [start] = useState<Values>(() => {
    const zone = localZone();
    const at = soon();
    const blank: Values = { title: "", description: "", systemIds: systemId ? [systemId] : [], suppressNotifications: false, zone, start: { at }, end: { at: at + hour }, recurrence: noRecurrence };
    return date && /^\d{4}-\d{2}-\d{2}$/.test(date) ? withStart(blank, typed(blank.start, zone, { date }), at) : blank;
  });
  return <Form opened={undefined} scope="one" start={start} />;
}

/** A new one with the texts and systems of another. */
function Another({ id }: { id: string }) {
  const other = useOpenedMaintenance(id);
  if (!other.data) return <Opening query={other} />;
  const at = soon();
  const values = valuesOf(other.data, localZone());
  return <Form opened={undefined} scope="one" start={{ ...values, start: { at }, end: { at: at + Date.parse(other.data.endAt) - Date.parse(other.data.startAt) } }} />;
}

function Opening({ query }: { query: ReturnType<typeof useOpenedMaintenance> }) {
  if (query.isPending) {
    return (
      <Page title="Maintenance" width="narrow">
        <SkeletonBlock className="mb-4 h-40" />
        <SkeletonBlock className="h-64" />
      </Page>
    );
  }
  if (query.error instanceof ApiError && (query.error.status === 404 || query.error.status === 400)) {
    return (
      <Page title="Maintenance not found" width="narrow">
        <EmptyState title="This maintenance does not exist" action={<LinkButton to="/maintenance/config">Go to the maintenances</LinkButton>}>
          It may have been deleted, or the link is incomplete.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page title="Maintenance" width="narrow">
      <ErrorState title="The maintenance could not be loaded" error={query.error} onRetry={() => void query.refetch()} />
    </Page>
  );
}

function Existing({ id, scope }: { id: string; scope: Scope }) {
  const maintenance = useOpenedMaintenance(id);
  if (!maintenance.data) return <Opening query={maintenance} />;
  if (scope === "one") return <Form opened={maintenance.data} scope="one" start={valuesOf(maintenance.data, localZone())} />;
  const values = seriesValuesOf(maintenance.data);
  if (!values || !followsSeries(maintenance.data)) {
    return (
      <Page title="Edit the series" width="narrow">
        <EmptyState title="This one does not follow a series any more" action={<LinkButton to={`/maintenance/${id}/edit`}>Edit this one</LinkButton>}>
          It has begun, was changed by hand, or its series has ended.
        </EmptyState>
      </Page>
    );
  }
  return <Form opened={maintenance.data} scope="series" start={values} />;
}

/** What the parts of an input are called in the form. */
const issueLabels: Record<string, string> = {
  title: "Title",
  description: "Description",
  systemIds: "Systems",
  startAt: "Start",
  endAt: "End",
  timeZone: "Time zone",
  "recurrence.timeZone": "Time zone",
  rule: "Rule",
  "recurrence.rule": "Rule",
  custom: "Rule",
  interval: "Interval",
  count: "How many times",
  until: "Last day",
};

const lengths = [30, 60, 120, 240, 480].map((minutes) => minutes * 60_000);

const invalid = (issues: Issue[]) => new ApiError({ code: "invalid", message: "Some fields need attention.", status: 400, issues });

function Form({ opened, scope, start }: { opened: Detail | undefined; scope: Scope; start: Values }) {
  const id = useId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const entities = useEntities();
  const create = useCreateMaintenance();
  const update = useUpdateMaintenance();
  const updateSeries = useUpdateSeries();
  const [values, setValues] = useState(start);
  const [saved, setSaved] = useState(false);
  const [fault, setFault] = useState<unknown>();
  /** The fault is what this form found before it asked the server. */
  const [found, setFound] = useState(false);
  /** The state that somebody else made while this form was open. */
  const [newer, setNewer] = useState<Detail>();
  // What the next save is compared with: what was opened, then what was seen of others' changes.
  const [base, setBase] = useState(start);
  const [present, setPresent] = useState(opened);
  const lastStart = useRef(instantOf(start.start, start.zone));
  const series = scope === "series";
  const repeats = opened === undefined || series;
  const set = (changes: Partial<Values>) => setValues((current) => ({ ...current, ...changes }));

  const startAt = instantOf(values.start, values.zone);
  const endAt = instantOf(values.end, values.zone);
  // While a date is being typed there is no start to measure from.
  useEffect(() => {
    if (startAt !== undefined) lastStart.current = startAt;
  }, [startAt]);
  const touched = changedFields(base, values, repeats);
  const dirty = touched.length > 0;
  const missing = recurrenceFault(values.recurrence);
  const problems = (): Issue[] => {
    const issues: Issue[] = [];
    if (values.title.trim() === "") issues.push({ path: "title", message: "is required" });
    if (values.systemIds.length === 0) issues.push({ path: "systemIds", message: "At least one system is required" });
    const startFault = dateTimeFault(values.start, values.zone);
    const endFault = dateTimeFault(values.end, values.zone);
    if (startFault) issues.push({ path: "startAt", message: startFault });
    if (endFault) issues.push({ path: "endAt", message: endFault });
    if (startAt !== undefined && endAt !== undefined && endAt <= startAt) issues.push({ path: "endAt", message: "End date must be after start date" });
    if (repeats && missing) issues.push({ path: missing.field, message: missing.message });
    return issues;
  };
  // What this form found itself goes away as soon as it is put right.
  const errors = issuesByPath(found ? invalid(problems()) : fault);
  const nameOf = (systemId: string) => entities.data?.systems?.find((each) => each.id === systemId)?.name ?? "unknown system";
  const fieldIds: Record<string, string> = Object.fromEntries(
    ["title", "description", "systemIds", "startAt", "endAt", "timeZone", "rule", "rule-interval", "rule-count", "rule-until", "rule-custom"].map((field) => [field, `${id}-${field}`]),
  );
  const links: Record<string, string> = { ...fieldIds, "recurrence.rule": fieldIds.rule ?? "", "recurrence.timeZone": fieldIds.timeZone ?? "", interval: `${id}-rule-interval`, count: `${id}-rule-count`, until: `${id}-rule-until`, custom: `${id}-rule-custom` };

  const rule = repeats ? ruleOf(values) : undefined;
  const recurring: Recurring | undefined =
    rule !== undefined && startAt !== undefined && endAt !== undefined && endAt > startAt && isZone(values.zone) ? { ...windowOf(values), recurrence: { rule, timeZone: values.zone } } : undefined;
  const asked = useSettled(recurring === undefined ? "" : JSON.stringify(recurring), 250);
  const preview = usePreview(asked === "" ? undefined : (JSON.parse(asked) as Recurring));
  const previewErrors = issuesByPath(preview.error);
  const ruleErrors: RecurrenceErrors = {
    rule: errors["recurrence.rule"] ?? errors.rule ?? (recurring ? previewErrors["recurrence.rule"] : undefined),
    interval: errors.interval,
    count: errors.count,
    until: errors.until,
    custom: errors.custom,
  };

  const store = async (): Promise<string> => {
    if (!present) {
      const made = await create.mutateAsync({
        title: values.title.trim(),
        ...(values.description.trim() === "" ? {} : { description: values.description.trim() }),
        systemIds: values.systemIds,
        suppressNotifications: values.suppressNotifications,
        ...windowOf(values),
        ...(rule === undefined ? {} : { recurrence: { rule, timeZone: values.zone } }),
      });
      return made.id;
    }
    if (series && present.series) {
      await updateSeries.mutateAsync({ id: present.series.id, version: present.series.version, fromMaintenanceId: present.id, ...seriesEditOf(base, values) });
      return present.id;
    }
    return (await update.mutateAsync({ id: present.id, version: present.version, ...editOf(base, values) })).id;
  };

  const save = async () => {
    const issues = problems();
    setFound(issues.length > 0);
    setFault(issues.length > 0 ? invalid(issues) : undefined);
    if (issues.length > 0) return;
    try {
      const stored = await store();
      // Leaving after saving loses nothing: the guard must know before the page changes.
      flushSync(() => setSaved(true));
      toast(opened ? "Changes saved" : rule === undefined ? "Maintenance planned" : "Series planned");
      const to = series && present?.seriesId ? await nowAt(stored, present.seriesId, windowOf(values).startAt) : stored;
      await navigate(to ? `/maintenance/${to}` : "/maintenance/config", { replace: opened === undefined });
    } catch (error) {
      if (present && error instanceof ApiError && error.status === 409) {
        try {
          const now = await readMaintenance(present.id);
          if (series ? now.series?.version !== present.series?.version : now.version !== present.version) {
            setNewer(now);
            return;
          }
        } catch {
          // Without the newer state the refusal itself is what there is to say.
        }
      }
      setFault(error);
    }
  };

  const theirValues = newer ? (series ? (seriesValuesOf(newer) ?? base) : valuesOf(newer, values.zone)) : undefined;
  /** Goes on from the newer state, with what was typed here on top of it. */
  const goOn = (take: "mine" | "theirs") => {
    if (!newer || !theirValues) return;
    setValues(withTheirs(base, values, theirValues, take, series));
    setBase(theirValues);
    setPresent(newer);
    setNewer(undefined);
    setFault(undefined);
    void client.invalidateQueries({ queryKey: [plugin, "getMaintenance", newer.id] });
  };

  const back = opened ? `/maintenance/${opened.id}` : "/maintenance/config";
  const heading = opened ? (series ? "Edit this and all that follow" : opened.seriesId ? "Edit this one only" : "Edit maintenance") : "Plan a maintenance";
  const started = present !== undefined && present.status !== "scheduled";
  const over = present !== undefined && !isOpen(present);
  return (
    <Page
      title={heading}
      width="narrow"
      heading={
        <>
          <Link to={back} className="mb-1.5 inline-flex max-w-full items-center gap-1 text-sm text-ink-3 hover:text-ink">
            <ChevronLeft aria-hidden size={14} className="shrink-0" />
            <bdi className="truncate">{opened?.title ?? "Maintenances"}</bdi>
          </Link>
          <h1 className="text-xl font-semibold tracking-[-0.01em]">{heading}</h1>
        </>
      }
      description={series ? "Changes this occurrence and those after it, except for the ones that have begun or that somebody changed by hand." : undefined}
    >
      <form
        noValidate
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <FormErrors error={fault} fieldIds={links} labels={issueLabels} />
        {newer && theirValues ? (
          <ChangedMeanwhile
            noun={series ? "series" : "maintenance"}
            changes={changedFields(base, theirValues, series).map((field) => ({
              label: fieldLabels[field],
              theirs: shownValue(field, theirValues, nameOf),
              both: touched.includes(field) && changedFields(values, theirValues, series).includes(field),
            }))}
            otherwise={`It is now ${statusLabel(newer.status).toLowerCase()}; the fields of this form are the same.`}
            onGoOn={goOn}
          />
        ) : null}
        <section aria-label="What is planned" className="card grid gap-4 p-4 md:p-5">
          <Field label="Title" required id={fieldIds.title ?? ""} error={errors.title} help="What is done, in a few words, as those would say it who will notice.">
            {(control) => <Input {...control} dir="auto" required maxLength={200} value={values.title} onChange={(event) => set({ title: event.target.value })} />}
          </Field>
          <Field label="Systems" required id={fieldIds.systemIds ?? ""} error={errors.systemIds ?? Object.entries(errors).find(([path]) => path.startsWith("systemIds["))?.[1]}>
            {(control) => <SystemPicker {...control} systems={entities.data ? (entities.data.systems ?? []) : undefined} selected={values.systemIds} onChange={(systemIds) => set({ systemIds })} />}
          </Field>
          {entities.isError && !entities.data ? <ErrorState title="The systems could not be loaded" error={entities.error} onRetry={() => void entities.refetch()} /> : null}
          <Field label="Description" id={fieldIds.description ?? ""} error={errors.description} help="Markdown: what will be done and what people will notice. Type # to mention an incident or a maintenance.">
            {(control) => <MentionTextarea {...control} rows={4} value={values.description} onChange={(description) => set({ description })} />}
          </Field>
        </section>
        <section aria-label="When" className="card grid gap-4 p-4 md:p-5">
          <h2 className="text-lg font-semibold">When</h2>
          <Field
            label="Time zone"
            id={fieldIds.timeZone ?? ""}
            error={errors["recurrence.timeZone"] ?? errors.timeZone}
            help={repeats && values.recurrence.repeats !== "none" ? "Whose clocks the times below are read on. The series follows them, also when they change." : "Whose clocks the times below are read on."}
          >
            {(control) => <ZoneSelect {...control} value={values.zone} disabled={over} onChange={(zone) => setValues((current) => withZone(current, zone, series || (!opened && isTyped(current)) ? "clocks" : "instants"))} />}
          </Field>
          <div className="grid gap-4 sm:grid-cols-2">
            <DateTimeField
              label="Start"
              id={fieldIds.startAt}
              value={values.start}
              zone={values.zone}
              disabled={started}
              error={errors.startAt}
              help={started ? "The start cannot move once it has begun." : undefined}
              onChange={(next) => {
                const from = lastStart.current;
                setValues((current) => withStart(current, next, from));
              }}
            />
            <DateTimeField label="End" id={fieldIds.endAt} value={values.end} zone={values.zone} disabled={over} error={errors.endAt} help={over ? "It is over." : undefined} onChange={(end) => set({ end })} />
          </div>
          <Length startAt={startAt} endAt={endAt} disabled={over} running={started && !over} onChange={(length) => (startAt === undefined ? undefined : set({ end: { at: startAt + length } }))} />
        </section>
        {repeats ? (
          <section aria-label="Recurrence" className="card grid gap-4 p-4 md:p-5">
            <RecurrenceEditor
              value={values.recurrence}
              date={shownWall(values.start, values.zone).date}
              errors={ruleErrors}
              id={`${id}-rule`}
              mayStop={!series}
              onChange={(changes) =>
                setValues((current) => {
                  // The rule so far is where a rule of one's own starts.
                  const custom = changes.repeats === "custom" && current.recurrence.custom === "" ? { custom: ruleOf(current) ?? "" } : {};
                  return { ...current, recurrence: { ...current.recurrence, ...custom, ...changes } };
                })
              }
            />
            {series && values.recurrence.ends === "after" && !touched.includes("recurrence") ? <p className="-mt-2 text-sm text-ink-3">The number counts from the first occurrence of the series. If you change how it repeats, it counts from this one.</p> : null}
            {values.recurrence.repeats === "none" ? null : <OccurrencePreview preview={preview} zone={values.zone} local={localZone()} ready={recurring !== undefined} />}
          </section>
        ) : null}
        <section aria-label="Effects while it is in progress" className="card grid gap-4 p-4 md:p-5">
          <h2 className="text-lg font-semibold">While it is in progress</h2>
          <Toggle
            label="Silence notifications about health"
            help="Nobody is told about changes of health of these systems. Checks go on, and updates of the maintenance itself still go out."
            checked={values.suppressNotifications}
            onChange={(suppressNotifications) => set({ suppressNotifications })}
          />
        </section>
        <div className="sticky bottom-0 -mx-4 flex flex-wrap justify-end gap-2 border-t border-line bg-bg px-4 py-3">
          <Button onClick={() => void navigate(back)}>Cancel</Button>
          <Button type="submit" look="primary" busy={create.isPending || update.isPending || updateSeries.isPending} disabled={newer !== undefined || (opened !== undefined && !dirty)}>
            {opened ? (series ? "Save this and all that follow" : "Save changes") : values.recurrence.repeats === "none" ? "Plan maintenance" : "Plan series"}
          </Button>
        </div>
      </form>
      <UnsavedGuard dirty={dirty && !saved} />
    </Page>
  );
}

/** Occurrences with another window are other maintenances: the one that was edited may have a successor. */
async function nowAt(id: string, seriesId: string, startAt: string): Promise<string | undefined> {
  try {
    return (await readMaintenance(id)).id;
  } catch {
    const next = await listPage({ seriesId, from: startAt, open: true, sortOrder: "asc" }, 1, undefined).catch(() => undefined);
    return next?.maintenances?.[0]?.id;
  }
}

/** How long it takes, with the usual lengths to choose from. */
function Length({ startAt, endAt, disabled, running, onChange }: { startAt: number | undefined; endAt: number | undefined; disabled: boolean; running: boolean; onChange: (ms: number) => void }) {
  const now = useNow().getTime();
  const length = startAt !== undefined && endAt !== undefined ? endAt - startAt : undefined;
  const past = endAt !== undefined && length !== undefined && length > 0 && endAt <= now && !disabled;
  return (
    <div>
      <div role="group" aria-label="Length" className="flex flex-wrap items-center gap-1.5">
        {lengths.map((each) => (
          <Button key={each} size="sm" aria-pressed={each === length} disabled={disabled || startAt === undefined} className={each === length ? "border-accent! bg-accent-soft! text-accent-ink!" : ""} onClick={() => onChange(each)}>
            {formatDuration(each)}
          </Button>
        ))}
        <span role="status" className="ml-1 text-ink-2">
          {length === undefined ? "" : length > 0 ? `Lasts ${formatDuration(length)}` : "Ends before it starts"}
        </span>
      </div>
      {past ? <p className="mt-1.5 text-sm text-degraded-ink">{running ? "This end has passed: saving ends the maintenance at once." : "This window has passed: it is recorded as completed."}</p> : null}
    </div>
  );
}
