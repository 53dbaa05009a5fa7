import { useId, useState } from "react";
import { ApiError, issuesByPath } from "@/api/errors";
import { useCan } from "@/app/session";
import { useEntities } from "@/pages/catalog/api";
import { Button } from "@/ui/button";
import { toast } from "@/ui/feedback";
import { Checkbox, Field, FormErrors, Input, Select, Textarea } from "@/ui/field";
import { useSaveMemory, type Draft, type Memory } from "./api";
import { readTags } from "./find";

export function MemoryForm({ memory, close }: { memory: Memory | undefined; close: () => void }) {
  const can = useCan();
  const id = useId();
  const save = useSaveMemory();
  const entities = useEntities(can("catalog.system.read"));
  const systems = entities.data?.systems ?? [];
  const [systemId, setSystemId] = useState(memory?.systemId ?? "");
  const [hint, setHint] = useState(memory?.recallHint ?? "");
  const [content, setContent] = useState(memory?.content ?? "");
  const [tags, setTags] = useState((memory?.tags ?? []).join(", "));
  const [always, setAlways] = useState(memory?.alwaysInject ?? false);
  const errors = issuesByPath(save.error);
  const forSystem = systemId !== "";
  const mayAlways = !forSystem || can("catalog.system.manage");
  const submit = async () => {
    const draft: Draft = {
      scope: forSystem ? "system" : "user",
      ...(forSystem ? { systemId } : {}),
      recallHint: hint.trim(),
      content: content.trim(),
      tags: readTags(tags),
      ...(mayAlways ? { alwaysInject: always } : {}),
      ...(memory ? { replaces: memory.id, version: memory.version } : {}),
    };
    const { updated } = await save.mutateAsync(draft);
    toast(memory ? "Changes saved" : updated ? "A memory with nearly the same hint was changed" : "Memory saved");
    close();
  };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit().catch(() => undefined);
      }}
    >
      <FormErrors error={save.error} fieldIds={{ recallHint: `${id}-hint`, content: `${id}-content`, tags: `${id}-tags`, systemId: `${id}-system` }} labels={{ recallHint: "When it matters", content: "What to know then", tags: "Tags", systemId: "For" }} />
      {save.error instanceof ApiError && save.error.status === 409 && memory ? <p className="text-sm text-ink-2">Your text is kept here. Close this, look at the newer memory, and change it again.</p> : null}
      <Field label="For" id={`${id}-system`} error={errors.systemId ?? errors.scope} help={forSystem ? "Seen by everybody who may see this system." : "Seen by nobody else."}>
        {(control) => (
          <Select {...control} value={systemId} disabled={memory !== undefined} onChange={(event) => setSystemId(event.target.value)}>
            <option value="">Only me</option>
            {memory?.systemId && !systems.some((system) => system.id === memory.systemId) ? <option value={memory.systemId}>{memory.systemName ?? "A system"}</option> : null}
            {systems.map((system) => (
              <option key={system.id} value={system.id}>
                {system.name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="When it matters" id={`${id}-hint`} required error={errors.recallHint} help="One line, with the words one would search for.">
        {(control) => <Input {...control} required maxLength={200} value={hint} onChange={(event) => setHint(event.target.value)} />}
      </Field>
      <Field label="What to know then" id={`${id}-content`} required error={errors.content} help="Up to 2,000 characters. No passwords, and nothing that can be looked up.">
        {(control) => <Textarea {...control} required rows={5} maxLength={2000} value={content} onChange={(event) => setContent(event.target.value)} />}
      </Field>
      <Field label="Tags" id={`${id}-tags`} error={errors.tags} help="Separated by commas.">
        {(control) => <Input {...control} value={tags} onChange={(event) => setTags(event.target.value)} />}
      </Field>
      {mayAlways ? <Checkbox label="Part of every conversation, without a search. Only for lasting preferences." checked={always} onChange={(event) => setAlways(event.target.checked)} /> : null}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={save.isPending}>
          {memory ? "Save changes" : "Save memory"}
        </Button>
      </div>
    </form>
  );
}
