import { Brain, Pencil, Pin, PinOff, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { FormDialog } from "@/app/form-dialog";
import { useCan } from "@/app/session";
import { SystemFilter } from "@/pages/catalog/system-filter";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonRows, toast, toastError } from "@/ui/feedback";
import { Select } from "@/ui/field";
import { LongText } from "@/ui/long-text";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { SearchParam } from "@/ui/search-param";
import { Badge } from "@/ui/state";
import { useDeleteMemory, useMemories, useSetAlwaysInject, type Memory } from "./api";
import { matches } from "./find";
import { MemoryForm } from "./form";

type Kind = "" | "mine" | "system" | "always";

const kinds: { value: Kind; label: string }[] = [
  { value: "", label: "All memories" },
  { value: "mine", label: "Only for me" },
  { value: "system", label: "About systems" },
  { value: "always", label: "In every conversation" },
];

function isKind(memory: Memory, kind: Kind): boolean {
  if (kind === "mine") return memory.scope === "user";
  if (kind === "system") return memory.scope === "system";
  return kind === "" || memory.alwaysInject;
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
  const systemId = params.get("system") ?? "";
  const kind = kinds.find((each) => each.value === params.get("show"))?.value ?? "";
  const query = params.get("q") ?? "";
  const memories = useMemories(systemId);
  const pin = useSetAlwaysInject();
  const remove = useDeleteMemory();
  const [form, setForm] = useState<Memory | "new">();
  const [removing, setRemoving] = useState<Memory>();
  const all = memories.data?.memories ?? [];
  const shown = all.filter((memory) => isKind(memory, kind) && matches(memory, query.trim()));
  const narrowed = systemId !== "" || kind !== "" || query.trim() !== "";
  const manage = can("ai.memory.manage");

  return (
    <Page
      title="Memories"
      width="narrow"
      description="What the assistant keeps in mind: for you alone, or about a system for everybody who may see it. Text that looks like a password, key or token is refused."
      actions={
        manage ? (
          <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setForm("new")}>
            New memory
          </Button>
        ) : null
      }
    >
      {all.length > 0 || narrowed ? (
        <div className="mb-4 flex flex-wrap items-center gap-2">
          <SearchParam label="Search memories" className="min-w-[200px] flex-1 basis-[240px]" />
          <Select aria-label="Show" className="w-auto!" value={kind} onChange={(event) => set("show", event.target.value)}>
            {kinds.map((each) => (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            ))}
          </Select>
          {can("catalog.system.read") ? <SystemFilter value={systemId} onChange={(value) => set("system", value)} /> : null}
          {narrowed ? (
            <Button look="quiet" onClick={() => setParams({}, { replace: true })}>
              Clear filters
            </Button>
          ) : null}
        </div>
      ) : null}
      {memories.isPending ? <SkeletonRows /> : null}
      {memories.isError && !memories.data ? <ErrorState title="The memories could not be loaded" error={memories.error} onRetry={() => void memories.refetch()} /> : null}
      {memories.data && shown.length === 0 ? (
        <div className="card">
          {narrowed ? (
            <EmptyState title="No memory matches" action={<Button onClick={() => setParams({}, { replace: true })}>Clear filters</Button>} />
          ) : (
            <EmptyState icon={<Brain aria-hidden size={28} />} title="No memories yet" action={manage ? <Button look="primary" onClick={() => setForm("new")}>Save a memory</Button> : null}>
              Tell the assistant “remember that …”, or write one down here. It recalls a memory when its hint fits what is talked about.
            </EmptyState>
          )}
        </div>
      ) : null}
      {shown.length > 0 ? (
        <Reveal items={shown} step={50} noun="memories" className="mt-3 flex justify-center">
          {(part) => (
            <ul aria-label="Memories" className="card divide-y divide-line">
              {part.map((memory) => (
                <li key={memory.id} className="flex items-start gap-3 px-4 py-3">
                  <div className="min-w-0 flex-1">
                    <h2 dir="auto" className="font-medium break-words">
                      {memory.recallHint}
                    </h2>
                    <LongText text={memory.content} className="mt-0.5 text-ink-2" />
                    <p className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-3">
                      {memory.scope === "user" ? (
                        <Badge>only you</Badge>
                      ) : (
                        <Link className="link" to={`/catalog/system/${memory.systemId ?? ""}`}>
                          <bdi>{memory.systemName ?? "A system"}</bdi>
                        </Link>
                      )}
                      {memory.alwaysInject ? <Badge tone="accent">in every conversation</Badge> : null}
                      {(memory.tags ?? []).map((tag) => (
                        <Badge key={tag}>
                          <bdi>{tag}</bdi>
                        </Badge>
                      ))}
                      <span>
                        changed <RelativeTime at={memory.updatedAt} />
                      </span>
                    </p>
                  </div>
                  {memory.canEdit || memory.canManage ? (
                    <RowMenu label={`Actions for ${memory.recallHint}`}>
                      {memory.canEdit ? (
                        <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => setForm(memory)}>
                          Edit
                        </MenuItem>
                      ) : null}
                      {memory.canManage ? (
                        <>
                          <MenuItem
                            icon={memory.alwaysInject ? <PinOff aria-hidden size={15} /> : <Pin aria-hidden size={15} />}
                            onSelect={() =>
                              pin.mutate(
                                { id: memory.id, alwaysInject: !memory.alwaysInject },
                                { onSuccess: () => toast(memory.alwaysInject ? "Recalled only when it fits" : "Part of every conversation"), onError: toastError },
                              )
                            }
                          >
                            {memory.alwaysInject ? "Recall only when it fits" : "Make part of every conversation"}
                          </MenuItem>
                          <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(memory)}>
                            Delete
                          </MenuItem>
                        </>
                      ) : null}
                    </RowMenu>
                  ) : null}
                </li>
              ))}
            </ul>
          )}
        </Reveal>
      ) : null}
      {memories.data && memories.data.total > all.length ? (
        <p className="mt-3 text-center text-sm text-ink-3">
          The {all.length.toLocaleString()} changed last, of {memories.data.total.toLocaleString()}.
        </p>
      ) : null}
      <FormDialog open={form !== undefined} onClose={() => setForm(undefined)} title={form === "new" ? "New memory" : "Edit memory"}>
        {(parts) => <MemoryForm {...parts} memory={form === "new" ? undefined : form} systemId={systemId} onSaved={() => setForm(undefined)} />}
      </FormDialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the memory “${removing?.recallHint ?? ""}”?`}
        action="Delete memory"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast("Memory deleted");
        }}
      >
        {removing?.scope === "system" ? "The assistant forgets it for everybody who may see the system." : "The assistant forgets it."}
      </ConfirmDialog>
    </Page>
  );
}
