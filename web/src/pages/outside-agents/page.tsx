import { Bot, Plus, Trash2, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { Button } from "@/ui/button";
import { useBootstrap } from "@/app/session";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { CopyButton, EmptyState, ErrorState, SkeletonBlock, SkeletonRows, toast, toastError } from "@/ui/feedback";
import { Toggle } from "@/ui/field";
import { MenuItem, RowMenu } from "@/ui/menu";
import { Page, Section } from "@/ui/page";
import { Badge } from "@/ui/state";
import { Table } from "@/ui/table";
import { Tabs } from "@/ui/tabs";
import { ClientForm, SecretView, type Made } from "./client-form";
import { useAgentClients, useAgentSettings, useRemoveClient, useSetAgentSettings, type AgentClient, type AgentSettings } from "./api";
import { mustRegister, snippets } from "./snippets";
import { sourceWord } from "./words";

export function Component() {
  const settings = useAgentSettings();
  return (
    <Page title="Outside agents" description="Claude, Cursor, VS Code, Codex and other MCP clients, with the rights of the person behind them.">
      {settings.isPending ? <SkeletonBlock className="mb-7 h-56" /> : null}
      {settings.isError && !settings.data ? <ErrorState title="The settings could not be loaded" error={settings.error} onRetry={() => void settings.refetch()} /> : null}
      {settings.data ? (
        <>
          <Switches settings={settings.data} />
          <Connect settings={settings.data} />
          <Clients enabled={settings.data.enabled} />
        </>
      ) : null}
    </Page>
  );
}

function Switches({ settings }: { settings: AgentSettings }) {
  const set = useSetAgentSettings();
  const [closing, setClosing] = useState(false);
  const shown = { ...settings, ...(set.isPending ? set.variables : {}) };
  const change = (body: Parameters<typeof set.mutate>[0], said: string) => set.mutate(body, { onSuccess: () => toast(said), onError: toastError });
  return (
    <Section title="Access">
      <div className="card grid gap-5 p-4 md:p-5">
        <Toggle
          label="Outside agents can connect"
          help="Off: every request and every token of an outside agent is refused at once."
          checked={shown.enabled}
          disabled={set.isPending}
          onChange={(enabled) => (enabled ? change({ enabled }, "Outside agents can connect") : setClosing(true))}
        />
        <Toggle
          label="Clients may propose changes"
          help="Off: outside agents only read. On: a change becomes a proposal, which waits in Approvals for a person; nothing is done before."
          checked={shown.allowProposals}
          disabled={set.isPending || !settings.enabled}
          onChange={(allowProposals) => change({ allowProposals }, allowProposals ? "Clients may propose changes" : "Clients can only read")}
        />
        <Toggle
          label="Clients may show a metadata document"
          help="Claude, VS Code, Codex and others say who they are by the address of a document, which Checkstack reads. Switch it off where Checkstack cannot reach the internet; these clients then register themselves."
          checked={shown.allowClientMetadataDocuments}
          disabled={set.isPending || !settings.enabled}
          onChange={(allow) => change({ allowClientMetadataDocuments: allow }, allow ? "Metadata documents are read" : "Metadata documents are not read")}
        />
        <Toggle
          label="Clients may register themselves"
          help="Some clients introduce themselves (Dynamic Client Registration), at most five an hour from one address. Nobody verifies their names. Leave it off when your clients work without."
          checked={shown.allowDynamicClientRegistration}
          disabled={set.isPending || !settings.enabled}
          onChange={(allow) => change({ allowDynamicClientRegistration: allow }, allow ? "Clients may register themselves" : "Clients cannot register themselves")}
        />
      </div>
      <ConfirmDialog
        open={closing}
        onOpenChange={setClosing}
        title="Switch off access for outside agents?"
        action="Switch off access"
        onConfirm={async () => {
          await set.mutateAsync({ enabled: false });
          toast("Outside agents cannot connect");
        }}
      >
        Every connected agent loses access at once. What it was given comes back when you switch it on again, as far as it has not expired by then.
      </ConfirmDialog>
    </Section>
  );
}

function Connect({ settings }: { settings: AgentSettings }) {
  const bootstrap = useBootstrap();
  const [params, setParams] = useSearchParams();
  const list = snippets(settings.endpoint, bootstrap.data?.baseUrl ?? window.location.origin);
  const chosen = list.find((each) => each.name === params.get("client")) ?? list[0];
  return (
    <Section title="Connect a client" description={settings.enabled ? "Give it this address; it opens the browser, and you sign in and allow it." : "Ready to copy, but nothing can connect while access is off."}>
      <div className="card p-4 md:p-5">
        <div className="mb-4 flex flex-wrap items-center gap-2">
          <code aria-label="Address for MCP clients" className="min-w-0 flex-1 basis-[240px] rounded-[8px] border border-line bg-raised px-3 py-2 font-mono text-sm break-all">
            {settings.endpoint}
          </code>
          <CopyButton text={settings.endpoint} label="Copy address" />
        </div>
        <Tabs
          label="Clients"
          value={chosen?.name ?? "claude-code"}
          onChange={(name) =>
            setParams(
              (current) => {
                const next = new URLSearchParams(current);
                next.set("client", name);
                return next;
              },
              { replace: true, preventScrollReset: true },
            )
          }
          tabs={list.map((each) => ({
            name: each.name,
            label: each.label,
            content: (
              <div>
                <p className="mb-2 text-ink-2">{each.intro}</p>
                {mustRegister(each, settings) && settings.enabled && !settings.allowDynamicClientRegistration ? (
                  <p role="note" className="mb-2 flex items-start gap-2 rounded-[8px] bg-degraded-soft px-3 py-2 text-sm text-degraded-ink">
                    <TriangleAlert aria-hidden size={15} className="mt-0.5 shrink-0" />
                    <span>{each.label} registers itself before it asks you, and that is off: switch on “Clients may register themselves” above. It can go off again once {each.label} is connected.</span>
                  </p>
                ) : null}
                {/* Long lines scroll, so the keyboard needs a way in. */}
                {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
                <pre tabIndex={0} role="region" aria-label={`Text for ${each.label}`} className="overflow-x-auto rounded-[8px] bg-raised p-3 font-mono text-xs">
                  {each.text}
                </pre>
                <div className="mt-1 flex flex-wrap items-center justify-between gap-2">
                  <p className="text-sm text-ink-3">{each.outro}</p>
                  <CopyButton text={each.text} label={`Copy for ${each.label}`} size="sm" />
                </div>
              </div>
            ),
          }))}
        />
      </div>
    </Section>
  );
}

function Clients({ enabled }: { enabled: boolean }) {
  const clients = useAgentClients();
  const remove = useRemoveClient();
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<Made>();
  const [removing, setRemoving] = useState<AgentClient>();
  const all = clients.data?.clients ?? [];
  return (
    <Section
      title="Clients"
      description="What introduced itself or was added here, used last first."
      actions={
        <Button icon={<Plus aria-hidden size={16} />} onClick={() => setAdding(true)}>
          Add a client
        </Button>
      }
    >
      {clients.isPending ? <SkeletonRows /> : null}
      {clients.isError && !clients.data ? <ErrorState title="The clients could not be loaded" error={clients.error} onRetry={() => void clients.refetch()} /> : null}
      {clients.data && all.length === 0 ? (
        <div className="card">
          <EmptyState icon={<Bot aria-hidden size={28} />} title="No clients yet">
            {enabled ? "A client appears here when it first asks somebody for access." : "Switch access on first; then a client appears here when it asks somebody for access."}
          </EmptyState>
        </div>
      ) : null}
      {all.length > 0 ? (
        <Table
          label="Clients"
          rows={all}
          rowKey={(client) => client.id}
          columns={[
            {
              key: "name",
              label: "Name",
              primary: true,
              sort: (client) => client.name.toLowerCase(),
              cell: (client) => (
                <div className="min-w-0">
                  <bdi className="font-medium break-words">{client.name}</bdi>
                  <p className="font-mono text-xs break-all text-ink-3">{client.id}</p>
                </div>
              ),
            },
            { key: "source", label: "Came by", sort: (client) => client.source, cell: (client) => <Badge tone={client.source === "dynamic" ? "warn" : "neutral"}>{sourceWord(client.source)}</Badge> },
            { key: "people", label: "People", sort: (client) => client.people, cell: (client) => client.people.toLocaleString() },
            { key: "used", label: "Last used", sort: (client) => client.lastUsedAt ?? "", cell: (client) => (client.lastUsedAt ? <RelativeTime at={client.lastUsedAt} /> : <span className="text-ink-3">never</span>) },
            {
              key: "actions",
              label: "Actions",
              quiet: true,
              className: "md:w-12",
              cell: (client) => (
                <RowMenu label={`Actions for ${client.name}`}>
                  <MenuItem danger icon={<Trash2 aria-hidden size={15} />} onSelect={() => setRemoving(client)}>
                    Remove
                  </MenuItem>
                </RowMenu>
              ),
            },
          ]}
        />
      ) : null}
      <Dialog open={adding} onOpenChange={setAdding} title="Add a client" description="For a client that neither registers itself nor has a metadata document.">
        <ClientForm
          close={() => setAdding(false)}
          onMade={(client) => {
            setAdding(false);
            setMade(client);
          }}
        />
      </Dialog>
      <Dialog
        open={made !== undefined}
        onOpenChange={(open) => (open ? undefined : setMade(undefined))}
        title={`${made?.name ?? ""} added`}
        description={made?.secret ? "Copy the secret now. It is shown only this once and cannot be read again." : "Give the client this id."}
      >
        {made ? <SecretView made={made} close={() => setMade(undefined)} /> : null}
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Remove the client “${removing?.name ?? ""}”?`}
        action="Remove client"
        onConfirm={async () => {
          if (!removing) return;
          await remove.mutateAsync(removing.id);
          toast(`${removing.name} removed`);
        }}
      >
        {removing && removing.people > 0 ? `It loses access at once, for ${removing.people === 1 ? "the one person" : `all ${removing.people} people`} who let it in. ` : "It can no longer ask anybody for access. "}
        {removing?.source === "manual" ? "To use it again you must add it again." : "It may come back by asking again."}
      </ConfirmDialog>
    </Section>
  );
}
