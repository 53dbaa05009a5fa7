import { clsx } from "clsx";
import { ChevronLeft, ChevronRight, FlaskConical, Plus, Trash2 } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { ApiError, issuesByPath, type Issue } from "@/api/errors";
import { UnsavedGuard } from "@/app/guard";
import { useCan } from "@/app/session";
import { useEntities } from "@/pages/catalog/api";
import { Button, IconButton } from "@/ui/button";
import { DurationInput } from "@/ui/duration-input";
import { EmptyState, ErrorState, SkeletonBlock, toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input, SearchInput, Select } from "@/ui/field";
import { Card, Page } from "@/ui/page";
import { SchemaForm, controlId } from "@/ui/schema-form";
import { checkValues, defaultsOf, dropHidden, fieldsOf, isStandard, prune, type JsonSchema, type Values } from "@/ui/schema";
import { useCollectors, useConfiguration, useCreateCheck, useSetSystems, useStrategies, useTestCheck, useUpdateCheck, type Collector, type Configuration, type Draft, type Strategy } from "./api";
import { AssertionBuilder, type Assertion } from "./assertion-builder";
import { RunDetail } from "./run-detail";
import { uuid } from "./uuid";

type Instance = { id: string; collectorId: string; config: Values; assertions: Assertion[] };
type Form = { name: string; strategyId: string; config: Values; intervalSeconds: number | undefined; collectors: Instance[]; systemIds: string[] };

export function Component() {
  const { configurationId } = useParams();
  const strategies = useStrategies();
  const existing = useConfiguration(configurationId);
  const title = configurationId ? "Edit health check" : "New health check";
  const error = strategies.error ?? existing.error;
  if (error) {
    return (
      <Page title={title} width="narrow">
        <ErrorState
          title="The form could not be loaded"
          error={error}
          onRetry={() => {
            void strategies.refetch();
            if (configurationId) void existing.refetch();
          }}
        />
      </Page>
    );
  }
  if (!strategies.data || (configurationId && !existing.data)) {
    return (
      <Page title={title} width="narrow">
        <SkeletonBlock className="mb-4 h-40" />
        <SkeletonBlock className="h-64" />
      </Page>
    );
  }
  return <Editor key={existing.data?.id ?? "new"} existing={existing.data} strategies={strategies.data.strategies ?? []} />;
}

function initialForm(existing: Configuration | undefined, strategies: Strategy[], systemId: string | null): Form {
  if (existing) {
    return {
      name: existing.name,
      strategyId: existing.strategyId,
      config: existing.config as Values,
      intervalSeconds: existing.intervalSeconds,
      collectors: (existing.collectors ?? []).map((each) => ({ id: each.id ?? uuid(), collectorId: each.collectorId, config: each.config ?? {}, assertions: (each.assertions ?? []) as Assertion[] })),
      systemIds: existing.systemIds ?? [],
    };
  }
  const strategy = strategies.find((each) => each.id.endsWith(".http")) ?? strategies[0];
  return {
    name: "",
    strategyId: strategy?.id ?? "",
    config: strategy ? defaultsOf(strategy.configSchema as JsonSchema) : {},
    intervalSeconds: 60,
    collectors: [],
    systemIds: systemId ? [systemId] : [],
  };
}

