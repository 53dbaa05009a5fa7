import { Pencil, Plug, Plus, Trash2, Zap } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/app/form-dialog";
import { useCan } from "@/app/session";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows, toast, toastError } from "@/ui/feedback";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { useConnections, useDeleteConnection, useTestConnection, type Connection } from "./api";
import { ConnectionForm } from "./connection-form";
import { capText } from "./spend-cap";

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
      <FormDialog open={form !== undefined} onClose={() => setForm(undefined)} title={form === "new" ? "New connection" : `Edit ${form?.name ?? ""}`}>
        {(parts) => <ConnectionForm {...parts} connection={form === "new" ? undefined : form} onSaved={() => setForm(undefined)} />}
      </FormDialog>
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
