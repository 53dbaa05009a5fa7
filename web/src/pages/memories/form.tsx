import { useEffect, useId, useRef, useState } from "react";
import type { FormDialogParts } from "@/app/form-dialog";
import { useCan } from "@/app/session";
import { useEntities } from "@/pages/catalog/api";
import { Button } from "@/ui/button";
import { ChangedMeanwhile } from "@/ui/changed-meanwhile";
import { toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input, Select, Textarea } from "@/ui/field";
import { useRecordForm } from "@/ui/record-form";
import { memoryOfHint, readMemory, useSaveMemory, type Memory } from "./api";
import { draftOf, emptyValues, kinds, labelOf, nearHint, problems, valuesOf } from "./draft";

/** A memory that says nearly the same, as far as it is known. */
type Near = { hint: string; memory: Memory | undefined };

/** systemId: the system that a new memory is about, as long as nothing else is chosen. */
export function MemoryForm({ memory, systemId, leave, onDirty, onSaved }: FormDialogParts & { memory: Memory | undefined; systemId: string; onSaved: () => void }) {
  const can = useCan();
  const id = useId();
  const save = useSaveMemory();
  const entities = useEntities(can("catalog.system.read"));
  const systems = entities.data?.systems ?? [];
  const form = useRecordForm({
    opened: memory,
    start: memory ? valuesOf(memory) : { ...emptyValues, systemId },
    kinds,
    valuesOf,
    read: (present) => readMemory(present.id),
    onDirty,
  });
  const { values, errorAt } = form;
  /** What is there already and says nearly the same as a new memory. */
  const [near, setNear] = useState<Near>();
  const set: typeof form.set = (changes, paths) => {
    // Another hint, or one for something else, may be like none.
    if ("hint" in changes || "systemId" in changes) setNear(undefined);
    form.set(changes, paths);
  };
  const forSystem = values.systemId !== "";
  const mayAlways = !forSystem || can("catalog.system.manage");
  const submit = async (instead?: Near) => {
    setNear(undefined);
    const saved = await form.submit(problems(values), async (present) => {
      const draft = draftOf(values, present ?? instead?.memory, mayAlways);
      if (present || instead) return save.mutateAsync(draft);
      try {
        return await save.mutateAsync({ ...draft, onlyNew: true });
      } catch (error) {
        const hint = nearHint(error);
        if (hint === undefined) throw error;
        setNear({ hint, memory: await memoryOfHint(hint, values.systemId).catch(() => undefined) });
        return undefined;
      }
    });
    if (!saved) return;
    toast(memory ? "Changes saved" : saved.updated ? "Memory replaced" : "Memory saved");
    onSaved();
  };
  const idOf = (path: string) => {
    const root = path === "scope" ? "systemId" : path.replace(/[.[].*/, "");
    return labelOf(root) ? `${id}-${root}` : undefined;
  };
  return (
    <form
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FormErrors error={form.fault} isCorrected={form.isCorrected} fieldIds={idOf} labels={labelOf} />
      {form.newer ? <ChangedMeanwhile noun="memory" changes={form.changes} otherwise="What it says is the same." onGoOn={form.goOn} /> : null}
      {near ? <NearMemory near={near} onReplace={() => void submit(near)} /> : null}
      <Field label="For" id={`${id}-systemId`} error={errorAt("systemId") ?? errorAt("scope")} help={forSystem ? "Seen by everybody who may see this system." : "Seen by nobody else."}>
        {(control) => (
          <Select {...control} value={values.systemId} disabled={memory !== undefined} onChange={(event) => set({ systemId: event.target.value }, ["systemId", "scope"])}>
            <option value="">Only me</option>
            {forSystem && !systems.some((system) => system.id === values.systemId) ? <option value={values.systemId}>{memory?.systemName ?? "A system"}</option> : null}
            {systems.map((system) => (
              <option key={system.id} value={system.id}>
                {system.name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="When it matters" id={`${id}-recallHint`} required error={errorAt("recallHint")} help="One line, with the words one would search for.">
        {(control) => <Input {...control} required maxLength={200} value={values.hint} onChange={(event) => set({ hint: event.target.value })} />}
      </Field>
      <Field label="What to know then" id={`${id}-content`} required error={errorAt("content")} help="Up to 2,000 characters. No passwords, keys or tokens: what looks like one is refused, because models read this again and again.">
        {(control) => <Textarea {...control} required rows={5} maxLength={2000} value={values.content} onChange={(event) => set({ content: event.target.value })} />}
      </Field>
      <Field label="Tags" id={`${id}-tags`} error={errorAt("tags")} help="Separated by commas.">
        {(control) => <Input {...control} value={values.tags} onChange={(event) => set({ tags: event.target.value })} />}
      </Field>
      {mayAlways ? (
        <Checkbox id={`${id}-alwaysInject`} label="Part of every conversation, without a search. Only for lasting preferences." checked={values.always} onChange={(event) => set({ always: event.target.checked })} />
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={leave}>Cancel</Button>
        <Button type="submit" look="primary" busy={form.busy} disabled={form.newer !== undefined || (memory !== undefined && !form.dirty)}>
          {memory ? "Save changes" : "Save memory"}
        </Button>
      </div>
    </form>
  );
}

/** Two memories that say nearly the same are not kept: the person decides which one it is. */
function NearMemory({ near, onReplace }: { near: Near; onReplace: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div ref={box} role="alert" tabIndex={-1} className="rounded-[8px] border border-degraded/40 bg-degraded-soft px-4 py-3 text-degraded-ink outline-none">
      <p className="font-medium break-words">
        There is a memory for nearly the same already: “<bdi>{near.hint}</bdi>”
      </p>
      {near.memory ? (
        <p dir="auto" className="mt-1 line-clamp-4 break-words whitespace-pre-wrap">
          {near.memory.content}
        </p>
      ) : null}
      <p className="mt-1 text-sm">Write another hint to keep both, or let yours take its place.</p>
      <Button size="sm" className="mt-3" onClick={onReplace}>
        Replace that memory
      </Button>
    </div>
  );
}
