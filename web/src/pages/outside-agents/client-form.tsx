import { useId, useState } from "react";
import { issuesByPath } from "@/api/errors";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/feedback";
import { Field, FormErrors, Input, Select, Textarea } from "@/ui/field";
import { useAddClient, type NewClient } from "./api";
import { readLines } from "./snippets";

export type Made = { name: string; id: string; secret: string | undefined };

/** How a fault names the list of addresses, or one of them. */
const redirectPaths = ["redirectUris", ...Array.from({ length: 10 }, (_, i) => `redirectUris[${i}]`)];

export function ClientForm({ close, onMade }: { close: () => void; onMade: (made: Made) => void }) {
  const id = useId();
  const add = useAddClient();
  const [name, setName] = useState("");
  const [redirects, setRedirects] = useState("");
  const [method, setMethod] = useState<NonNullable<NewClient["authMethod"]>>("none");
  const errors = issuesByPath(add.error);
  const redirectError = Object.entries(errors).find(([path]) => path.startsWith("redirectUris"))?.[1];
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(
          { name: name.trim(), redirectUris: readLines(redirects), authMethod: method },
          { onSuccess: ({ client, clientSecret }) => onMade({ name: client.name, id: client.id, secret: clientSecret }) },
        );
      }}
    >
      <FormErrors error={add.error} fieldIds={{ name: `${id}-name`, ...Object.fromEntries(redirectPaths.map((path) => [path, `${id}-redirects`])) }} labels={{ name: "Name", ...Object.fromEntries(redirectPaths.map((path, i) => [path, i === 0 ? "Redirect addresses" : `Redirect address ${i}`])) }} />
      <Field label="Name" id={`${id}-name`} required error={errors.name} help="People see it when they are asked for access.">
        {(control) => <Input {...control} required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label="Redirect addresses" id={`${id}-redirects`} required error={redirectError} help="One a line, as the client’s manual names them: https, or http on this machine such as http://127.0.0.1/callback.">
        {(control) => <Textarea {...control} required spellCheck={false} className="font-mono text-sm" value={redirects} onChange={(event) => setRedirects(event.target.value)} />}
      </Field>
      <Field label="Secret" help="A program on somebody’s computer cannot keep one; a service can.">
        {(control) => (
          <Select {...control} value={method} onChange={(event) => setMethod(event.target.value as typeof method)}>
            <option value="none">No secret</option>
            <option value="client_secret_basic">Secret in the header (client_secret_basic)</option>
            <option value="client_secret_post">Secret in the body (client_secret_post)</option>
          </Select>
        )}
      </Field>
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={add.isPending}>
          Add client
        </Button>
      </div>
    </form>
  );
}

export function SecretView({ made, close }: { made: Made; close: () => void }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Value label="Client id" value={made.id} />
      {made.secret ? <Value label="Client secret" value={made.secret} /> : null}
      <div className="flex justify-end">
        <Button look="primary" onClick={close}>
          {made.secret ? "I have stored the secret" : "Done"}
        </Button>
      </div>
    </div>
  );
}

function Value({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <p className="mb-1 text-sm font-medium">{label}</p>
      <div className="flex items-center gap-2">
        <code aria-label={label} className="min-w-0 flex-1 rounded-[8px] border border-line bg-raised px-3 py-2 font-mono text-sm break-all">
          {value}
        </code>
        <CopyButton text={value} label={`Copy ${label.split(" ").at(-1) ?? ""}`} />
      </div>
    </div>
  );
}
