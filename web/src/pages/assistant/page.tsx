import type { UIMessage } from "ai";
import { History, Sparkles } from "lucide-react";
import { useState } from "react";
import { useParams } from "react-router";
import { ApiError, toApiError } from "@/api/errors";
import { useCan } from "@/app/session";
import { Button, IconButton, LinkButton } from "@/ui/button";
import { Sheet } from "@/ui/dialog";
import { EmptyState, ErrorState, SkeletonBlock } from "@/ui/feedback";
import { useTitle } from "@/ui/page";
import { useConversation, useConversations, useIntegrations, useRestoreConversation, type Conversation, type Integration } from "./api";
import { Chat } from "./chat";
import { NamesProvider } from "./names";
import { NewChat } from "./new-chat";
import { peekPending } from "./pending";
import { ConversationList, titleOf } from "./sidebar";
import { settledMessages, storedMessages } from "./stored";
import { Transcript } from "./transcript";

export function Component() {
  const { conversationId } = useParams();
  const [sheet, setSheet] = useState(false);
  const conversations = useConversations();
  // An archived chat is on no list; what was loaded for it has its title.
  const loaded = useConversation(conversationId ?? "", false);
  const current = conversations.data?.conversations?.find((each) => each.id === conversationId) ?? loaded.data?.conversation;
  const title = current ? titleOf(current) : "Assistant";
  useTitle(title);
  return (
    <div className="flex min-h-0 flex-1">
      <aside aria-label="Chats" className="hidden w-[248px] shrink-0 flex-col border-r border-line bg-surface md:flex">
        <ConversationList openId={conversationId} />
      </aside>
      <Sheet open={sheet} onOpenChange={setSheet} title="Conversations">
        <div className="h-12" />
        <ConversationList openId={conversationId} onNavigate={() => setSheet(false)} />
      </Sheet>
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex items-center gap-2 border-b border-line px-3 py-1.5 md:px-0 md:py-2.5">
          <IconButton label="Show conversations" className="md:hidden" onClick={() => setSheet(true)}>
            <History aria-hidden size={18} />
          </IconButton>
          <h1 className="mx-auto w-full max-w-[820px] min-w-0 truncate text-lg font-semibold md:px-6">{title}</h1>
        </div>
        <Body key={conversationId ?? "new"} conversationId={conversationId} />
      </div>
    </div>
  );
}

function Body({ conversationId }: { conversationId: string | undefined }) {
  const integrations = useIntegrations();
  const can = useCan();
  if (integrations.isPending) return <Waiting />;
  if (integrations.isError) {
    return (
      <div className="mx-auto w-full max-w-[820px] p-6">
        <ErrorState title="The assistant could not be loaded" error={integrations.error} onRetry={() => void integrations.refetch()} />
      </div>
    );
  }
  const list = integrations.data.integrations ?? [];
  if (list.length === 0) {
    return (
      <EmptyState
        icon={<Sparkles aria-hidden size={28} />}
        title="No assistant is set up"
        action={can("integration.connection.manage") ? <LinkButton to="/settings/connections">Add a connection</LinkButton> : null}
      >
        A connection to a language model is needed before anyone can chat.
      </EmptyState>
    );
  }
  return <NamesProvider>{conversationId ? <Existing id={conversationId} integrations={list} /> : <NewChat integrations={list} />}</NamesProvider>;
}

function Waiting() {
  return (
    <div className="mx-auto w-full max-w-[820px] flex-1 p-6">
      <SkeletonBlock className="mb-4 ml-auto h-10 w-2/3" />
      <SkeletonBlock className="h-24" />
    </div>
  );
}

function Existing({ id, integrations }: { id: string; integrations: Integration[] }) {
  const fresh = useState(() => peekPending(id))[0];
  const stored = useConversation(id, fresh === undefined);
  if (fresh) return <Chat conversation={fresh.conversation} initial={[]} integrations={integrations} firstSkill={fresh.skill} />;
  if (stored.isPending) return <Waiting />;
  if (stored.error instanceof ApiError && stored.error.status === 404) {
    return (
      <div className="flex-1">
        <EmptyState title="This chat is gone" action={<LinkButton to="/ai/chat">Start a new chat</LinkButton>}>
          It was deleted, or it belongs to someone else.
        </EmptyState>
      </div>
    );
  }
  if (stored.isError) {
    return (
      <div className="mx-auto w-full max-w-[820px] p-6">
        <ErrorState title="This conversation could not be loaded" error={stored.error} onRetry={() => void stored.refetch()} />
      </div>
    );
  }
  const { conversation } = stored.data;
  if (conversation.archived) return <Archived conversation={conversation} messages={storedMessages(stored.data)} onRestored={() => void stored.refetch()} />;
  return <Chat conversation={conversation} initial={settledMessages(stored.data)} integrations={integrations} />;
}

/** A chat that was taken off the list: to read, and to put back. */
function Archived({ conversation, messages, onRestored }: { conversation: Conversation; messages: UIMessage[]; onRestored: () => void }) {
  const restore = useRestoreConversation();
  return (
    <>
      <Transcript messages={messages} streaming={false} decisions={{}} />
      <div className="mx-auto w-full max-w-[820px] px-3 pb-3 md:px-6">
        <div className="card flex flex-wrap items-center gap-3 px-4 py-3 text-ink-2">
          <p className="min-w-0 flex-1 basis-60">This chat is archived. It can be read here; to go on, put it back on your list.</p>
          <Button size="sm" busy={restore.isPending} onClick={() => restore.mutate(conversation.id, { onSuccess: onRestored })}>
            Put back
          </Button>
          <LinkButton to="/ai/chat" size="sm">
            New chat
          </LinkButton>
          {restore.isError ? (
            <p role="alert" className="basis-full text-unhealthy-ink">
              {toApiError(restore.error).message}
            </p>
          ) : null}
        </div>
      </div>
    </>
  );
}
