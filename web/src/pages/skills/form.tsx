import { Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { issuesByPath } from "@/api/errors";
import { Button, IconButton } from "@/ui/button";
import { toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input, Select, Textarea } from "@/ui/field";
import { useCreateSkill, useUpdateSkill, type Skill } from "./api";
import { changeOf, draftOf, emptyValues, targets, valuesOf, type FieldRow, type Values } from "./draft";

/** copy: begins with the content of another skill, but makes a new one. */
export function SkillForm({ skill, copy = false, close, onSaved }: { skill: Skill | undefined; copy?: boolean; close: () => void; onSaved: (skill: Skill) => void }) {
  const id = useId();
  const create = useCreateSkill();
  const update = useUpdateSkill();
  const editing = skill !== undefined && !copy;
  const [values, setValues] = useState<Values>(skill ? { ...valuesOf(skill), name: copy ? `Copy of ${skill.name}`.slice(0, 100) : skill.name } : emptyValues);
  const set = (change: Partial<Values>) => setValues((current) => ({ ...current, ...change }));
  const error = create.error ?? update.error;
  const errors = issuesByPath(error);
  const save = async () => {
    const saved = editing ? await update.mutateAsync(changeOf(skill, values)) : await create.mutateAsync(draftOf(values));
    toast(editing ? "Changes saved" : "Skill published");
    onSaved(saved);
  };
  const setRow = (at: number, change: Partial<FieldRow>) => set({ fields: values.fields.map((row, i) => (i === at ? { ...row, ...change } : row)) });
  return (
    <form
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save().catch(() => undefined);
      }}
    >
      <FormErrors
        error={error}
        fieldIds={{ name: `${id}-name`, description: `${id}-description`, targets: `${id}-targets`, systemPrompt: `${id}-prompt`, promptTemplate: `${id}-template`, tags: `${id}-tags` }}
        labels={{ name: "Name", description: "What it is good for", targets: "Used in", systemPrompt: "Guidance", promptTemplate: "Text to begin with", tags: "Tags" }}
      />
      <Field label="Name" id={`${id}-name`} required error={errors.name}>
        {(control) => <Input {...control} required maxLength={100} value={values.name} onChange={(event) => set({ name: event.target.value })} />}
      </Field>
      <Field label="What it is good for" id={`${id}-description`} required error={errors.description}>
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
        {errors.targets ? <p className="mt-1 text-sm text-unhealthy-ink">{errors.targets}</p> : null}
      </fieldset>
      <Field label="Guidance" id={`${id}-prompt`} error={errors.systemPrompt} help="How to work and how to answer. It gives the assistant no further rights. Up to 8,000 characters.">
        {(control) => <Textarea {...control} rows={7} maxLength={8000} value={values.systemPrompt} onChange={(event) => set({ systemPrompt: event.target.value })} />}
      </Field>
      <Field label="Text to begin with" id={`${id}-template`} error={errors.promptTemplate} help="Put before what somebody writes. Guidance, this, or both are needed.">
        {(control) => <Textarea {...control} rows={3} maxLength={4000} value={values.promptTemplate} onChange={(event) => set({ promptTemplate: event.target.value })} />}
      </Field>
      <Field label="Tags" id={`${id}-tags`} error={errors.tags} help="Separated by commas.">
        {(control) => <Input {...control} value={values.tags} onChange={(event) => set({ tags: event.target.value })} />}
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Fields of a structured answer</legend>
        <div className="grid gap-3">
          {values.fields.map((row, i) => (
            <div key={i} role="group" aria-label={`Field ${i + 1}`} className="grid gap-2 rounded-[8px] border border-line p-3 sm:grid-cols-[1fr_120px_2fr_auto] sm:items-end">
              <Field label="Key" error={errors[`suggestedOutputFields[${i}].key`]}>
                {(control) => <Input {...control} required maxLength={50} pattern="[a-z][a-zA-Z0-9_]*" title="A lower-case letter, then letters, digits or underscores" value={row.key} onChange={(event) => setRow(i, { key: event.target.value })} />}
              </Field>
              <Field label="Type" error={errors[`suggestedOutputFields[${i}].type`]}>
                {(control) => (
                  <Select {...control} value={row.type} onChange={(event) => setRow(i, { type: event.target.value as FieldRow["type"] })}>
                    <option value="string">Text</option>
                    <option value="number">Number</option>
                    <option value="boolean">Yes or no</option>
                    <option value="enum">One of</option>
                  </Select>
                )}
              </Field>
              <Field label="Meaning" error={errors[`suggestedOutputFields[${i}].description`]}>
                {(control) => <Input {...control} maxLength={300} value={row.description} onChange={(event) => setRow(i, { description: event.target.value })} />}
              </Field>
              <IconButton label={`Remove field ${i + 1}`} onClick={() => set({ fields: values.fields.filter((_, at) => at !== i) })}>
                <Trash2 aria-hidden size={16} />
              </IconButton>
              {row.type === "enum" ? (
                <Field label="Values, separated by commas" className="sm:col-span-3" error={errors[`suggestedOutputFields[${i}].options`]}>
                  {(control) => <Input {...control} required value={row.options} onChange={(event) => setRow(i, { options: event.target.value })} />}
                </Field>
              ) : null}
            </div>
          ))}
        </div>
        {values.fields.length < 20 ? (
          <Button size="sm" className="mt-2" icon={<Plus aria-hidden size={14} />} onClick={() => set({ fields: [...values.fields, { key: "", type: "string", description: "", options: "" }] })}>
            Add a field
          </Button>
        ) : null}
      </fieldset>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={create.isPending || update.isPending}>
          {editing ? "Save changes" : "Publish skill"}
        </Button>
      </div>
    </form>
  );
}