function Editor({ existing, strategies }: { existing: Configuration | undefined; strategies: Strategy[] }) {
  const can = useCan();
  const navigate = useNavigate();
  const formId = useId();
  const [params] = useSearchParams();
  const url = params.get("url");
  const [form, setForm] = useState(() => initialForm(existing, strategies, params.get("systemId")));
  // The list goes on updating behind the form. What is saved is compared with
  // what was opened, or a change made elsewhere meanwhile would be undone.
  const [opened] = useState(existing);
  const version = useRef(existing?.version);
  const [saved, setSaved] = useState(false);
  const [dirty, setDirty] = useState(false);
  const [fault, setFault] = useState<ApiError>();
  const set = (changes: Partial<Form>) => {
    setForm((current) => ({ ...current, ...changes }));
    setDirty(true);
  };

  const strategy = strategies.find((each) => each.id === form.strategyId);
  const collectors = useCollectors(form.strategyId);
  const offered = useMemo(() => collectors.data?.collectors ?? [], [collectors.data]);
  const schemaOf = (collectorId: string) => offered.find((each) => each.id === collectorId)?.configSchema as JsonSchema | undefined;

  // A strategy with a single collector needs it in any case, so a new check starts with it.
  const started = useRef(existing !== undefined);
  useEffect(() => {
    const [only] = offered;
    if (started.current || !only) return;
    started.current = true;
    if (offered.length === 1) setForm((current) => ({ ...current, collectors: [startInstance(only, url)] }));
  }, [offered, url]);

  const create = useCreateCheck();
  const update = useUpdateCheck();
  const setSystems = useSetSystems();
  const test = useTestCheck();
  const busy = create.isPending || update.isPending || setSystems.isPending;
  const serverError = create.error ?? update.error ?? setSystems.error;
  const error = fault ?? serverError;
  const errors = Object.fromEntries(Object.entries(issuesByPath(error ?? test.error)).map(([path, message]) => [path.replace(/^(body|draft)\./, ""), message]));
  const secrets = (existing?.configuredSecrets ?? []).map((path) => (/^(config|collectors)\b/.test(path) ? path : `config.${path}`));

  const draft = (): Draft => ({
    name: form.name.trim(),
    strategyId: form.strategyId,
    config: prune(strategy ? dropHidden(strategy.configSchema as JsonSchema, form.config) : form.config) as Values,
    intervalSeconds: form.intervalSeconds ?? 0,
    collectors: form.collectors.map((each) => ({ id: each.id, collectorId: each.collectorId, config: prune(each.config) as Values, assertions: each.assertions })),
  });

  /** Lists what is missing before the server is asked; the server has the last word. */
  const localIssues = (withName: boolean): Issue[] => {
    const issues: Issue[] = [];
    if (withName && form.name.trim() === "") issues.push({ path: "name", message: "is required" });
    if (form.intervalSeconds === undefined || form.intervalSeconds < 1) issues.push({ path: "intervalSeconds", message: "must be at least 1 s" });
    if (strategy) issues.push(...checkValues(strategy.configSchema as JsonSchema, form.config, "config", secrets));
    form.collectors.forEach((instance, i) => {
      const schema = schemaOf(instance.collectorId);
      if (schema) issues.push(...checkValues(schema, instance.config, `collectors[${i}].config`, secrets));
      instance.assertions.forEach((assertion, at) => {
        if (assertion.field.endsWith(".$") && !assertion.jsonPath) issues.push({ path: `collectors[${i}].assertions[${at}].jsonPath`, message: "is required" });
      });
    });
    return issues;
  };
  const refuse = (issues: Issue[]): boolean => {
    const next = issues.length > 0 ? new ApiError({ code: "invalid", message: "Some fields need attention.", status: 400, issues }) : undefined;
    setFault(next);
    return next !== undefined;
  };

  const save = async () => {
    create.reset();
    update.reset();
    if (refuse(localIssues(true))) return;
    const body = draft();
    if (opened) {
      const updated = await update.mutateAsync({
        id: opened.id,
        version: version.current,
        body: { name: body.name, config: body.config, intervalSeconds: body.intervalSeconds, ...(body.collectors ? { collectors: body.collectors } : {}) },
      });
      version.current = updated.version;
      await setSystems.mutateAsync({ configurationId: opened.id, before: opened.systemIds ?? [], after: form.systemIds });
      toast("Changes saved");
    } else {
      await create.mutateAsync({ draft: body, systemIds: form.systemIds });
      toast(`${body.name} created`);
    }
    setDirty(false);
    setSaved(true);
  };

  // Leaving waits for the render in which the form is no longer dirty.
  useEffect(() => {
    if (!saved) return;
    const [first] = form.systemIds;
    void navigate(!existing && first ? `/catalog/system/${first}` : "/healthcheck/config");
  }, [saved, navigate, existing, form.systemIds]);

  const runTest = () => {
    test.reset();
    if (refuse(localIssues(false))) return;
    const body = draft();
    const [first] = form.systemIds;
    test.mutate({ draft: { ...body, name: body.name || "Test" }, ...(first ? { systemId: first } : {}) });
  };

  const fieldIds: Record<string, string> = { name: `${formId}-name`, intervalSeconds: `${formId}-interval` };
  for (const issue of error instanceof ApiError ? error.issues : []) fieldIds[issue.path] ??= controlId(formId, issue.path.replace(/^(body|draft)\./, ""));

  const config = strategy?.configSchema as JsonSchema | undefined;
  return (
    <Page
      title={existing ? existing.name : "New health check"}
      width="narrow"
      heading={
        <>
          <Link to="/healthcheck/config" className="mb-1.5 inline-flex items-center gap-1 text-sm text-ink-3 hover:text-ink">
            <ChevronLeft aria-hidden size={14} />
            Health checks
          </Link>
          <h1 className="text-xl font-semibold tracking-[-0.01em]">{existing ? existing.name : "New health check"}</h1>
        </>
      }
    >
      <UnsavedGuard dirty={dirty} />
      <form
        noValidate
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          save().catch(() => undefined);
        }}
      >
        <FormErrors error={error} fieldIds={fieldIds} />
        <FormSection title="What to ask">
          <Field label="Name" required id={`${formId}-name`} error={errors.name}>
            {(control) => <Input {...control} value={form.name} placeholder="Payments API responds" onChange={(event) => set({ name: event.target.value })} />}
          </Field>
          {strategies.length > 1 ? (
            <Field label="Kind of check" help={strategy?.description}>
              {(control) => (
                <Select
                  {...control}
                  disabled={existing !== undefined}
                  value={form.strategyId}
                  onChange={(event) => {
                    const next = strategies.find((each) => each.id === event.target.value);
                    started.current = false;
                    set({ strategyId: event.target.value, config: next ? defaultsOf(next.configSchema as JsonSchema) : {}, collectors: [] });
                  }}
                >
                  {strategies.map((each) => (
                    <option key={each.id} value={each.id}>
                      {each.displayName}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          ) : strategy ? (
            <p className="text-ink-2">
              {strategy.displayName}
              <span className="block text-sm text-ink-3">{strategy.description}</span>
            </p>
          ) : (
            <EmptyState title="No kinds of checks are available" />
          )}
        </FormSection>

        {form.collectors.map((instance, i) => {
          const collector = offered.find((each) => each.id === instance.collectorId);
          const path = `collectors[${i}]`;
          const change = (next: Partial<Instance>) => set({ collectors: form.collectors.map((each, at) => (at === i ? { ...each, ...next } : each)) });
          return (
            <FormSection
              key={instance.id}
              title={collector?.displayName ?? instance.collectorId}
              description={collector?.description}
              action={
                offered.length > 1 || form.collectors.length > 1 ? (
                  <IconButton label={`Remove ${collector?.displayName ?? "collector"}`} onClick={() => set({ collectors: form.collectors.filter((_, at) => at !== i) })}>
                    <Trash2 aria-hidden size={16} />
                  </IconButton>
                ) : null
              }
            >
              {collector ? (
                <>
                  <SchemaForm schema={collector.configSchema as JsonSchema} values={instance.config} onChange={(values) => change({ config: values })} formId={formId} path={`${path}.config`} errors={errors} configuredSecrets={secrets} />
                  <AssertionBuilder fields={collector.assertionFields ?? []} assertions={instance.assertions} onChange={(assertions) => change({ assertions })} errors={errors} formId={formId} path={`${path}.assertions`} />
                </>
              ) : collectors.isPending ? (
                <SkeletonBlock className="h-24" />
              ) : (
                <p className="text-degraded-ink">This collector is no longer available.</p>
              )}
            </FormSection>
          );
        })}
        {collectors.isError ? <ErrorState title="The collectors could not be loaded" error={collectors.error} onRetry={() => void collectors.refetch()} /> : null}
        <AddCollector offered={offered} used={form.collectors} onAdd={(collector) => set({ collectors: [...form.collectors, startInstance(collector, null)] })} />

        {config && fieldsOf(config).length > 0 ? (
          <MoreSettings
            // With collectors these are refinements; without, they are the check itself.
            folded={form.collectors.length > 0 && isStandard(config, form.config) && secrets.length === 0}
            forceOpen={Object.keys(errors).some((path) => path.startsWith("config"))}
            title={form.collectors.length > 0 ? "Connection" : "Settings"}
          >
            <SchemaForm schema={config} values={form.config} onChange={(values) => set({ config: values })} formId={formId} path="config" errors={errors} configuredSecrets={secrets} />
          </MoreSettings>
        ) : null}

        <FormSection title="Schedule">
          <Field label="Run every" required id={`${formId}-interval`} error={errors.intervalSeconds}>
            {(control) => <DurationInput {...control} label="Run every" base="s" value={form.intervalSeconds} onChange={(value) => set({ intervalSeconds: value === undefined ? undefined : Math.round(value) })} />}
          </Field>
        </FormSection>

        {can("catalog.system.read") ? <SystemPicker selected={form.systemIds} onChange={(systemIds) => set({ systemIds })} /> : null}

        <div aria-live="polite">
          {test.isPending ? <Card className="p-4 text-ink-2">Running the check once…</Card> : null}
          {test.data ? (
            <Card className="p-4">
              <h2 className="mb-2 font-semibold">Test result</h2>
              <RunDetail status={test.data.status} latencyMs={test.data.latencyMs} message={test.data.message} result={test.data.metadata} />
              <p className="mt-3 text-sm text-ink-3">Nothing was saved.</p>
            </Card>
          ) : null}
          {test.isError ? <ErrorState title="The test could not be run" error={test.error} /> : null}
        </div>

        <div className="sticky bottom-0 -mx-4 flex flex-wrap justify-end gap-2 border-t border-line bg-bg px-4 py-3">
          <Button icon={<FlaskConical aria-hidden size={16} />} busy={test.isPending} onClick={runTest} className="mr-auto">
            Test now
          </Button>
          <Button onClick={() => void navigate(-1)}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy}>
            {existing ? "Save changes" : "Create health check"}
          </Button>
        </div>
      </form>
    </Page>
  );
}

/** Settings that most people leave alone: folded until someone opens them or they matter. */
function MoreSettings({ title, folded, forceOpen, children }: { title: string; folded: boolean; forceOpen: boolean; children: React.ReactNode }) {
  const [open, setOpen] = useState<boolean>();
  const shown = forceOpen || (open ?? !folded);
  return (
    <section aria-label={title} className="card">
      <h2>
        <button type="button" aria-expanded={shown} onClick={() => setOpen(!shown)} className="flex min-h-12 w-full items-center gap-2 px-4 text-left text-lg font-semibold md:px-5">
          <ChevronRight aria-hidden size={16} className={clsx("shrink-0 text-ink-3 transition-transform duration-120", shown && "rotate-90")} />
          {title}
          {shown ? null : <span className="text-sm font-normal text-ink-3">The defaults fit most checks.</span>}
        </button>
      </h2>
      {shown ? <div className="px-4 pb-4 md:px-5 md:pb-5">{children}</div> : null}
    </section>
  );
}

/**
 * A fresh collector. When it can tell success from failure, a new one asks for
 * success: without any assertion an answer of 503 would count as healthy.
 */
function startInstance(collector: Collector, url: string | null): Instance {
  const schema = collector.configSchema as JsonSchema;
  const asksForSuccess = (collector.assertionFields ?? []).some((field) => field.path === "success" && field.kind === "boolean");
  const takesUrl = url !== null && schema.properties?.url !== undefined;
  return { id: uuid(), collectorId: collector.id, config: { ...defaultsOf(schema), ...(takesUrl ? { url } : {}) }, assertions: asksForSuccess ? [{ field: "success", operator: "isTrue" }] : [] };
}

function FormSection({ title, description, action, children }: { title: string; description?: string | undefined; action?: React.ReactNode; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="card p-4 md:p-5">
      <div className="mb-3 flex items-start justify-between gap-3">
        <div>
          <h2 className="text-lg font-semibold">{title}</h2>
          {description ? <p className="text-sm text-ink-3">{description}</p> : null}
        </div>
        {action}
      </div>
      <div className="grid gap-4">{children}</div>
    </section>
  );
}

function AddCollector({ offered, used, onAdd }: { offered: Collector[]; used: Instance[]; onAdd: (collector: Collector) => void }) {
  const addable = offered.filter((each) => each.allowMultiple || !used.some((instance) => instance.collectorId === each.id));
  if (addable.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {addable.map((collector) => (
        <Button key={collector.id} size="sm" icon={<Plus aria-hidden size={14} />} onClick={() => onAdd(collector)}>
          {used.some((instance) => instance.collectorId === collector.id) ? `Add another ${collector.displayName}` : `Add ${collector.displayName}`}
        </Button>
      ))}
    </div>
  );
}

/** How many systems the picker lays out at once; the search reaches the rest. */
const pickerLimit = 100;
const collator = new Intl.Collator(undefined, { numeric: true });

function SystemPicker({ selected, onChange }: { selected: string[]; onChange: (ids: string[]) => void }) {
  const entities = useEntities();
  const [q, setQ] = useState("");
  const systems = entities.data?.systems ?? [];
  const needle = q.trim().toLowerCase();
  const shown = systems.filter((system) => system.name.toLowerCase().includes(needle)).sort((a, b) => Number(selected.includes(b.id)) - Number(selected.includes(a.id)) || collator.compare(a.name, b.name));
  return (
    <FormSection title="Systems" description="The check runs for each of these, on its own schedule and with its own state.">
      {systems.length > 8 ? <SearchInput label="Search systems" value={q} onChange={(event) => setQ(event.target.value)} /> : null}
      {entities.data && systems.length === 0 ? (
        <p className="text-ink-2">
          The catalog has no systems yet. Save the check now and assign it later, or{" "}
          <Link to="/catalog?action=create" className="link">
            add a system first
          </Link>
          .
        </p>
      ) : (
        <div className="grid max-h-56 gap-2 overflow-y-auto p-0.5 sm:grid-cols-2">
          {shown.slice(0, pickerLimit).map((system) => (
            <Checkbox key={system.id} label={<bdi className="break-words">{system.name}</bdi>} checked={selected.includes(system.id)} onChange={(event) => onChange(event.target.checked ? [...selected, system.id] : selected.filter((id) => id !== system.id))} />
          ))}
          {shown.length > pickerLimit ? <p className="text-sm text-ink-3 sm:col-span-2">{shown.length - pickerLimit} more. Search to find them.</p> : null}
        </div>
      )}
    </FormSection>
  );
}
