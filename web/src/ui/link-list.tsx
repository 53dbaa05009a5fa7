import { ExternalLink, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { issuesByPath } from "@/api/errors";
import { Button, IconButton } from "./button";
import { Dialog } from "./dialog";
import { toastError } from "./feedback";
import { Field, FormErrors, Input } from "./field";
import { Section } from "./page";

export type LabelledLink = { id: string; label: string; url: string };

/** The address, when a click on it may leave for it. */
export function safeHref(url: string): string | undefined {
  return /^(https?:\/\/|mailto:)/i.test(url) && URL.canParse(url) ? url : undefined;
}

/** Labelled links that are stored and removed at once; absent when there are none and nobody may add one. */
export function LinkList({ links, manage, onAdd, onRemove }: { links: readonly LabelledLink[]; manage: boolean; onAdd: (link: { label: string; url: string }) => Promise<unknown>; onRemove: (id: string) => Promise<unknown> }) {
  const [adding, setAdding] = useState(false);
  if (links.length === 0 && !manage) return null;
  return (
    <Section
      title="Links"
      actions={
        manage ? (
          <Button size="sm" icon={<Plus aria-hidden size={14} />} onClick={() => setAdding(true)}>
            Add link
          </Button>
        ) : null
      }
    >
      {links.length === 0 ? (
        <p className="text-ink-3">No links yet. A runbook, a dashboard or a ticket helps whoever comes next.</p>
      ) : (
        <ul className="card divide-y divide-line">
          {links.map((link) => {
            const href = safeHref(link.url);
            return (
              <li key={link.id} className="flex min-h-11 items-center gap-2 py-1 pr-2 pl-4">
                <div className="min-w-0 flex-1">
                  {href ? (
                    <a href={href} target="_blank" rel="noopener noreferrer" className="link font-medium break-words">
                      <bdi>{link.label}</bdi> <ExternalLink aria-label="(opens in a new tab)" size={13} className="inline align-[-2px]" />
                    </a>
                  ) : (
                    <bdi className="font-medium break-words">{link.label}</bdi>
                  )}
                  <bdi className="block truncate text-sm text-ink-3" title={link.url}>
                    {link.url}
                  </bdi>
                </div>
                {manage ? (
                  <IconButton label={`Remove link ${link.label}`} onClick={() => void onRemove(link.id).catch(toastError)}>
                    <Trash2 aria-hidden size={15} />
                  </IconButton>
                ) : null}
              </li>
            );
          })}
        </ul>
      )}
      <Dialog open={adding} onOpenChange={setAdding} title="Add a link">
        <LinkForm onAdd={onAdd} close={() => setAdding(false)} />
      </Dialog>
    </Section>
  );
}

function LinkForm({ onAdd, close }: { onAdd: (link: { label: string; url: string }) => Promise<unknown>; close: () => void }) {
  const [label, setLabel] = useState("");
  const [url, setUrl] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const errors = issuesByPath(error);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onAdd({ label: label.trim(), url: url.trim() });
      close();
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FormErrors error={error} />
      <Field label="Label" required error={errors.label}>
        {(control) => <Input {...control} required placeholder="Runbook" value={label} onChange={(event) => setLabel(event.target.value)} />}
      </Field>
      <Field label="URL" required error={errors.url}>
        {(control) => <Input {...control} required type="url" placeholder="https://" value={url} onChange={(event) => setUrl(event.target.value)} />}
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={busy}>
          Add link
        </Button>
      </div>
    </form>
  );
}
