import { clsx } from "clsx";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { ErrorState } from "@/ui/feedback";
import { useArchiveConversation, useConversations, type Conversation } from "./api";

/** Conversations, newest first. */
export function ConversationList({ openId, onNavigate }: { openId: string | undefined; onNavigate?: () => void }) {
  const navigate = useNavigate();
  const conversations = useConversations();
  const archive = useArchiveConversation();
  const [removing, setRemoving] = useState<Conversation>();
  const list = conversations.data?.conversations ?? [];
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="p-3">
        <Button
          className="w-full"
          icon={<Plus aria-hidden size={16} />}
          onClick={() => {
            onNavigate?.();
            void navigate("/ai/chat");
          }}
        >
          New chat
        </Button>
      </div>
      <nav aria-label="Conversations" className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {conversations.isError ? <ErrorState title="The conversations could not be loaded" error={conversations.error} onRetry={() => void conversations.refetch()} /> : null}
        {conversations.data && list.length === 0 ? <p className="px-2 py-1 text-sm text-ink-3">No conversations yet.</p> : null}
        <ul>
          {list.map((conversation) => {
            const title = titleOf(conversation);
            const open = conversation.id === openId;
            return (
              <li key={conversation.id} className={clsx("group relative rounded-[8px]", open ? "bg-accent-soft" : "hover:bg-raised")}>
                <Link
                  to={`/ai/chat/${conversation.id}`}
                  {...(onNavigate ? { onClick: onNavigate } : {})}
                  aria-current={open ? "page" : undefined}
                  className={clsx("block min-h-9 truncate py-2 pr-9 pl-3 no-underline", open ? "font-medium text-accent-ink" : "text-ink-2")}
                >
                  {title}
                </Link>
                <button
                  type="button"
                  aria-label={`Delete chat ${title}`}
                  title="Delete chat"
                  onClick={() => setRemoving(conversation)}
                  className="absolute top-1 right-1 inline-flex size-7 items-center justify-center rounded-[6px] text-ink-3 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 hover:text-ink focus-visible:opacity-100 pointer-coarse:opacity-100"
                >
                  <Trash2 aria-hidden size={15} />
                </button>
              </li>
            );
          })}
        </ul>
      </nav>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Delete the chat “${removing ? titleOf(removing) : ""}”?`}
        action="Delete chat"
        onConfirm={async () => {
          if (!removing) return;
          await archive.mutateAsync(removing.id);
          if (removing.id === openId) await navigate("/ai/chat");
        }}
      >
        It disappears from your list. Changes that were applied in it stay.
      </ConfirmDialog>
    </div>
  );
}

export function titleOf(conversation: Conversation): string {
  const title = conversation.title?.trim() ?? "";
  return title === "" ? "Untitled chat" : title;
}
