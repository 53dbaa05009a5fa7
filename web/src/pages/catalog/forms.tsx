import { Plus, Trash2 } from "lucide-react";
import { useId, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { issuesByPath } from "@/api/errors";
import { useCan } from "@/app/session";
import { Button, IconButton } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input, Textarea } from "@/ui/field";
import { useCreateGroup, useCreateSystem, useEntities, useSetGroups, useUpdateGroup, useUpdateSystem, type Group, type System } from "./api";

type Pair = { key: string; value: string };

/** Custom fields as rows of text; values that are not text are kept as JSON. */
function pairsOf(metadata: Record<string, unknown> | null | undefined): Pair[] {
  return Object.entries(metadata ?? {}).map(([key, value]) => ({ key, value: typeof value === "string" ? value : JSON.stringify(value) }));
}

function metadataOf(pairs: Pair[], original: Record<string, unknown> | null | undefined): Record<string, unknown> {
  return Object.fromEntries(
    pairs
      .filter((pair) => pair.key.trim() !== "")
      .map(({ key, value }) => {
        const name = key.trim();
        const before = original?.[name];
        // An untouched number or object must not turn into text.
        return [name, before !== undefined && typeof before !== "string" && JSON.stringify(before) === value ? before : value];
      }),
  );
}

/** Creates a system, or edits the given one. */
export function SystemDialog({ system, open, onOpenChange }: { system?: System | undefined; open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={system ? `Edit ${system.name}` : "New system"}>
      <SystemForm system={system} close={() => onOpenChange(false)} />
    </Dialog>
  );
}

function SystemForm({ system, close }: { system: System | undefined; close: () => void }) {
  const navigate = useNavigate();
  const can = useCan();
  const id = useId();
  const entities = useEntities();
  const create = useCreateSystem();
  const update = useUpdateSystem();
  const setGroups = useSetGroups();
  const [name, setName] = useState(system?.name ?? "");
  const [description, setDescription] = useState(system?.description ?? "");
  const [groupIds, setGroupIds] = useState<string[]>(system?.groupIds ?? []);
  const [pairs, setPairs] = useState(() => pairsOf(system?.metadata as Record<string, unknown> | undefined));
  // The page goes on updating behind the form. What is saved is compared with
  // what was opened, or a change made elsewhere meanwhile would be undone.
  const [opened] = useState(system);
  const version = useRef(system?.version);
  const error = create.error ?? update.error ?? setGroups.error;
  const errors = issuesByPath(error);
  const busy = create.isPending || update.isPending || setGroups.isPending;

  const save = async () => {
    const metadata = metadataOf(pairs, opened?.metadata as Record<string, unknown> | undefined);
    if (opened) {
      const updated = await update.mutateAsync({
        id: opened.id,
        version: version.current,
        data: { name: name.trim(), description: description.trim() === "" ? null : description.trim(), metadata },
      });
      version.current = updated.version;
      await setGroups.mutateAsync({ systemId: opened.id, before: opened.groupIds ?? [], after: groupIds });
      toast("Changes saved");
      close();
      return;
    }
    const created = await create.mutateAsync({ name: name.trim(), ...(description.trim() === "" ? {} : { description: description.trim() }), metadata });
    await setGroups.mutateAsync({ systemId: created.id, before: [], after: groupIds });
    toast(`${created.name} added`);
    close();
    await navigate(`/catalog/system/${created.id}`);
  };

  const groups = entities.data?.groups ?? [];
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save().catch(() => undefined);
      }}
    >
      <FormErrors error={error} fieldIds={{ name: `${id}-name`, "data.name": `${id}-name`, description: `${id}-description`, "data.description": `${id}-description` }} />
      <Field label="Name" required id={`${id}-name`} error={errors.name ?? errors["data.name"]}>
        {(control) => <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Description" id={`${id}-description`} error={errors.description ?? errors["data.description"]}>
        {(control) => <Textarea {...control} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
      {groups.length > 0 && can("catalog.system.manage") ? (
        <fieldset>
          <legend className="mb-1.5 text-sm font-medium">Groups</legend>
          <div className="grid max-h-44 gap-1.5 overflow-y-auto sm:grid-cols-2">
            {groups.map((group) => (
              <Checkbox
                key={group.id}
                label={group.name}
                checked={groupIds.includes(group.id)}
                onChange={(event) => setGroupIds(event.target.checked ? [...groupIds, group.id] : groupIds.filter((each) => each !== group.id))}
              />
            ))}
          </div>
        </fieldset>
      ) : null}
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Custom fields</legend>
        <p className="mb-2 text-sm text-ink-3">Checks can use them as {"{{ system.metadata.name }}"}.</p>
        <div className="grid gap-2">
          {pairs.map((pair, i) => (
            <div key={i} className="flex gap-2">
              <Input aria-label={`Name of field ${i + 1}`} placeholder="name" value={pair.key} onChange={(event) => setPairs(pairs.map((each, at) => (at === i ? { ...each, key: event.target.value } : each)))} />
              <Input aria-label={`Value of field ${i + 1}`} placeholder="value" value={pair.value} onChange={(event) => setPairs(pairs.map((each, at) => (at === i ? { ...each, value: event.target.value } : each)))} />
              <IconButton label={`Remove field ${i + 1}`} onClick={() => setPairs(pairs.filter((_, at) => at !== i))}>
                <Trash2 aria-hidden size={16} />
              </IconButton>
            </div>
          ))}
        </div>
        <Button size="sm" className="mt-2" icon={<Plus aria-hidden size={14} />} onClick={() => setPairs([...pairs, { key: "", value: "" }])}>
          Add field
        </Button>
      </fieldset>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={busy}>
          {system ? "Save changes" : "Create system"}
        </Button>
      </div>
    </form>
  );
}

/** Creates a group, or edits the given one. */
export function GroupDialog({ group, open, onOpenChange }: { group?: Group | undefined; open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={group ? `Edit ${group.name}` : "New group"}>
      <GroupForm group={group} close={() => onOpenChange(false)} />
    </Dialog>
  );
}

function GroupForm({ group, close }: { group: Group | undefined; close: () => void }) {
  const id = useId();
  const create = useCreateGroup();
  const update = useUpdateGroup();
  const [name, setName] = useState(group?.name ?? "");
  const [description, setDescription] = useState(group?.description ?? "");
  const [opened] = useState(group);
  const error = create.error ?? update.error;
  const errors = issuesByPath(error);
  const save = async () => {
    if (opened) {
      await update.mutateAsync({ id: opened.id, version: opened.version, data: { name: name.trim(), description: description.trim() === "" ? null : description.trim() } });
      toast("Changes saved");
    } else {
      const created = await create.mutateAsync({ name: name.trim(), ...(description.trim() === "" ? {} : { description: description.trim() }) });
      toast(`Group ${created.name} added`);
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
      <FormErrors error={error} fieldIds={{ name: `${id}-name`, "data.name": `${id}-name` }} />
      <Field label="Name" required id={`${id}-name`} error={errors.name ?? errors["data.name"]}>
        {(control) => <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Description" error={errors.description ?? errors["data.description"]}>
        {(control) => <Textarea {...control} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending || update.isPending}>
          {group ? "Save changes" : "Create group"}
        </Button>
      </div>
    </form>
  );
}
