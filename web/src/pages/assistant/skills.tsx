import { BookOpen, Search, X } from "lucide-react";
import { useRef, useState } from "react";
import { useCan } from "@/app/session";
import { Button, IconButton, LinkButton } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock } from "@/ui/feedback";
import { useSkills, type Skill } from "./api";

/** The button beside Send that opens the catalog of skills. */
export function SkillButton({ skill, onSkill, onPicked }: { skill: Skill | undefined; onSkill: (skill: Skill) => void; onPicked: () => void }) {
  const can = useCan();
  const [open, setOpen] = useState(false);
  const picked = useRef(false);
  const takeFocus = () => {
    const go = picked.current;
    picked.current = false;
    if (go) onPicked();
    return go;
  };
  if (!can("ai.skill.read")) return null;
  return (
    <>
      <IconButton label={skill ? "Choose another skill" : "Choose a skill"} onClick={() => setOpen(true)}>
        <BookOpen aria-hidden size={17} />
      </IconButton>
      <Dialog open={open} onOpenChange={setOpen} title="Skills" description="A skill guides how the assistant works on what you ask. It gives no further rights." wide takeFocus={takeFocus}>
        <Catalog
          active={skill}
          onPick={(next) => {
            onSkill(next);
            picked.current = true;
            setOpen(false);
          }}
        />
      </Dialog>
    </>
  );
}

function Catalog({ active, onPick }: { active: Skill | undefined; onPick: (skill: Skill) => void }) {
  const skills = useSkills(true);
  const [filter, setFilter] = useState("");
  if (skills.isPending) return <SkeletonBlock className="h-40" />;
  if (skills.isError) return <ErrorState title="The skills could not be loaded" error={skills.error} onRetry={() => void skills.refetch()} />;
  const list = skills.data.skills ?? [];
  if (list.length === 0) {
    return (
      <EmptyState title="There are no skills yet" action={<LinkButton to="/ai/skills">Go to skills</LinkButton>}>
        Somebody who may publish skills can write one.
      </EmptyState>
    );
  }
  const wanted = filter.trim().toLowerCase();
  const shown = list.filter((each) => wanted === "" || [each.name, each.description, ...(each.tags ?? [])].some((text) => text.toLowerCase().includes(wanted)));
  return (
    <>
      <div className="relative">
        <Search aria-hidden size={16} className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-ink-3" />
        <input type="search" aria-label="Find a skill" placeholder="Find a skill" className="control w-full pl-9!" value={filter} onChange={(event) => setFilter(event.target.value)} />
      </div>
      {shown.length === 0 ? <p className="mt-4 text-ink-2">No skill has this in its name, description or tags.</p> : null}
      <ul aria-label="Skills" className="mt-3 grid gap-2 sm:grid-cols-2">
        {shown.map((each) => (
          <li key={each.id}>
            <button type="button" aria-pressed={each.id === active?.id} onClick={() => onPick(each)} className="card h-full w-full px-3.5 py-2.5 text-left hover:border-line-strong aria-pressed:border-accent-ink">
              <bdi className="block font-medium break-words">{each.name}</bdi>
              <bdi className="mt-0.5 block break-words text-ink-2">{each.description}</bdi>
              <span className="mt-1 block text-sm break-words text-ink-3">
                {each.source === "builtin" ? "Comes with Checkstack" : `By ${each.ownerName ?? "a colleague"}`}
                {each.tags && each.tags.length > 0 ? <bdi> · {each.tags.join(", ")}</bdi> : null}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Says which skill guides the coming messages. */
export function SkillBanner({ skill, builtin, onOff }: { skill: Skill; builtin: boolean; onOff: () => void }) {
  return (
    <div className="mx-auto w-full max-w-[820px] px-3 pb-2 md:px-6">
      <div role="group" aria-label="Active skill" className="flex items-center gap-2.5 rounded-[8px] border border-line bg-raised px-3 py-1.5">
        <BookOpen aria-hidden size={15} className="shrink-0 text-accent-ink" />
        <p className="min-w-0 flex-1 text-sm break-words text-ink-2">
          <bdi className="font-medium text-ink">{skill.name}</bdi>
          {": "}
          {builtin ? "the built-in assistant follows no skills; choose a language model." : <bdi>{skill.description}</bdi>}
        </p>
        <Button size="sm" look="quiet" icon={<X aria-hidden size={14} />} onClick={onOff}>
          Switch off
        </Button>
      </div>
    </div>
  );
}
