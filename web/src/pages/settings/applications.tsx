import { KeyRound, Pencil, Plus, RefreshCw, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { issuesByPath } from "@/api/errors";
import { useBootstrap, useCan } from "@/app/session";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { CopyButton, EmptyState, ErrorState, SkeletonRows, toast } from "@/ui/feedback";
import { Field, FormErrors, Input } from "@/ui/field";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { useApplications, useCreateApplication, useDeleteApplication, useRegenerateKey, useRoles, useUpdateApplication, type Application } from "./api";
import { RolePicker } from "./users";

export function Component() {
  const can = useCan();
  const applications = useApplications();
  const roles = useRoles(can("auth.roles.read"));
  const regenerate = useRegenerateKey();
  const remove = useDeleteApplication();
  const [form, setForm] = useState<Application | "new">();
  const [shown, setShown] = useState<{ name: string; key: string }>();
  const [renewing, setRenewing] = useState<Application>();
  const [removing, setRemoving] = useState<Application>();
  const all = applications.data?.applications ?? [];
  const roleName = (id: string) => roles.data?.roles?.find((role) => role.id === id)?.name ?? id;
  return (
    <Page
      title="Applications"
      description="Keys for scripts and other programs that call Checkstack."
      actions={
        <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setForm("new")}>
          New application
        </Button>
      }
    >
      {applications.isPending ? <SkeletonRows /> : null}
      {applications.isError && !applications.data ? <ErrorState title="The applications could not be loaded" error={applications.error} onRetry={() => void applications.refetch()} /> : null}
      {applications.data && all.length === 0 ? (
        <div className="card">
          <EmptyState icon={<KeyRound aria-hidden size={28} />} title="No applications yet" action={<Button look="primary" onClick={() => setForm("new")}>Create an application</Button>}>
            An application has a key and roles of its own, so that a script never needs a person’s password.
          </EmptyState>
        </div>
      ) : null}
      {all.length > 0 ? (
        <Table
          label="Applications"
          rows={all}
          rowKey={(application) => application.id}
          initialSort={{ key: "name", down: false }}
          columns={[
            {
              key: "name",
              label: "Name",
              primary: true,
              sort: (application) => application.name.toLowerCase(),
              cell: (application) => (
                <div>
                  <span className="font-medium">{application.name}</span>
                  {application.description ? <p className="text-sm text-ink-3">{application.description}</p> : null}
                </div>
              ),
            },
            {
              key: "roles",
              label: "Roles",
              cell: (application) => (
                <span className="inline-flex flex-wrap gap-1">
                  {(application.roles ?? []).map((role) => (
                    <Badge key={role}>{roleName(role)}</Badge>
                  ))}
                </span>
              ),
            },
            { key: "used", label: "Last used", sort: (application) => application.lastUsedAt ?? "", cell: (application) => (application.lastUsedAt ? <RelativeTime at={application.lastUsedAt} /> : <span className="text-ink-3">never</span>) },
            {
              key: "actions",
              label: "Actions",
              quiet: true,
              className: "md:w-12",
              cell: (application) => (
                <RowMenu label={`Actions for ${application.name}`}>
                  <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => setForm(application)}>
                    Edit
                  </MenuItem>
                  <MenuItem icon={<RefreshCw aria-hidden size={15} />} onSelect={() => setRenewing(application)}>
                    Make a new key
                  </MenuItem>
                  <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(application)}>
                    Delete
                  </MenuItem>
                </RowMenu>
              ),
            },
          ]}
        />
      ) : null}
      <Dialog open={form !== undefined} onOpenChange={(open) => (open ? undefined : setForm(undefined))} title={form === "new" ? "New application" : `Edit ${form?.name ?? ""}`}>
        {form ? <ApplicationForm application={form === "new" ? undefined : form} close={() => setForm(undefined)} onKey={(name, key) => setShown({ name, key })} /> : null}
      </Dialog>
      <Dialog open={shown !== undefined} onOpenChange={(open) => (open ? undefined : setShown(undefined))} title={`Key of ${shown?.name ?? ""}`} description="Copy it now. It is shown only this once and cannot be read again.">
        {shown ? <KeyView value={shown.key} close={() => setShown(undefined)} /> : null}
      </Dialog>
      <ConfirmDialog
        open={renewing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRenewing(undefined))}
        title={`Make a new key for “${renewing?.name ?? ""}”?`}
        action="Make a new key"
        onConfirm={async () => {
          if (!renewing) return;
          const { key } = await regenerate.mutateAsync(renewing.id);
          setShown({ name: renewing.name, key });
        }}
      >
        The present key stops working at once. Whatever uses it must get the new one.
      </ConfirmDialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the application “${removing?.name ?? ""}”?`}
        action="Delete application"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast(`${removing.name} deleted`);
        }}
      >
        Its key stops working at once.
      </ConfirmDialog>
    </Page>
  );
}

function KeyView({ value, close }: { value: string; close: () => void }) {
  const bootstrap = useBootstrap();
  const snippet = `curl -H "Authorization: Bearer ${value}" \\\n  ${bootstrap.data?.baseUrl ?? window.location.origin}/rest/catalog/getSystems`;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-[8px] border border-line bg-raised px-3 py-2 font-mono text-sm break-all">{value}</code>
        <CopyButton text={value} label="Copy key" />
      </div>
      <div>
        <p className="mb-1 text-sm font-medium">Try it</p>
        {/* Long lines scroll, so the keyboard needs a way in. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre tabIndex={0} role="region" aria-label="Example call" className="overflow-x-auto rounded-[8px] bg-raised p-3 font-mono text-xs">
          {snippet}
        </pre>
        <div className="mt-1 flex justify-end">
          <CopyButton text={snippet} label="Copy command" size="sm" />
        </div>
      </div>
      <div className="flex justify-end">
        <Button look="primary" onClick={close}>
          I have stored the key
        </Button>
      </div>
    </div>
  );
}

function ApplicationForm({ application, close, onKey }: { application: Application | undefined; close: () => void; onKey: (name: string, key: string) => void }) {
  const can = useCan();
  const id = useId();
  const roles = useRoles(can("auth.roles.read"));
  const create = useCreateApplication();
  const update = useUpdateApplication();
  const [name, setName] = useState(application?.name ?? "");
  const [description, setDescription] = useState(application?.description ?? "");
  const [roleIds, setRoleIds] = useState<string[]>(application?.roles ?? ["applications"]);
  const error = create.error ?? update.error;
  const errors = issuesByPath(error);
  const list = roles.data?.roles ?? [];
  const save = async () => {
    const fields = { name: name.trim(), description: description.trim(), ...(list.length > 0 ? { roleIds } : {}) };
    if (application) {
      await update.mutateAsync({ id: application.id, ...fields });
      toast("Changes saved");
      close();
      return;
    }
    const created = await create.mutateAsync(fields);
    close();
    onKey(created.application.name, created.key);
  };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save().catch(() => undefined);
      }}
    >
      <FormErrors error={error} fieldIds={{ name: `${id}-name` }} />
      <Field label="Name" id={`${id}-name`} required error={errors.name}>
        {(control) => <Input {...control} required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Description" error={errors.description}>
        {(control) => <Input {...control} maxLength={500} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
      {list.length > 0 ? <RolePicker roles={list} selected={roleIds} onChange={setRoleIds} /> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending || update.isPending}>
          {application ? "Save changes" : "Create application"}
        </Button>
      </div>
    </form>
  );
}
