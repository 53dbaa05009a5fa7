import { useQueryClient } from "@tanstack/react-query";
import { ChevronLeft } from "lucide-react";
import { useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { api, call } from "@/api/client";
import { ApiError, issuesByPath, type Issue } from "@/api/errors";
import { UnsavedGuard } from "@/app/guard";
import { useEntities } from "@/pages/catalog/api";
import { Button } from "@/ui/button";
import { ChangedMeanwhile } from "@/ui/changed-meanwhile";
import { EmptyState, ErrorState, SkeletonBlock, toast } from "@/ui/feedback";
import { Field, FormErrors, Input, Select, Toggle } from "@/ui/field";
import { MentionTextarea } from "@/ui/mention-textarea";
import { Page } from "@/ui/page";
import { SystemPicker } from "@/ui/system-picker";
import { plugin, useCreateIncident, useOpenedIncident, useUpdateIncident, type Detail } from "./api";
import { changedFields, editOf, fieldLabels, shownValue, valuesOf, withTheirs, type Values } from "./changes";
import { overrides, severities, statusLabel } from "./words";

export function Component() {
  const { incidentId } = useParams();
  return incidentId ? <Existing key={incidentId} id={incidentId} /> : <New />;
}

function New() {
  const [params] = useSearchParams();
  const systemId = params.get("systemId");
  return <Form opened={undefined} start={{ title: "", description: "", severity: "major", systemIds: systemId ? [systemId] : [], override: "", suppressNotifications: false }} />;
}

function Existing({ id }: { id: string }) {
  const incident = useOpenedIncident(id);
  if (incident.isPending) {
    return (
      <Page title="Edit incident" width="narrow">
        <SkeletonBlock className="mb-4 h-40" />
        <SkeletonBlock className="h-64" />
      </Page>
    );
  }
  if (incident.error instanceof ApiError && (incident.error.status === 404 || incident.error.status === 400)) {
    return (
      <Page title="Incident not found" width="narrow">
        <EmptyState title="This incident does not exist">It may have been deleted, or the link is incomplete.</EmptyState>
      </Page>
    );
  }
  if (!incident.data) {
    return (
      <Page title="Edit incident" width="narrow">
        <ErrorState title="The incident could not be loaded" error={incident.error} onRetry={() => void incident.refetch()} />
      </Page>
    );
  }
  return <Form opened={incident.data} start={valuesOf(incident.data)} />;
}

function Form({ opened, start }: { opened: Detail | undefined; start: Values }) {
  const id = useId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const entities = useEntities();
  const create = useCreateIncident();
  const update = useUpdateIncident();
  const [values, setValues] = useState(start);
  const [initialMessage, setInitialMessage] = useState("");
  const [saved, setSaved] = useState(false);
  const [fault, setFault] = useState<unknown>();
  /** The state that somebody else made while this form was open. */
  const [newer, setNewer] = useState<Detail>();
  // What the next save is compared with: what was opened, then what was seen of others' changes.
  const [base, setBase] = useState(start);
  const version = useRef(opened?.version);
  /** Fields that were touched since they were found faulty: they are no longer wrong as it was said. */
  const [corrected, setCorrected] = useState<ReadonlySet<string>>(new Set());
  const set = (changes: Partial<Values>) => {
    setValues((current) => ({ ...current, ...changes }));
    setCorrected((current) => new Set([...current, ...Object.keys(changes)]));
  };
  const touched = changedFields(base, values);
  const dirty = touched.length > 0 || initialMessage.trim() !== "";
  const errors = Object.fromEntries(Object.entries(issuesByPath(fault)).filter(([path]) => !corrected.has(path.replace(/\[.*/, ""))));
  const nameOf = (systemId: string) => entities.data?.systems?.find((each) => each.id === systemId)?.name ?? "unknown system";
  const fieldIds = Object.fromEntries([...Object.keys(fieldLabels), "initialMessage"].map((field) => [field, `${id}-${field}`]));

  const save = async () => {
    setCorrected(new Set());
    const issues: Issue[] = [];
    if (values.title.trim() === "") issues.push({ path: "title", message: "is required" });
    if (values.systemIds.length === 0) issues.push({ path: "systemIds", message: "At least one system is required" });
    if (issues.length > 0) {
      setFault(new ApiError({ code: "invalid", message: "Some fields need attention.", status: 400, issues }));
      return;
    }
    setFault(undefined);
    try {
      const stored = opened
        ? await update.mutateAsync({ id: opened.id, ...(version.current === undefined ? {} : { version: version.current }), ...editOf(base, values) })
        : await create.mutateAsync({
            title: values.title.trim(),
            ...(values.description.trim() === "" ? {} : { description: values.description.trim() }),
            severity: values.severity,
            systemIds: values.systemIds,
            ...(values.override === "" ? {} : { override: values.override as "degraded" | "unhealthy" }),
            suppressNotifications: values.suppressNotifications,
            ...(initialMessage.trim() === "" ? {} : { initialMessage: initialMessage.trim() }),
          });
      // Leaving after saving loses nothing: the guard must know before the page changes.
      flushSync(() => setSaved(true));
      toast(opened ? "Changes saved" : "Incident opened");
      await navigate(`/incident/${stored.id}`, { replace: opened === undefined });
    } catch (error) {
      if (opened && error instanceof ApiError && error.status === 409) {
        try {
          const now = await call(api.GET("/rest/incident/getIncident", { params: { query: { id: opened.id } } }));
          if (now.version !== version.current) {
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

  const theirValues = newer && valuesOf(newer);
  /** Goes on from the newer state, with what was typed here on top of it. */
  const goOn = (take: "mine" | "theirs") => {
    if (!newer || !theirValues) return;
    setValues(withTheirs(base, values, theirValues, take));
    setBase(theirValues);
    version.current = newer.version;
    setNewer(undefined);
    setFault(undefined);
    void client.invalidateQueries({ queryKey: [plugin, "getIncident", newer.id] });
  };

  const back = opened ? `/incident/${opened.id}` : "/incident/config";
  return (
    <Page
      title={opened ? "Edit incident" : "Open an incident"}
      width="narrow"
      heading={
        <>
          <Link to={back} className="mb-1.5 inline-flex max-w-full items-center gap-1 text-sm text-ink-3 hover:text-ink">
            <ChevronLeft aria-hidden size={14} className="shrink-0" />
            <bdi className="truncate">{opened?.title ?? "Incidents"}</bdi>
          </Link>
          <h1 className="text-xl font-semibold tracking-[-0.01em]">{opened ? "Edit incident" : "Open an incident"}</h1>
        </>
      }
    >
      <form
        noValidate
        className="grid grid-cols-[minmax(0,1fr)] gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <FormErrors error={fault} fieldIds={fieldIds} labels={fieldLabels} />
        {newer && theirValues ? (
          <ChangedMeanwhile
            noun="incident"
            changes={changedFields(base, theirValues).map((field) => ({
              label: fieldLabels[field],
              theirs: shownValue(field, theirValues, nameOf),
              both: touched.includes(field) && changedFields(values, theirValues).includes(field),
            }))}
            otherwise={`It is now ${statusLabel(newer.status).toLowerCase()}; the fields of this form are the same.`}
            onGoOn={goOn}
          />
        ) : null}
        <section aria-label="What is wrong" className="card grid gap-4 p-4 md:p-5">
          <Field label="Title" required id={fieldIds.title ?? ""} error={errors.title} help="What is wrong, in one line, as those would say it who are affected.">
            {(control) => <Input {...control} dir="auto" required maxLength={200} value={values.title} onChange={(event) => set({ title: event.target.value })} />}
          </Field>
          <Field label="Systems" required id={fieldIds.systemIds ?? ""} error={errors.systemIds ?? Object.entries(errors).find(([path]) => path.startsWith("systemIds["))?.[1]}>
            {(control) => <SystemPicker {...control} systems={entities.data ? (entities.data.systems ?? []) : undefined} selected={values.systemIds} onChange={(systemIds) => set({ systemIds })} />}
          </Field>
          {entities.isError && !entities.data ? <ErrorState title="The systems could not be loaded" error={entities.error} onRetry={() => void entities.refetch()} /> : null}
          <Severities id={fieldIds.severity ?? ""} value={values.severity} onChange={(severity) => set({ severity })} />
          <Field label="Description" id={fieldIds.description ?? ""} error={errors.description} help="Markdown. Type # to mention an incident or a maintenance.">
            {(control) => <MentionTextarea {...control} rows={4} value={values.description} onChange={(description) => set({ description })} />}
          </Field>
          {opened ? null : (
            <Field label="First update" id={fieldIds.initialMessage ?? ""} error={errors.initialMessage} help="Everyone who may read incidents sees it.">
              {(control) => <MentionTextarea {...control} rows={3} placeholder="What is known, what happens next" value={initialMessage} onChange={setInitialMessage} />}
            </Field>
          )}
        </section>
        <section aria-label="Effects while it is open" className="card grid gap-4 p-4 md:p-5">
          <h2 className="text-lg font-semibold">While it is open</h2>
          <Field
            label="Health of the systems"
            id={fieldIds.override ?? ""}
            error={errors.override}
            help="Shown everywhere, with this incident as the reason. It can only make health worse than measured, and ends when the incident is resolved."
          >
            {(control) => (
              <Select {...control} className="max-w-72" value={values.override} onChange={(event) => set({ override: event.target.value })}>
                {overrides.map((each) => (
                  <option key={each.value} value={each.value}>
                    {each.label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Toggle
            label="Silence notifications about health"
            help="Nobody is told about changes of health of these systems. Updates of the incident itself still go out."
            checked={values.suppressNotifications}
            onChange={(suppressNotifications) => set({ suppressNotifications })}
          />
        </section>
        <div className="sticky bottom-0 -mx-4 flex flex-wrap justify-end gap-2 border-t border-line bg-bg px-4 py-3">
          <Button onClick={() => void navigate(back)}>Cancel</Button>
          <Button type="submit" look="primary" busy={create.isPending || update.isPending} disabled={newer !== undefined || (opened !== undefined && !dirty)}>
            {opened ? "Save changes" : "Open incident"}
          </Button>
        </div>
      </form>
      <UnsavedGuard dirty={dirty && !saved} />
    </Page>
  );
}

function Severities({ id, value, onChange }: { id: string; value: Values["severity"]; onChange: (severity: Values["severity"]) => void }) {
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Severity</legend>
      <div className="grid gap-2 sm:grid-cols-3">
        {severities.map((each) => (
          <label key={each.value} className={`flex cursor-pointer items-start gap-2.5 rounded-[8px] border px-3 py-2 ${each.value === value ? "border-accent bg-accent-soft" : "border-line-strong/60"}`}>
            <input type="radio" name={id} id={each.value === value ? id : undefined} className="mt-[3px] size-4 shrink-0 accent-accent" checked={each.value === value} onChange={() => onChange(each.value)} />
            <span>
              <span className="block font-medium">{each.label}</span>
              <span className="block text-sm text-ink-2">{each.help}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
