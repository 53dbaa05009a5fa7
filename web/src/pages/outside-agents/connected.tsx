import { Bot, Unplug } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ConfirmDialog } from "@/ui/dialog";
import { ErrorState, SkeletonBlock, toast } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { Badge } from "@/ui/state";
import { useConnectedClients, useDisconnectClient, type ConnectedClient } from "./api";
import { scopesWord } from "./words";

/** The outside agents that the reader let in. */
export function ConnectedClients() {
  const connected = useConnectedClients();
  const disconnect = useDisconnectClient();
  const [ending, setEnding] = useState<ConnectedClient>();
  const { hash } = useLocation();
  const loaded = connected.data !== undefined;
  useEffect(() => {
    if (loaded && hash === "#connected") document.getElementById("connected")?.scrollIntoView();
  }, [loaded, hash]);
  if (connected.isPending) return <SkeletonBlock className="h-20" />;
  if (connected.isError && !connected.data) return <ErrorState title="Your connected agents could not be loaded" error={connected.error} onRetry={() => void connected.refetch()} />;
  const list = connected.data.clients ?? [];
  return (
    <Section title="Connected agents" id="connected" description="Outside agents that you let act for you. They get at most what you may do at that moment.">
      {list.length === 0 ? (
        <p className="card px-4 py-3 text-ink-2">You have let no outside agent in.</p>
      ) : (
        <ul className="card divide-y divide-line">
          {list.map((client) => (
            <li key={client.clientId} className="flex items-center gap-3 px-4 py-3">
              <Bot aria-hidden size={18} className="shrink-0 text-ink-3" />
              <div className="min-w-0 flex-1">
                <p className="flex flex-wrap items-center gap-2">
                  <bdi className="min-w-0 break-words" title={client.clientId}>
                    {client.name}
                  </bdi>
                  {client.source === "dynamic" ? <Badge tone="warn">name not verified</Badge> : null}
                </p>
                <p className="text-sm text-ink-3">
                  may use {scopesWord(client.scopes)} · allowed <RelativeTime at={client.allowedAt} /> · {client.lastUsedAt ? <>last used <RelativeTime at={client.lastUsedAt} /></> : "not used yet"}
                </p>
              </div>
              <Button size="sm" icon={<Unplug aria-hidden size={14} />} onClick={() => setEnding(client)}>
                Disconnect<span className="sr-only"> {client.name}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      <ConfirmDialog
        open={ending !== undefined}
        onOpenChange={(open) => (open ? undefined : setEnding(undefined))}
        title={`Disconnect “${ending?.name ?? ""}”?`}
        action="Disconnect"
        onConfirm={async () => {
          if (!ending) return;
          await disconnect.mutateAsync(ending.clientId);
          toast(`${ending.name} disconnected`);
        }}
      >
        It can no longer act for you, at once. To use it again it has to ask you again.
      </ConfirmDialog>
    </Section>
  );
}
