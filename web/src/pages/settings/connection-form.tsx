import { CircleCheck, CircleX, Zap } from "lucide-react";
import { useId, useState } from "react";
import type { Issue } from "@/api/errors";
import type { FormDialogParts } from "@/app/form-dialog";
import { Button } from "@/ui/button";
import { toast } from "@/ui/feedback";
import { Field, FormErrors, Input, Select } from "@/ui/field";
import { useRecordForm, type FieldKinds } from "@/ui/record-form";
import { SecretInput } from "@/ui/schema-form";
import { useCreateConnection, useTestConnection, useUpdateConnection, type Connection } from "./api";
import { ModelList } from "./model-list";
import { readCap, readContext } from "./spend-cap";

type Values = { name: string; baseUrl: string; apiKey: string; defaultModel: string; models: string[]; family: Connection["modelFamily"]; context: string; budget: string; minutes: string };

const emptyValues: Values = { name: "", baseUrl: "https://api.openai.com/v1", apiKey: "", defaultModel: "", models: [], family: "generic", context: "", budget: "", minutes: "" };

function valuesOf(connection: Connection): Values {
  return {
    name: connection.name,
    baseUrl: connection.baseUrl ?? "",
    apiKey: "",
    defaultModel: connection.defaultModel,
    models: (connection.availableModels ?? []).filter((model) => model !== connection.defaultModel),
    family: connection.modelFamily,
    context: connection.contextWindowTokens ? String(connection.contextWindowTokens) : "",
    budget: connection.spendCap ? String(connection.spendCap.tokenBudget) : "",
    minutes: connection.spendCap ? String(connection.spendCap.windowMinutes) : "",
  };
}

const kinds: FieldKinds<Values> = {
  name: { label: "Name" },
  baseUrl: { label: "Base URL" },
  apiKey: { label: "API key" },
  defaultModel: { label: "Default model" },
  models: { label: "Further models", path: "availableModels" },
  family: { label: "Model family", path: "modelFamily" },
  context: { label: "Context window", path: "contextWindowTokens" },
  budget: { label: "Spend cap, tokens", path: "spendCap.tokenBudget" },
  minutes: { label: "Spend cap, minutes", path: "spendCap.windowMinutes" },
};

/** The parts of the form that may be folded away. */
const folded = ["spendCap", "contextWindowTokens", "modelFamily"];

