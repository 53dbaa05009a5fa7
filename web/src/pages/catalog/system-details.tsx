import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useCan } from "@/app/session";
import type { SystemBlockProps } from "@/app/slots";
import { Button, IconButton } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { toastError } from "@/ui/feedback";
import { Field, FormErrors, Input } from "@/ui/field";
import { Section } from "@/ui/page";
import { useAddLink, useRemoveLink, useSystem } from "./api";

/** Links and custom fields of a system. */
export default function SystemDetails({ systemId }: SystemBlockProps) {
  const can = useCan();
  const manage = can("catalog.system.manage");
  const system = useSystem(systemId);
  const removeLink = useRemoveLink();
  const [adding, setAdding] = useState(false);
  if (!system.data) return null;
  const links = system.data.links ?? [];
  const fields = Object.entries(system.data.metadata ?? {});
  if (!manage && links.length + fields.length === 0) return null;
  return (
    <Section
      title="Details"
      actions={
        manage ? (
          <Button size="sm" icon={<Plus aria-hidden size={14} />} onClick={() => setAdding(true)}>
            Add link
          </Button>
        ) : null
      }
    >
      <dl className="card divide-y divide-line">
        <Row label="Links">
          {links.length === 0 ? <span className="text-ink-3">None</span> : null}
          {links.map((link) => (
            <Item key={link.id} remove={manage ? { label: `Remove link ${link.label}`, run: () => removeLink.mutate({ systemId, id: link.id }, { onError: toastError }) } : undefined}>
              <a href={link.url} target="_blank" rel="noopener noreferrer" className="link">
                {link.label}
              </a>{" "}
              <span className="break-all text-ink-3">{link.url}</span>
            </Item>
          ))}
        </Row>
        {fields.map(([key, value]) => (
          <Row key={key} label={key} mono>
            <span className="font-mono text-sm break-all">{typeof value === "string" ? value : JSON.stringify(value)}</span>
          </Row>
        ))}
        <Row label="Id">
          <span className="font-mono text-sm break-all text-ink-2">{systemId}</span>
        </Row>
      </dl>
      <Dialog open={adding} onOpenChange={setAdding} title="Add a link">
        <LinkForm systemId={systemId} close={() => setAdding(false)} />
      </Dialog>
    </Section>
  );
}

function Row({ label, mono = false, children }: { label: string; mono?: boolean; children: React.ReactNode }) {
  return (
    <div className="grid gap-x-4 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[160px_1fr]">
      <dt className={mono ? "font-mono text-sm break-all text-ink-3" : "text-ink-3"}>{label}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

function Item({ children, remove }: { children: React.ReactNode; remove: { label: string; run: () => void } | undefined }) {
  return (
    <div className="flex min-h-8 items-center gap-2">
      <span className="min-w-0 flex-1">{children}</span>
      {remove ? (
        <IconButton label={remove.label} className="size-8!" onClick={remove.run}>
          <Trash2 aria-hidden size={15} />
        </IconButton>
      ) : null}
    </div>
  );
}

function LinkForm({ systemId, close }: { systemId: string; close: () => void }) {
  const add = useAddLink();
  const [label, setLabel] = useState("");
  const [url, setUrl] = useState("");
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ systemId, label: label.trim(), url: url.trim() }, { onSuccess: close });
      }}
    >
      <FormErrors error={add.error} />
      <Field label="Label" required>
        {(control) => <Input {...control} required placeholder="Runbook" value={label} onChange={(event) => setLabel(event.target.value)} />}
      </Field>
      <Field label="URL" required>
        {(control) => <Input {...control} required type="url" placeholder="https://" value={url} onChange={(event) => setUrl(event.target.value)} />}
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={add.isPending}>
          Add link
        </Button>
      </div>
    </form>
  );
}
