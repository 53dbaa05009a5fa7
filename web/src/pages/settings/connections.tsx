import { CircleCheck, CircleX, Pencil, Plug, Plus, Trash2, Zap } from "lucide-react";
import { useId, useState } from "react";
import { ApiError, issuesByPath } from "@/api/errors";
import { useCan } from "@/app/session";
import { Button } from "@/ui/button";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows, toast, toastError } from "@/ui/feedback";
import { Field, FormErrors, Input, Select } from "@/ui/field";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { SecretInput } from "@/ui/schema-form";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { ModelList } from "./model-list";
import { capText, readCap } from "./spend-cap";
import { useConnections, useCreateConnection, useDeleteConnection, useTestConnection, useUpdateConnection, type Connection } from "./api";

export function Component() {
  const can = useCan();
  const manage = can("integration.connection.manage");
  const connections = useConnections();
  const remove = useDeleteConnection();
  const test = useTestConnection();
  const [form, setForm] = useState<Connection | "new">();
  const [removing, setRemoving] = useState<Connection>();
  const all = connections.data?.connections ?? [];
  return (
    <Page
      title="Connections"
      description="Language models for the assistant. Any endpoint that speaks the OpenAI protocol works."
      actions={
        manage ? (
          <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setForm("new")}>
            New connection
          </Button>
        ) : null
      }
    >
      {connections.isPending ? <SkeletonRows /> : null}
      {connections.isError && !connections.data ? <ErrorState title="The connections could not be loaded" error={connections.error} onRetry={() => void connections.refetch()} /> : null}
      {connections.data && all.length === 0 ? (
        <div className="card">
          <EmptyState icon={<Plug aria-hidden size={28} />} title="No connections yet" action={manage ? <Button look="primary" onClick={() => setForm("new")}>Add a connection</Button> : null}>
            The built-in assistant works without one. A language model understands free wording and longer requests.
          </EmptyState>
        </div>
      ) : null}
      {all.length > 0 ? (
        <Table
          label="Connections"
          rows={all}
          rowKey={(connection) => connection.id}
          initialSort={{ key: "name", down: false }}
          columns={[
            {
              key: "name",
              label: "Name",
              primary: true,
              sort: (connection) => connection.name.toLowerCase(),
              cell: (connection) => (
                <div className="min-w-0">
                  <span className="font-medium">{connection.name}</span>
                  <p className="text-sm break-all text-ink-3">{connection.baseUrl}</p>
                </div>
              ),
            },
            {
              key: "model",
              label: "Models",
              cell: (connection) => {
                const more = (connection.availableModels ?? []).filter((model) => model !== connection.defaultModel);
                return (
                  <div className="min-w-0">
                    <span className="font-mono text-sm break-all">{connection.defaultModel}</span>
                    {more.length > 0 ? (
                      <p className="text-sm text-ink-3" title={more.join(", ")}>
                        and {more.length} more
                      </p>
                    ) : null}
                  </div>
                );
              },
            },
            {
              key: "limits",
              label: "Limits",
              cell: (connection) => (
                <span className="text-sm">
                  {connection.spendCap ? capText(connection.spendCap) : <span className="text-ink-3">No cap</span>}
                  {connection.contextWindowTokens ? <span className="block text-ink-3">{connection.contextWindowTokens.toLocaleString()} tokens of context</span> : null}
                </span>
              ),
            },
            { key: "key", label: "Key", cell: (connection) => (connection.hasApiKey ? <Badge tone="good">Stored</Badge> : <Badge>None</Badge>) },
            ...(manage
              ? [
                  {
                    key: "actions",
                    label: "Actions",
                    quiet: true,
                    className: "md:w-40",
                    cell: (connection: Connection) => (
                      <span className="flex items-center justify-end gap-1">
                        <Button
                          size="sm"
                          icon={<Zap aria-hidden size={14} />}
                          busy={test.isPending && test.variables.id === connection.id}
                          onClick={() =>
                            test.mutate({ id: connection.id }, { onSuccess: (result) => toast(`${connection.name}: ${result.message}`, result.ok ? "good" : "bad"), onError: toastError })
                          }
                        >
                          Test<span className="sr-only"> {connection.name}</span>
                        </Button>
                        <RowMenu label={`Actions for ${connection.name}`}>
                          <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => setForm(connection)}>
                            Edit
                          </MenuItem>
                          <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(connection)}>
                            Delete
                          </MenuItem>
                        </RowMenu>
                      </span>
                    ),
                  },
                ]
              : []),
          ]}
        />
      ) : null}
      <Dialog open={form !== undefined} onOpenChange={(open) => (open ? undefined : setForm(undefined))} title={form === "new" ? "New connection" : `Edit ${form?.name ?? ""}`}>
        {form ? <ConnectionForm connection={form === "new" ? undefined : form} close={() => setForm(undefined)} /> : null}
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the connection “${removing?.name ?? ""}”?`}
        action="Delete connection"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast(`${removing.name} deleted`);
        }}
      >
        Its key is deleted with it. Conversations stay, and go on with another model.
      </ConfirmDialog>
    </Page>
  );
}

function ConnectionForm({ connection, close }: { connection: Connection | undefined; close: () => void }) {
  const id = useId();
  const create = useCreateConnection();
  const update = useUpdateConnection();
  const test = useTestConnection();
  const [name, setName] = useState(connection?.name ?? "");
  const [baseUrl, setBaseUrl] = useState(connection?.baseUrl ?? "https://api.openai.com/v1");
  const [apiKey, setApiKey] = useState("");
  const [defaultModel, setDefaultModel] = useState(connection?.defaultModel ?? "");
  const [models, setModels] = useState<string[]>(() => (connection?.availableModels ?? []).filter((model) => model !== connection?.defaultModel));
  const [family, setFamily] = useState<Connection["modelFamily"]>(connection?.modelFamily ?? "generic");
  const [context, setContext] = useState(connection?.contextWindowTokens ? String(connection.contextWindowTokens) : "");
  const [budget, setBudget] = useState(connection?.spendCap ? String(connection.spendCap.tokenBudget) : "");
  const [minutes, setMinutes] = useState(connection?.spendCap ? String(connection.spendCap.windowMinutes) : "");
  const [fault, setFault] = useState<ApiError>();
  const error = fault ?? create.error ?? update.error ?? test.error;
  const errors = issuesByPath(error);

  const save = async () => {
    const cap = readCap(budget, minutes);
    setFault(cap.issues.length > 0 ? new ApiError({ code: "invalid", message: "Some fields need attention.", status: 400, issues: cap.issues }) : undefined);
    if (cap.issues.length > 0) return;
    const contextWindowTokens = context.trim() === "" ? null : Number(context);
    const fields = {
      name: name.trim(),
      ...(baseUrl.trim() === "" ? {} : { baseUrl: baseUrl.trim() }),
      ...(apiKey === "" ? {} : { apiKey }),
      defaultModel: defaultModel.trim(),
      availableModels: models.map((each) => each.trim()).filter(Boolean),
      modelFamily: family,
    };
    if (connection) await update.mutateAsync({ id: connection.id, ...fields, contextWindowTokens, spendCap: cap.value });
    else await create.mutateAsync({ ...fields, ...(contextWindowTokens === null ? {} : { contextWindowTokens }), ...(cap.value ? { spendCap: cap.value } : {}) });
    toast("Connection saved");
    close();
  };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        test.reset();
        save().catch(() => undefined);
      }}
    >
      <FormErrors
        error={error}
        fieldIds={{
          name: `${id}-name`,
          baseUrl: `${id}-url`,
          defaultModel: `${id}-model`,
          apiKey: `${id}-key`,
          contextWindowTokens: `${id}-context`,
          "spendCap.tokenBudget": `${id}-budget`,
          "spendCap.windowMinutes": `${id}-minutes`,
        }}
      />
      <Field label="Name" id={`${id}-name`} required error={errors.name}>
        {(control) => <Input {...control} required maxLength={200} value={name} placeholder="Our gateway" onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Base URL" id={`${id}-url`} error={errors.baseUrl} help="Where the OpenAI-compatible API starts, usually ending in /v1.">
        {(control) => <Input {...control} type="url" spellCheck={false} value={baseUrl} onChange={(event) => setBaseUrl(event.target.value)} />}
      </Field>
      <Field label="API key" id={`${id}-key`} error={errors.apiKey} help="Stored encrypted and never shown again.">
        {(control) => <SecretInput control={control} label="API key" stored={connection?.hasApiKey ?? false} value={apiKey} onChange={(value) => setApiKey(value ?? "")} />}
      </Field>
      <Field label="Default model" id={`${id}-model`} required error={errors.defaultModel}>
        {(control) => <Input {...control} required maxLength={200} spellCheck={false} className="font-mono" value={defaultModel} onChange={(event) => setDefaultModel(event.target.value)} />}
      </Field>
      <ModelList models={models} onChange={setModels} error={errors.availableModels} />
      <details className="rounded-[8px] border border-line" open={connection !== undefined && (connection.spendCap !== null || connection.contextWindowTokens !== null) ? true : undefined}>
        <summary className="rounded-[8px] px-4 py-2.5 font-medium">Limits and model family</summary>
        <div className="grid gap-4 border-t border-line px-4 py-4">
          <fieldset>
            <legend className="mb-1 text-sm font-medium">Spend cap per person</legend>
            <p className="mb-2 text-sm text-ink-3">How many tokens one person may use within a stretch of time. Leave both blank for no cap.</p>
            <div className="grid gap-3 sm:grid-cols-2">
              <Field label="Tokens" id={`${id}-budget`} error={errors["spendCap.tokenBudget"]}>
                {(control) => <Input {...control} type="number" min={1} step={1} inputMode="numeric" placeholder="No cap" value={budget} onChange={(event) => setBudget(event.target.value)} />}
              </Field>
              <Field label="Within, in minutes" id={`${id}-minutes`} error={errors["spendCap.windowMinutes"]}>
                {(control) => <Input {...control} type="number" min={1} step={1} inputMode="numeric" placeholder="No cap" value={minutes} onChange={(event) => setMinutes(event.target.value)} />}
              </Field>
            </div>
          </fieldset>
          <Field label="Context window, in tokens" id={`${id}-context`} error={errors.contextWindowTokens} help="How much the model can read at once. Long tool results are shortened to fit it. Blank uses a careful standard.">
            {(control) => <Input {...control} type="number" min={1} max={100_000_000} step={1} inputMode="numeric" value={context} onChange={(event) => setContext(event.target.value)} />}
          </Field>
          <Field label="Model family" error={errors.modelFamily} help="Tunes the instructions to the kind of model. Generic works with all.">
            {(control) => (
              <Select {...control} value={family} onChange={(event) => setFamily(event.target.value as Connection["modelFamily"])}>
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
        <Button className="mr-auto" icon={<Zap aria-hidden size={15} />} busy={test.isPending} onClick={() => test.mutate({ ...(connection ? { id: connection.id } : {}), baseUrl: baseUrl.trim(), ...(apiKey === "" ? {} : { apiKey }) })}>
          Test
        </Button>
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending || update.isPending}>
          {connection ? "Save changes" : "Add connection"}
        </Button>
      </div>
    </form>
  );
}
