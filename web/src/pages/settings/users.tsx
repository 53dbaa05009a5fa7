import { Plus, Shield, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { useSearchParams } from "react-router";
import { issuesByPath } from "@/api/errors";
import { useCan, useSession } from "@/app/session";
import { passwordFault, passwordHelp } from "@/pages/auth/password";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows, toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input } from "@/ui/field";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { SearchParam } from "@/ui/search-param";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { useCreateUser, useDeleteUser, useRoles, useUpdateUserRoles, useUsers, type Role, type User } from "./api";

export function Component() {
  const can = useCan();
  const session = useSession();
  const users = useUsers();
  const roles = useRoles(can("auth.roles.read"));
  const remove = useDeleteUser();
  const [params] = useSearchParams();
  const [creating, setCreating] = useState(false);
  const [editing, setEditing] = useState<User>();
  const [removing, setRemoving] = useState<User>();
  const manage = can("auth.users.manage");
  const q = params.get("q") ?? "";
  const needle = q.trim().toLowerCase();
  const all = users.data?.users ?? [];
  const rows = all.filter((user) => `${user.name} ${user.email}`.toLowerCase().includes(needle));
  const roleName = (id: string) => roles.data?.roles?.find((role) => role.id === id)?.name ?? id;
  return (
    <Page
      title="Users"
      description={users.data ? `${all.length} ${all.length === 1 ? "user" : "users"}` : undefined}
      actions={
        can("auth.users.create.manage") ? (
          <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
            New user
          </Button>
        ) : null
      }
    >
      {users.isPending ? <SkeletonRows /> : null}
      {users.isError && !users.data ? <ErrorState title="The users could not be loaded" error={users.error} onRetry={() => void users.refetch()} /> : null}
      {users.data ? (
        <>
          <SearchParam label="Search users" className="mb-4 max-w-[420px]" />
          {rows.length === 0 ? (
            <div className="card">
              <EmptyState title="Nobody matches">No user fits this search.</EmptyState>
            </div>
          ) : (
            <Table
              label="Users"
              rows={rows}
              rowKey={(user) => user.id}
              initialSort={{ key: "name", down: false }}
              columns={[
                {
                  key: "name",
                  label: "Name",
                  primary: true,
                  sort: (user) => user.name.toLowerCase(),
                  cell: (user) => (
                    <div>
                      <span className="font-medium">{user.name}</span> {user.id === session.user?.id ? <Badge tone="accent">You</Badge> : null}
                      <p className="text-sm break-all text-ink-3">{user.email}</p>
                    </div>
                  ),
                },
                {
                  key: "roles",
                  label: "Roles",
                  cell: (user) => (
                    <span className="inline-flex flex-wrap gap-1">
                      {(user.roles ?? []).map((role) => (
                        <Badge key={role}>{roleName(role)}</Badge>
                      ))}
                      {(user.roles ?? []).length === 0 ? <span className="text-ink-3">none</span> : null}
                    </span>
                  ),
                },
                { key: "login", label: "Last sign-in", sort: (user) => user.lastLoginAt ?? "", cell: (user) => (user.lastLoginAt ? <RelativeTime at={user.lastLoginAt} /> : <span className="text-ink-3">never</span>) },
                ...(manage
                  ? [
                      {
                        key: "actions",
                        label: "Actions",
                        quiet: true,
                        className: "md:w-12",
                        cell: (user: User) =>
                          user.id === session.user?.id ? null : (
                            <RowMenu label={`Actions for ${user.name}`}>
                              <MenuItem icon={<Shield aria-hidden size={15} />} onSelect={() => setEditing(user)}>
                                Change roles
                              </MenuItem>
                              <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(user)}>
                                Delete user
                              </MenuItem>
                            </RowMenu>
                          ),
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </>
      ) : null}
      <Dialog open={creating} onOpenChange={setCreating} title="New user" description="The person can sign in with this password right away and should change it in their profile.">
        <CreateUser roles={roles.data?.roles ?? []} close={() => setCreating(false)} />
      </Dialog>
      <Dialog open={editing !== undefined} onOpenChange={(open) => (open ? undefined : setEditing(undefined))} title={`Roles of ${editing?.name ?? ""}`}>
        {editing ? <EditRoles user={editing} roles={roles.data?.roles ?? []} close={() => setEditing(undefined)} /> : null}
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete ${removing?.name ?? ""}?`}
        action="Delete user"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast(`${removing.name} deleted`);
        }}
      >
        {removing?.email} is signed out everywhere and loses all roles. This cannot be undone.
      </ConfirmDialog>
    </Page>
  );
}

/** Roles a person or application may get; the one for visitors is given to nobody. */
export function RolePicker({ roles, selected, onChange }: { roles: Role[]; selected: string[]; onChange: (ids: string[]) => void }) {
  const assignable = roles.filter((role) => role.id !== "anonymous");
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Roles</legend>
      <div className="grid gap-2">
        {assignable.map((role) => (
          <Checkbox
            key={role.id}
            checked={selected.includes(role.id)}
            onChange={(event) => onChange(event.target.checked ? [...selected, role.id] : selected.filter((id) => id !== role.id))}
            label={
              <>
                {role.name}
                {role.description ? <span className="block text-sm text-ink-3">{role.description}</span> : null}
              </>
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

function CreateUser({ roles, close }: { roles: Role[]; close: () => void }) {
  const id = useId();
  const create = useCreateUser();
  const [values, setValues] = useState({ name: "", email: "", password: "" });
  const [roleIds, setRoleIds] = useState(["users"]);
  const [fault, setFault] = useState<string>();
  const errors = issuesByPath(create.error);
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const missing = passwordFault(values.password);
        setFault(missing);
        if (missing) {
          document.getElementById(`${id}-password`)?.focus();
          return;
        }
        create.mutate(
          { ...values, name: values.name.trim(), email: values.email.trim(), ...(roles.length > 0 ? { roleIds } : {}) },
          {
            onSuccess: () => {
              toast(`${values.name.trim()} can sign in now`);
              close();
            },
          },
        );
      }}
    >
      <FormErrors error={create.error} fieldIds={{ name: `${id}-name`, email: `${id}-email`, password: `${id}-password` }} />
      <Field label="Name" id={`${id}-name`} required error={errors.name}>
        {(control) => <Input {...control} required autoComplete="off" value={values.name} onChange={(event) => setValues({ ...values, name: event.target.value })} />}
      </Field>
      <Field label="Email" id={`${id}-email`} required error={errors.email}>
        {(control) => <Input {...control} required type="email" autoComplete="off" value={values.email} onChange={(event) => setValues({ ...values, email: event.target.value })} />}
      </Field>
      <Field label="Password" id={`${id}-password`} required error={fault ?? errors.password} help={passwordHelp}>
        {(control) => <Input {...control} required type="password" autoComplete="new-password" value={values.password} onChange={(event) => setValues({ ...values, password: event.target.value })} />}
      </Field>
      {roles.length > 0 ? <RolePicker roles={roles} selected={roleIds} onChange={setRoleIds} /> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending}>
          Create user
        </Button>
      </div>
    </form>
  );
}

function EditRoles({ user, roles, close }: { user: User; roles: Role[]; close: () => void }) {
  const update = useUpdateUserRoles();
  const [roleIds, setRoleIds] = useState(user.roles ?? []);
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate(
          { userId: user.id, roleIds },
          {
            onSuccess: () => {
              toast("Roles saved");
              close();
            },
          },
        );
      }}
    >
      <FormErrors error={update.error} />
      <RolePicker roles={roles} selected={roleIds} onChange={setRoleIds} />
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={update.isPending}>
          Save roles
        </Button>
      </div>
    </form>
  );
}
