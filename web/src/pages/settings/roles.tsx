import { Pencil, Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { issuesByPath } from "@/api/errors";
import { useCan, useSession } from "@/app/session";
import { Button } from "@/ui/button";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { ErrorState, SkeletonRows, toast } from "@/ui/feedback";
import { Field, FormErrors, Input } from "@/ui/field";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { humanize } from "@/ui/schema";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { useAccessRules, useCreateRole, useDeleteRole, useRoles, useUpdateRole, type AccessRule, type Role } from "./api";
import { ruleMatrix } from "./rules";

export function Component() {
  const can = useCan();
  const session = useSession();
  const roles = useRoles();
  const remove = useDeleteRole();
  const [open, setOpen] = useState<Role | "new">();
  const [removing, setRemoving] = useState<Role>();
  const mayUpdate = can("auth.roles.update.manage") || can("auth.roles.manage");
  const mayDelete = can("auth.roles.delete.manage") || can("auth.roles.manage");
  return (
    <Page
      title="Roles"
      description="A role is a set of access rules. People and applications can have several."
      actions={
        can("auth.roles.create.manage") || can("auth.roles.manage") ? (
          <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setOpen("new")}>
            New role
          </Button>
        ) : null
      }
    >
      {roles.isPending ? <SkeletonRows /> : null}
      {roles.isError && !roles.data ? <ErrorState title="The roles could not be loaded" error={roles.error} onRetry={() => void roles.refetch()} /> : null}
      {roles.data ? (
        <Table
          label="Roles"
          rows={roles.data.roles ?? []}
          rowKey={(role) => role.id}
          columns={[
            {
              key: "name",
              label: "Name",
              primary: true,
              sort: (role) => role.name.toLowerCase(),
              cell: (role) => (
                <div>
                  <button type="button" className="text-left font-medium hover:underline" onClick={() => setOpen(role)}>
                    {role.name}
                  </button>{" "}
                  {role.isSystem ? <Badge>Built in</Badge> : null}
                  {role.description ? <p className="text-sm text-ink-3">{role.description}</p> : null}
                </div>
              ),
            },
            { key: "rules", label: "Rules", sort: (role) => role.accessRules?.length ?? 0, cell: (role) => (role.id === "admin" ? "all" : (role.accessRules?.length ?? 0)) },
            { key: "members", label: "Members", sort: (role) => role.memberCount, cell: (role) => role.memberCount },
            {
              key: "actions",
              label: "Actions",
              quiet: true,
              className: "md:w-12",
              cell: (role) => (
                <RowMenu label={`Actions for ${role.name}`}>
                  <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => setOpen(role)}>
                    {mayUpdate ? "Edit role" : "Show rules"}
                  </MenuItem>
                  {mayDelete && !role.isSystem && !session.roles.includes(role.id) ? (
                    <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(role)}>
                      Delete role
                    </MenuItem>
                  ) : null}
                </RowMenu>
              ),
            },
          ]}
        />
      ) : null}
      <Dialog open={open !== undefined} onOpenChange={(next) => (next ? undefined : setOpen(undefined))} title={open === "new" ? "New role" : (open?.name ?? "")} wide>
        {open ? <RoleForm role={open === "new" ? undefined : open} editable={open === "new" || mayUpdate} close={() => setOpen(undefined)} /> : null}
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(next) => (next ? undefined : setRemoving(undefined))}
        title={`Delete the role “${removing?.name ?? ""}”?`}
        action="Delete role"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast(`Role ${removing.name} deleted`);
        }}
      >
        {removing && removing.memberCount > 0 ? `${removing.memberCount} ${removing.memberCount === 1 ? "member loses" : "members lose"} what it allows.` : "Nobody has it."}
      </ConfirmDialog>
    </Page>
  );
}