function labelOf(path: string): string | undefined {
  if (path === "spendCap") return "Spend cap";
  return Object.entries(kinds).find(([key, kind]) => (kind.path ?? key) === path.replace(/\[.*/, ""))?.[1].label;
}

export function ConnectionForm({ connection, leave, onDirty, onSaved }: FormDialogParts & { connection: Connection | undefined; onSaved: () => void }) {
  const id = useId();
  const create = useCreateConnection();
  const update = useUpdateConnection();
  const test = useTestConnection();
  const form = useRecordForm({ opened: connection, start: connection ? valuesOf(connection) : emptyValues, kinds, valuesOf, onDirty });
  const { values, set } = form;
  const error = test.error ?? form.fault;
  const errorAt = (path: string) => form.errorAt(path, error);
  const [open, setOpen] = useState(connection !== undefined && (connection.spendCap !== null || connection.contextWindowTokens !== null));
  // A fault in a part that is folded away would be seen by nobody.
  const limits = open || folded.some((path) => errorAt(path) !== undefined);

  const save = async () => {
    test.reset();
    const cap = readCap(values.budget, values.minutes);
    const context = readContext(values.context);
    const problems: Issue[] = [...cap.issues, ...context.issues];
    for (const path of ["defaultModel", "name"] as const) if (values[path].trim() === "") problems.unshift({ path, message: "is required" });
    const saved = await form.submit(problems, () => {
      const fields = {
        name: values.name.trim(),
        ...(values.baseUrl.trim() === "" ? {} : { baseUrl: values.baseUrl.trim() }),
        ...(values.apiKey === "" ? {} : { apiKey: values.apiKey }),
        defaultModel: values.defaultModel.trim(),
        availableModels: values.models.map((each) => each.trim()).filter(Boolean),
        modelFamily: values.family,
      };
      if (connection) return update.mutateAsync({ id: connection.id, ...fields, contextWindowTokens: context.value, spendCap: cap.value });
      return create.mutateAsync({ ...fields, ...(context.value === null ? {} : { contextWindowTokens: context.value }), ...(cap.value ? { spendCap: cap.value } : {}) });
    });
    if (!saved) return;
    toast("Connection saved");
    onSaved();
  };
  return (
    <form
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <FormErrors error={error} isCorrected={form.isCorrected} labels={labelOf} fieldIds={(path) => `${id}-${path.replace(/\[.*/, "")}`} />
      <Field label="Name" id={`${id}-name`} required error={errorAt("name")}>
        {(control) => <Input {...control} required maxLength={200} value={values.name} placeholder="Our gateway" onChange={(event) => set({ name: event.target.value })} />}
      </Field>
      <Field label="Base URL" id={`${id}-baseUrl`} error={errorAt("baseUrl")} help="Where the OpenAI-compatible API starts, usually ending in /v1.">
        {(control) => <Input {...control} type="url" spellCheck={false} value={values.baseUrl} onChange={(event) => set({ baseUrl: event.target.value })} />}
      </Field>
      <Field label="API key" id={`${id}-apiKey`} error={errorAt("apiKey")} help="Stored encrypted and never shown again.">
        {(control) => <SecretInput control={control} label="API key" stored={connection?.hasApiKey ?? false} value={values.apiKey} onChange={(value) => set({ apiKey: value ?? "" })} />}
      </Field>
      <Field label="Default model" id={`${id}-defaultModel`} required error={errorAt("defaultModel")}>
        {(control) => <Input {...control} required maxLength={200} spellCheck={false} className="font-mono" value={values.defaultModel} onChange={(event) => set({ defaultModel: event.target.value })} />}
      </Field>
      <ModelList models={values.models} onChange={(models) => set({ models })} error={errorAt("availableModels")} />
      <details className="rounded-[8px] border border-line" open={limits} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="rounded-[8px] px-4 py-2.5 font-medium">Limits and model family</summary>
        <div className="grid gap-4 border-t border-line px-4 py-4">
          <fieldset>
            <legend className="mb-1 text-sm font-medium">Spend cap per person</legend>
            <p className="mb-2 text-sm text-ink-3">How many tokens one person may use within a stretch of time; a day has 1,440 minutes. Leave both blank for no cap.</p>
            <div className="grid gap-3 sm:grid-cols-2">
              <Field label="Tokens" id={`${id}-spendCap.tokenBudget`} error={errorAt("spendCap.tokenBudget")}>
                {(control) => <Input {...control} inputMode="numeric" placeholder="No cap" value={values.budget} onChange={(event) => set({ budget: event.target.value }, ["spendCap"])} />}
              </Field>
              <Field label="Within, in minutes" id={`${id}-spendCap.windowMinutes`} error={errorAt("spendCap.windowMinutes")}>
                {(control) => <Input {...control} inputMode="numeric" placeholder="No cap" value={values.minutes} onChange={(event) => set({ minutes: event.target.value }, ["spendCap"])} />}
              </Field>
            </div>
          </fieldset>
          <Field label="Context window, in tokens" id={`${id}-contextWindowTokens`} error={errorAt("contextWindowTokens")} help="How much the model can read at once. Long tool results are shortened to fit it. Blank uses a careful standard.">
            {(control) => <Input {...control} inputMode="numeric" value={values.context} onChange={(event) => set({ context: event.target.value })} />}
          </Field>
          <Field label="Model family" id={`${id}-modelFamily`} error={errorAt("modelFamily")} help="Tunes the instructions to the kind of model. Generic works with all.">
            {(control) => (
              <Select {...control} value={values.family} onChange={(event) => set({ family: event.target.value as Connection["modelFamily"] })}>
                <option value="generic">Generic</option>
                <option value="openai">OpenAI</option>
                <option value="anthropic">Anthropic</option>
              </Select>
            )}
          </Field>
        </div>
      </details>
      <div aria-live="polite">
        {test.data ? (
          <p className={`flex items-start gap-2 rounded-[8px] px-3 py-2 break-words ${test.data.ok ? "bg-healthy-soft text-healthy-ink" : "bg-unhealthy-soft text-unhealthy-ink"}`}>
            {test.data.ok ? <CircleCheck aria-hidden size={16} className="mt-0.5 shrink-0" /> : <CircleX aria-hidden size={16} className="mt-0.5 shrink-0" />}
            <span className="min-w-0 break-words">{test.data.message}</span>
          </p>
        ) : null}
      </div>
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          className="mr-auto"
          icon={<Zap aria-hidden size={15} />}
          busy={test.isPending}
          onClick={() => {
            form.recheck();
            test.mutate({ ...(connection ? { id: connection.id } : {}), baseUrl: values.baseUrl.trim(), ...(values.apiKey === "" ? {} : { apiKey: values.apiKey }) });
          }}
        >
          Test
        </Button>
        <Button onClick={leave}>Cancel</Button>
        <Button type="submit" look="primary" busy={form.busy}>
          {connection ? "Save changes" : "Add connection"}
        </Button>
      </div>
    </form>
  );
}
