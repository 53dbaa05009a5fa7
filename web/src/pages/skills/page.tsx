import { BookOpen, Copy, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { FormDialog } from "@/app/form-dialog";
import { useCan } from "@/app/session";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock, SkeletonRows, toast } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { Page, Section } from "@/ui/page";
import { SearchParam } from "@/ui/search-param";
import { Badge } from "@/ui/state";
import { useDeleteSkill, useSkill, useSkills, type Skill } from "./api";
import { targets } from "./draft";
import { SkillForm } from "./form";

function matches(skill: Skill, query: string): boolean {
  const text = [skill.name, skill.description, skill.ownerName ?? "", ...(skill.tags ?? [])].join("\n").toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export function Component() {
  const can = useCan();
  const [params, setParams] = useSearchParams();
  const set = (key: string, value: string) =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        if (value === "") next.delete(key);
        else next.set(key, value);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  const skills = useSkills();
  const remove = useDeleteSkill();
  const [form, setForm] = useState<{ skill: Skill | undefined; copy: boolean }>();
  const [removing, setRemoving] = useState<Skill>();
  const target = targets.find((each) => each.value === params.get("target"))?.value;
  const query = (params.get("q") ?? "").trim();
  const openId = params.get("skill") ?? "";
  const all = skills.data?.skills ?? [];
  const shown = all.filter((skill) => (target === undefined || (skill.targets ?? []).includes(target)) && matches(skill, query));
  const own = shown.filter((skill) => skill.source === "user");
  const builtin = shown.filter((skill) => skill.source === "builtin");
  const narrowed = target !== undefined || query !== "";
  const create = can("ai.skill-create.manage");

  return (
    <Page
      title="Skills"
      width="narrow"
      description="Ways of working for the assistant: what to look at, in which order, and how to answer."
      actions={
        create ? (
          <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setForm({ skill: undefined, copy: false })}>
            New skill
          </Button>
        ) : null
      }
    >
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <SearchParam label="Search skills" className="min-w-[200px] flex-1 basis-[240px]" />
        <Select aria-label="Used in" className="w-auto!" value={target ?? ""} onChange={(event) => set("target", event.target.value)}>
          <option value="">Used anywhere</option>
          {targets.map((each) => (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          ))}
        </Select>
      </div>
      {skills.isPending ? <SkeletonRows /> : null}
      {skills.isError && !skills.data ? <ErrorState title="The skills could not be loaded" error={skills.error} onRetry={() => void skills.refetch()} /> : null}
      {skills.data && narrowed && shown.length === 0 ? (
        <div className="card">
          <EmptyState title="No skill matches" action={<Button onClick={() => setParams({}, { replace: true })}>Clear filters</Button>} />
        </div>
      ) : null}
      {skills.data && (own.length > 0 || !narrowed) ? (
        <Section title="Published here" description="Everybody can use them; their authors and administrators change them.">
          {own.length > 0 ? (
            <List skills={own} label="Published here" onOpen={(skill) => set("skill", skill.id)} />
          ) : (
            <div className="card">
              <EmptyState icon={<BookOpen aria-hidden size={28} />} title="Nobody has published a skill yet" action={create ? <Button look="primary" onClick={() => setForm({ skill: undefined, copy: false })}>Write a skill</Button> : null}>
                Write down once how your team triages or reports, and choose it for a message.
              </EmptyState>
            </div>
          )}
        </Section>
      ) : null}
      {builtin.length > 0 ? (
        <Section title="Built in" description="They come with Checkstack and stay as they are.">
          <List skills={builtin} label="Built in" onOpen={(skill) => set("skill", skill.id)} />
        </Section>
      ) : null}
      <SkillPanel
        id={openId}
        known={all.find((skill) => skill.id === openId)}
        close={() => set("skill", "")}
        onCopy={create ? (skill) => setForm({ skill, copy: true }) : undefined}
        onEdit={(skill) => setForm({ skill, copy: false })}
        onRemove={setRemoving}
      />
      <FormDialog open={form !== undefined} onClose={() => setForm(undefined)} title={form?.skill && !form.copy ? `Edit ${form.skill.name}` : "New skill"} wide>
        {(parts) => (
          <SkillForm
            {...parts}
            skill={form?.skill}
            copy={form?.copy ?? false}
            onSaved={(skill) => {
              setForm(undefined);
              set("skill", skill.id);
            }}
          />
        )}
      </FormDialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the skill “${removing?.name ?? ""}”?`}
        action="Delete skill"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          set("skill", "");
          toast(`${removing.name} deleted`);
        }}
      >
        Nobody can choose it any more. Conversations that used it stay.
      </ConfirmDialog>
    </Page>
  );
}

function List({ skills, label, onOpen }: { skills: Skill[]; label: string; onOpen: (skill: Skill) => void }) {
  return (
    <ul aria-label={label} className="card divide-y divide-line">
      {skills.map((skill) => (
        <li key={skill.id}>
          <button type="button" className="group block w-full px-4 py-3 text-left hover:bg-raised/50" onClick={() => onOpen(skill)}>
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <bdi className="font-medium break-words group-hover:underline">{skill.name}</bdi>
              {(skill.targets ?? []).map((value) => (
                <Badge key={value}>{targets.find((each) => each.value === value)?.label ?? value}</Badge>
              ))}
            </span>
            <span dir="auto" className="mt-0.5 block break-words text-ink-2">
              {skill.description}
            </span>
            {skill.ownerName || skill.updatedAt ? (
              <span className="mt-0.5 block text-sm text-ink-3">
                {skill.ownerName ? (
                  <>
                    by <bdi>{skill.ownerName}</bdi>
                  </>
                ) : (
                  "by a deleted account"
                )}
                {skill.updatedAt ? (
                  <>
                    , changed <RelativeTime at={skill.updatedAt} />
                  </>
                ) : null}
              </span>
            ) : null}
          </button>
        </li>
      ))}
    </ul>
  );
}

function SkillPanel({ id, known, close, onCopy, onEdit, onRemove }: { id: string; known: Skill | undefined; close: () => void; onCopy: ((skill: Skill) => void) | undefined; onEdit: (skill: Skill) => void; onRemove: (skill: Skill) => void }) {
  const loaded = useSkill(id, id !== "");
  const skill = loaded.data ?? known;
  return (
    <Dialog open={id !== ""} onOpenChange={(open) => (open ? undefined : close())} title={skill?.name ?? "Skill"} description={skill?.description} wide>
      {loaded.isError && !skill ? <ErrorState title="This skill could not be loaded" error={loaded.error} onRetry={() => void loaded.refetch()} /> : null}
      {!skill && loaded.isPending ? <SkeletonBlock className="h-48" /> : null}
      {skill ? (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <p className="flex flex-wrap gap-1.5">
            {(skill.targets ?? []).map((value) => (
              <Badge key={value}>{targets.find((each) => each.value === value)?.label ?? value}</Badge>
            ))}
            {(skill.tags ?? []).map((tag) => (
              <Badge key={tag} tone="accent">
                <bdi>{tag}</bdi>
              </Badge>
            ))}
          </p>
          <Text title="Guidance" text={skill.systemPrompt} />
          <Text title="Text to begin with" text={skill.promptTemplate} />
          {(skill.suggestedOutputFields ?? []).length > 0 ? (
            <section aria-label="Fields of a structured answer">
              <h3 className="mb-1 text-sm font-medium">Fields of a structured answer</h3>
              <dl className="grid gap-1">
                {(skill.suggestedOutputFields ?? []).map((field) => (
                  <div key={field.key} className="flex flex-wrap gap-x-2">
                    <dt>
                      <code className="font-mono text-sm">{field.key}</code> <span className="text-sm text-ink-3">{field.type === "enum" ? `one of ${(field.options ?? []).join(", ")}` : field.type}</span>
                    </dt>
                    <dd dir="auto" className="text-ink-2">
                      {field.description}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ) : null}
          <div className="flex flex-wrap justify-end gap-2">
            {onCopy ? (
              <Button icon={<Copy aria-hidden size={15} />} onClick={() => onCopy(skill)}>
                Copy to a new skill
              </Button>
            ) : null}
            {skill.canEdit ? (
              <>
                <Button icon={<Trash2 aria-hidden size={15} />} onClick={() => onRemove(skill)}>
                  Delete
                </Button>
                <Button look="primary" icon={<Pencil aria-hidden size={15} />} onClick={() => onEdit(skill)}>
                  Edit
                </Button>
              </>
            ) : null}
          </div>
        </div>
      ) : null}
    </Dialog>
  );
}

function Text({ title, text }: { title: string; text: string | undefined }) {
  if (!text) return null;
  return (
    <section aria-label={title}>
      <h3 className="mb-1 text-sm font-medium">{title}</h3>
      {/* Long texts scroll, so the keyboard needs a way in. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div tabIndex={0} role="region" aria-label={`${title}, text`} dir="auto" className="max-h-72 overflow-auto rounded-[8px] bg-raised p-3 break-words whitespace-pre-wrap">
        {text}
      </div>
    </section>
  );
}