function RoleForm({ role, editable, close }: { role: Role | undefined; editable: boolean; close: () => void }) {
  const id = useId();
  const session = useSession();
  const rules = useAccessRules();
  const create = useCreateRole();
  const update = useUpdateRole();
  const [name, setName] = useState(role?.name ?? "");
  const [description, setDescription] = useState(role?.description ?? "");
  const [selected, setSelected] = useState<string[]>(role?.accessRules ?? []);
  const error = create.error ?? update.error;
  const errors = issuesByPath(error);
  const admin = role?.id === "admin";
  const own = role !== undefined && session.roles.includes(role.id);
  const rulesEditable = editable && !admin && !own;
  const save = async () => {
    if (role) {
      await update.mutateAsync({ id: role.id, ...(role.isSystem ? {} : { name: name.trim(), description: description.trim() }), ...(rulesEditable ? { accessRules: selected } : {}) });
      toast("Role saved");
    } else {
      await create.mutateAsync({ name: name.trim(), ...(description.trim() === "" ? {} : { description: description.trim() }), accessRules: selected });
      toast(`Role ${name.trim()} created`);
    }
    close();
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
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Name" id={`${id}-name`} required error={errors.name}>
          {(control) => <Input {...control} required disabled={!editable || role?.isSystem} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Description" error={errors.description}>
          {(control) => <Input {...control} disabled={!editable || role?.isSystem} value={description} onChange={(event) => setDescription(event.target.value)} />}
        </Field>
      </div>
      {admin ? <p className="text-ink-2">Administrators always have every rule.</p> : null}
      {own && !admin ? <p className="text-ink-2">You have this role yourself, so its rules can only be changed by someone else.</p> : null}
      {rules.isError ? <ErrorState title="The access rules could not be loaded" error={rules.error} onRetry={() => void rules.refetch()} /> : null}
      {admin ? null : <Matrix rules={rules.data?.accessRules ?? []} selected={selected} onChange={setSelected} disabled={!rulesEditable} />}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>{editable ? "Cancel" : "Close"}</Button>
        {editable && !(role?.isSystem && !rulesEditable) ? (
          <Button type="submit" look="primary" busy={create.isPending || update.isPending}>
            {role ? "Save role" : "Create role"}
          </Button>
        ) : null}
      </div>
    </form>
  );
}

function Matrix({ rules, selected, onChange, disabled }: { rules: AccessRule[]; selected: string[]; onChange: (ids: string[]) => void; disabled: boolean }) {
  const toggle = (rule: AccessRule, on: boolean) => onChange(on ? [...selected, rule.id] : selected.filter((id) => id !== rule.id));
  return (
    <div className="grid gap-4">
      {ruleMatrix(rules).map((group) => (
        <fieldset key={group.plugin} className="rounded-[8px] border border-line">
          <legend className="ml-3 px-1 text-sm font-semibold">{humanize(group.plugin)}</legend>
          <ul className="divide-y divide-line px-4 pb-1">
            {group.resources.map((row) => {
              const implied = row.manage !== undefined && selected.includes(row.manage.id);
              return (
                <li key={row.name} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
                  <div className="min-w-48 flex-1">
                    <p>{humanize(row.name)}</p>
                    <p className="text-sm text-ink-3">{[row.manage?.description ?? row.read?.description, ...row.other.map((rule) => rule.description)].filter(Boolean)[0]}</p>
                  </div>
                  {row.read ? <RuleBox rule={row.read} label="Read" subject={row.name} checked={implied || selected.includes(row.read.id)} disabled={disabled || implied} onChange={toggle} /> : null}
                  {row.manage ? <RuleBox rule={row.manage} label="Manage" subject={row.name} checked={implied} disabled={disabled} onChange={toggle} /> : null}
                  {row.other.map((rule) => (
                    <RuleBox key={rule.id} rule={rule} label="Allow" subject={row.name} checked={selected.includes(rule.id)} disabled={disabled} onChange={toggle} />
                  ))}
                </li>
              );
            })}
          </ul>
        </fieldset>
      ))}
    </div>
  );
}

function RuleBox({ rule, label, subject, checked, disabled, onChange }: { rule: AccessRule; label: string; subject: string; checked: boolean; disabled: boolean; onChange: (rule: AccessRule, on: boolean) => void }) {
  return (
    <label title={`${rule.id}: ${rule.description}`} className="inline-flex min-h-6 items-center gap-2">
      <input type="checkbox" className="size-4 accent-accent" checked={checked} disabled={disabled} onChange={(event) => onChange(rule, event.target.checked)} />
      {label}
      <span className="sr-only"> {humanize(subject)}</span>
    </label>
  );
}
