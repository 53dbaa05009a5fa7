import { Plus, Trash2 } from "lucide-react";
import { useId } from "react";
import type { FormDialogParts } from "@/app/form-dialog";
import { Button, IconButton } from "@/ui/button";
import { ChangedMeanwhile } from "@/ui/changed-meanwhile";
import { toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input, Select, Textarea } from "@/ui/field";
import { useRecordForm } from "@/ui/record-form";
import { readSkill, useCreateSkill, useUpdateSkill, type Skill } from "./api";
import { changeOf, draftOf, emptyValues, fieldTypes, kinds, labelOf, problems, targets, valuesOf, type FieldRow } from "./draft";

/** copy: begins with the content of another skill, but makes a new one. */
export function SkillForm({ skill, copy = false, leave, onDirty, onSaved }: FormDialogParts & { skill: Skill | undefined; copy?: boolean; onSaved: (skill: Skill) => void }) {
  const id = useId();
  const create = useCreateSkill();
  const update = useUpdateSkill();
  const editing = skill !== undefined && !copy;
  const form = useRecordForm({
    opened: editing ? skill : undefined,
    start: skill ? { ...valuesOf(skill), name: copy ? `Copy of ${skill.name}`.slice(0, 100) : skill.name } : emptyValues,
    kinds,
    valuesOf,
    read: (present) => readSkill(present.id),
    onDirty,
  });
  const { values, set, errorAt } = form;
  const save = async () => {
    const saved = await form.submit(problems(values), (present) => (present ? update.mutateAsync(changeOf(present, values)) : create.mutateAsync(draftOf(values))));
    if (!saved) return;
    toast(editing ? "Changes saved" : "Skill published");
    onSaved(saved);
  };
  const rowPath = (at: number) => `suggestedOutputFields[${at}]`;
  const rowId = (at: number, part: string) => `${id}-field-${at}-${part}`;
  const setRow = (at: number, change: Partial<FieldRow>) =>
    set(
      { fields: values.fields.map((row, i) => (i === at ? { ...row, ...change } : row)) },
      // What another type needs is another thing, so its faults go with the type.
      "type" in change ? [rowPath(at)] : Object.keys(change).map((part) => `${rowPath(at)}.${part}`),
    );
  const idOf = (path: string) => {
    const row = /^suggestedOutputFields\[(\d+)\]\.(\w+)/.exec(path);
    if (row) return rowId(Number(row[1]), row[2] ?? "");
    const root = path.replace(/[.[].*/, "");
    return labelOf(root) ? `${id}-${root}` : undefined;
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
      <FormErrors error={form.fault} isCorrected={form.isCorrected} fieldIds={idOf} labels={labelOf} />
      {form.newer ? <ChangedMeanwhile noun="skill" changes={form.changes} otherwise="What it says is the same." onGoOn={form.goOn} /> : null}
      <Field label="Name" id={`${id}-name`} required error={errorAt("name")}>
        {(control) => <Input {...control} required maxLength={100} value={values.name} onChange={(event) => set({ name: event.target.value })} />}
      </Field>
      <Field label="What it is good for" id={`${id}-description`} required error={errorAt("description")}>
        {(control) => <Input {...control} required maxLength={500} value={values.description} onChange={(event) => set({ description: event.target.value })} />}
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Used in</legend>
        <div className="grid gap-2">
          {targets.map((target, i) => (
            <Checkbox
              key={target.value}
              {...(i === 0 ? { id: `${id}-targets` } : {})}
              label={
                <>
                  {target.label} <span className="block text-sm text-ink-3">{target.help}</span>
                </>
              }
              checked={values.targets.includes(target.value)}
              onChange={(event) => set({ targets: targets.map((each) => each.value).filter((value) => (value === target.value ? event.target.checked : values.targets.includes(value))) })}
            />
          ))}
        </div>
        {errorAt("targets") ? <p className="mt-1 text-sm text-unhealthy-ink">{errorAt("targets")}</p> : null}
      </fieldset>
      <Field label="Guidance" id={`${id}-systemPrompt`} error={errorAt("systemPrompt")} help="How to work and how to answer. It gives the assistant no further rights. Up to 8,000 characters.">
        {(control) => <Textarea {...control} rows={7} maxLength={8000} value={values.systemPrompt} onChange={(event) => set({ systemPrompt: event.target.value })} />}
      </Field>
      <Field label="Text to begin with" id={`${id}-promptTemplate`} error={errorAt("promptTemplate")} help="Put before what somebody writes. Guidance, this, or both are needed.">
        {(control) => <Textarea {...control} rows={3} maxLength={4000} value={values.promptTemplate} onChange={(event) => set({ promptTemplate: event.target.value }, values.systemPrompt.trim() === "" ? ["promptTemplate", "systemPrompt"] : ["promptTemplate"])} />}
      </Field>
      <Field label="Tags" id={`${id}-tags`} error={errorAt("tags")} help="Separated by commas.">
        {(control) => <Input {...control} value={values.tags} onChange={(event) => set({ tags: event.target.value })} />}
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Fields of a structured answer</legend>
        <div className="grid gap-3">
          {values.fields.map((row, i) => (
            <div key={i} role="group" aria-label={`Field ${i + 1}`} className="grid gap-2 rounded-[8px] border border-line p-3 sm:grid-cols-[1fr_120px_2fr_auto] sm:items-end">
              <Field label="Key" required id={rowId(i, "key")} error={errorAt(`${rowPath(i)}.key`)}>
                {(control) => <Input {...control} required maxLength={50} value={row.key} onChange={(event) => setRow(i, { key: event.target.value })} />}
              </Field>
              <Field label="Type" id={rowId(i, "type")} error={errorAt(`${rowPath(i)}.type`)}>
                {(control) => (
                  <Select {...control} value={row.type} onChange={(event) => setRow(i, { type: event.target.value as FieldRow["type"] })}>
                    {Object.entries(fieldTypes).map(([value, label]) => (
                      <option key={value} value={value}>
                        {label}
                      </option>
                    ))}
                  </Select>
                )}
              </Field>
              <Field label="Meaning" id={rowId(i, "description")} error={errorAt(`${rowPath(i)}.description`)}>
                {(control) => <Input {...control} maxLength={300} value={row.description} onChange={(event) => setRow(i, { description: event.target.value })} />}
              </Field>
              <IconButton label={`Remove field ${i + 1}`} onClick={() => set({ fields: values.fields.filter((_, at) => at !== i) })}>
                <Trash2 aria-hidden size={16} />
              </IconButton>
              {row.type === "enum" ? (
                <Field label="Values, separated by commas" required className="sm:col-span-3" id={rowId(i, "options")} error={errorAt(`${rowPath(i)}.options`)}>
                  {(control) => <Input {...control} required value={row.options} onChange={(event) => setRow(i, { options: event.target.value })} />}
                </Field>
              ) : null}
            </div>
          ))}
        </div>
        {values.fields.length < 20 ? (
          <Button
            size="sm"
            className="mt-2"
            icon={<Plus aria-hidden size={14} />}
            onClick={() => set({ fields: [...values.fields, { key: "", type: "string", description: "", options: "" }] }, [rowPath(values.fields.length)])}
          >
            Add a field
          </Button>
        ) : null}
      </fieldset>
      <div className="flex justify-end gap-2">
        <Button onClick={leave}>Cancel</Button>
        <Button type="submit" look="primary" busy={form.busy} disabled={form.newer !== undefined || (editing && !form.dirty)}>
          {editing ? "Save changes" : "Publish skill"}
        </Button>
      </div>
    </form>
  );
}
