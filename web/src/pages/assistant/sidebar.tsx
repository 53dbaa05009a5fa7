import { clsx } from "clsx";
import { Archive, ArchiveRestore, ArrowLeft, LoaderCircle, Pencil, Plus } from "lucide-react";
import { useId, useState } from "react";
import { Link, useNavigate } from "react-router";
import { toApiError } from "@/api/errors";
import { Button } from "@/ui/button";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { ErrorState } from "@/ui/feedback";
import { MenuItem, RowMenu } from "@/ui/menu";
import { useArchiveConversation, useConversations, useRestoreConversation, useUpdateConversation, type Conversation } from "./api";
import { focusComposer } from "./composer";
import { isEmptyDraft } from "./pending";

/** From how many chats on a field to find one is worth its place. */
const searchFrom = 12;

/** Conversations, newest first; those taken off the list on demand. */
export function ConversationList({ openId, onNavigate }: { openId: string | undefined; onNavigate?: () => void }) {
  const navigate = useNavigate();
  const [archived, setArchived] = useState(false);
  const [filter, setFilter] = useState("");
  const conversations = useConversations(archived);
  const archive = useArchiveConversation();
  const restore = useRestoreConversation();
  const [renaming, setRenaming] = useState<Conversation>();
  const [removing, setRemoving] = useState<Conversation>();
  const list = conversations.data?.conversations ?? [];
  const wanted = filter.trim().toLowerCase();
  const shown = wanted === "" ? list : list.filter((each) => titleOf(each).toLowerCase().includes(wanted));
  const show = (next: boolean) => {
    setArchived(next);
    setFilter("");
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="grid gap-2 p-3">
        <Button
          className="w-full"
          icon={<Plus aria-hidden size={16} />}
          onClick={() => {
            onNavigate?.();
            // A chat without a message is as good as a new one.
            if (openId !== undefined && isEmptyDraft(openId)) focusComposer();
            else if (openId === undefined) focusComposer();
            else void navigate("/ai/chat");
          }}
        >
          New chat
        </Button>
        {list.length >= searchFrom ? <input type="search" aria-label="Find a chat" placeholder="Find a chat" className="control" value={filter} onChange={(event) => setFilter(event.target.value)} /> : null}
      </div>
      <nav aria-label={archived ? "Archived conversations" : "Conversations"} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {conversations.isError ? <ErrorState title="The conversations could not be loaded" error={conversations.error} onRetry={() => void conversations.refetch()} /> : null}
        {restore.isError ? (
          <p role="alert" className="px-2 py-1 text-sm text-unhealthy-ink">
            {toApiError(restore.error).message}
          </p>
        ) : null}
        {conversations.data && shown.length === 0 ? <p className="px-2 py-1 text-sm text-ink-3">{wanted !== "" ? "No chat has this in its title." : archived ? "Nothing is archived." : "No conversations yet."}</p> : null}
        <ul>
          {shown.map((conversation) => {
            const title = titleOf(conversation);
            const open = conversation.id === openId;
            return (
              <li key={conversation.id} className={clsx("group relative rounded-[8px]", open ? "bg-accent-soft shadow-[inset_3px_0_0_var(--color-accent)]" : "hover:bg-raised")}>
                <Link
                  to={`/ai/chat/${conversation.id}`}
                  {...(onNavigate ? { onClick: onNavigate } : {})}
                  aria-current={open ? "page" : undefined}
                  title={title}
                  className={clsx("flex min-h-9 items-center gap-1.5 py-2 pr-10 pl-3 no-underline", open ? "font-medium text-accent-ink" : "text-ink-2")}
                >
                  {conversation.running ? <LoaderCircle aria-label="Answering" role="img" size={14} className="spin shrink-0" /> : null}
                  <bdi className="min-w-0 truncate">{title}</bdi>
                </Link>
                <span className="absolute top-0.5 right-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 has-[[data-state=open]]:opacity-100 pointer-coarse:opacity-100">
                  <RowMenu label={`Actions for ${title}`}>
                    {archived ? (
                      <MenuItem icon={<ArchiveRestore aria-hidden size={16} />} onSelect={() => restore.mutate(conversation.id)}>
                        Put back on the list
                      </MenuItem>
                    ) : (
                      <>
                        <MenuItem icon={<Pencil aria-hidden size={16} />} onSelect={() => setRenaming(conversation)}>
                          Rename
                        </MenuItem>
                        <MenuItem icon={<Archive aria-hidden size={16} />} onSelect={() => setRemoving(conversation)}>
                          Archive
                        </MenuItem>
                      </>
                    )}
                  </RowMenu>
                </span>
              </li>
            );
          })}
        </ul>
      </nav>
      <div className="border-t border-line p-2">
        <Button size="sm" look="quiet" className="w-full justify-start!" icon={archived ? <ArrowLeft aria-hidden size={15} /> : <Archive aria-hidden size={15} />} onClick={() => show(!archived)}>
          {archived ? "Back to chats" : "Archived chats"}
        </Button>
      </div>
      {renaming ? <RenameDialog key={renaming.id} conversation={renaming} onClose={() => setRenaming(undefined)} /> : null}
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => (open ? undefined : setRemoving(undefined))}
        title={`Archive the chat “${removing ? titleOf(removing) : ""}”?`}
        action="Archive chat"
        look="primary"
        onConfirm={async () => {
          if (!removing) return;
          await archive.mutateAsync(removing.id);
          if (removing.id === openId) await navigate("/ai/chat");
        }}
      >
        It leaves your list and takes no further messages; what it answers now is stopped. Changes that were applied in it stay; those that still wait in it are declined. You find it under archived chats.
      </ConfirmDialog>
    </div>
  );
}

function RenameDialog({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const id = useId();
  const [title, setTitle] = useState(conversation.title ?? "");
  const update = useUpdateConversation();
  return (
    <Dialog open onOpenChange={(open) => (open ? undefined : onClose())} title="Rename chat">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ id: conversation.id, title }, { onSuccess: onClose });
        }}
      >
        <label htmlFor={id} className="mb-1 block font-medium">
          Title
        </label>
        <input id={id} className="control w-full" maxLength={200} value={title} onChange={(event) => setTitle(event.target.value)} onFocus={(event) => event.target.select()} aria-describedby={update.isError ? `${id}-error` : undefined} />
        {update.isError ? (
          <p id={`${id}-error`} role="alert" className="mt-1 text-sm text-unhealthy-ink">
            {refusalText(update.error)}
          </p>
        ) : null}
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={update.isPending}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function refusalText(error: unknown): string {
  const { message, issues } = toApiError(error);
  return issues.length > 0 ? issues.map((issue) => issue.message).join(" ") : message;
}

export function titleOf(conversation: Conversation): string {
  const title = conversation.title?.trim() ?? "";
  return title === "" ? "Untitled chat" : title;
}
