import "./no-eval";
import { useChat } from "@ai-sdk/react";
import { useQueryClient } from "@tanstack/react-query";
import { DefaultChatTransport, type UIMessage } from "ai";
import { CircleAlert, History, Sparkles, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { ApiError, toApiError } from "@/api/errors";
import { useCan } from "@/app/session";
import { Button, IconButton, LinkButton } from "@/ui/button";
import { Sheet } from "@/ui/dialog";
import { CopyButton, EmptyState, ErrorState, SkeletonBlock } from "@/ui/feedback";
import { useTitle } from "@/ui/page";
import { applyTool, useConversation, useConversations, useCreateConversation, useExamples, useIntegrations, useUpdateConversation, type Conversation, type Integration, type PermissionMode } from "./api";
import type { Decision } from "./cards";
import { initialChoice, remember } from "./choice";
import { Composer, type Choice } from "./composer";
import { chatErrorText } from "./error-text";
import { blocksOf, type ConfirmCard } from "./fold";
import { peekPending, putPending, takePending } from "./pending";
import { ConversationList, titleOf } from "./sidebar";
import { Transcript } from "./transcript";

export function Component() {
  const { conversationId } = useParams();
  const [sheet, setSheet] = useState(false);
  const conversations = useConversations();
  const current = conversations.data?.conversations?.find((each) => each.id === conversationId);
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
  return conversationId ? <Existing id={conversationId} integrations={list} /> : <NewChat integrations={list} />;
}

function Waiting() {
  return (
    <div className="mx-auto w-full max-w-[820px] flex-1 p-6">
      <SkeletonBlock className="mb-4 ml-auto h-10 w-2/3" />
      <SkeletonBlock className="h-24" />
    </div>
  );
}

/** The empty chat. The conversation is created with the first message. */
function NewChat({ integrations }: { integrations: Integration[] }) {
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const [text, setText] = useState(params.get("prompt") ?? "");
  const [choice, setChoice] = useState(() => initialChoice(integrations));
  const [mode, setMode] = useState<PermissionMode>("approve");
  const create = useCreateConversation();
  const examples = useExamples();
  const send = () => {
    const message = text.trim();
    if (message === "" || !choice || create.isPending) return;
    create.mutate(
      { integrationId: choice.connectionId, permissionMode: mode, ...(choice.model ? { model: choice.model } : {}) },
      {
        onSuccess: (conversation) => {
          putPending(conversation, message);
          void navigate(`/ai/chat/${conversation.id}`, { replace: params.has("prompt") });
        },
      },
    );
  };
  return (
    <>
      <div className="flex min-h-0 flex-1 flex-col items-center justify-center overflow-y-auto px-4 py-6 text-center">
        <Sparkles aria-hidden size={26} className="text-accent-ink" />
        <p className="mt-3 text-lg font-semibold">Ask about your systems, or say what to change</p>
        <p className="mt-1 max-w-[52ch] text-ink-2">It reads by itself. Every change is shown to you first and waits for your approval.</p>
        <ul aria-label="Examples" className="mt-5 grid w-full max-w-[620px] gap-2 sm:grid-cols-2">
          {(examples.data?.examples ?? []).slice(0, 4).map((example) => (
            <li key={example}>
              <button
                type="button"
                onClick={() => {
                  setText(example);
                  document.querySelector<HTMLTextAreaElement>('textarea[aria-label="Message to the assistant"]')?.focus();
                }}
                className="card h-full w-full px-3.5 py-2.5 text-left break-words text-ink-2 hover:border-line-strong hover:text-ink"
              >
                {example}
              </button>
            </li>
          ))}
        </ul>
      </div>
      {create.isError ? <Banner text={toApiError(create.error).message} onDismiss={() => create.reset()} /> : null}
      <Composer
        value={text}
        onChange={setText}
        onSend={send}
        streaming={false}
        sending={create.isPending}
        integrations={integrations}
        choice={choice}
        onChoice={(next) => {
          remember(next);
          setChoice(next);
        }}
        mode={mode}
        onMode={setMode}
      />
    </>
  );
}

function Existing({ id, integrations }: { id: string; integrations: Integration[] }) {
  const fresh = useState(() => peekPending(id))[0];
  const stored = useConversation(id, fresh === undefined);
  if (fresh) return <Chat conversation={fresh} initial={[]} integrations={integrations} />;
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
  if (stored.data.conversation.archived) return <Archived messages={(stored.data.messages ?? []) as unknown as UIMessage[]} />;
  return <Chat conversation={stored.data.conversation} initial={(stored.data.messages ?? []) as unknown as UIMessage[]} integrations={integrations} />;
}

/** A deleted chat whose address someone kept: to read, not to go on with. */
function Archived({ messages }: { messages: UIMessage[] }) {
  return (
    <>
      <Transcript messages={messages} streaming={false} decisions={{}} />
      <div className="mx-auto w-full max-w-[820px] px-3 pb-3 md:px-6">
        <p className="card flex flex-wrap items-center justify-between gap-3 px-4 py-3 text-ink-2">
          This chat was deleted. It can be read here, but not continued.
          <LinkButton to="/ai/chat" size="sm">
            New chat
          </LinkButton>
        </p>
      </div>
    </>
  );
}

type Turn = { decision: { token: string; kind: "apply" | "decline" }; summary: string };

function Chat({ conversation, initial, integrations }: { conversation: Conversation; initial: UIMessage[]; integrations: Integration[] }) {
  const client = useQueryClient();
  const update = useUpdateConversation();
  const [text, setText] = useState("");
  const [choice, setChoice] = useState<Choice | undefined>(() => initialChoice(integrations, conversation));
  const [mode, setMode] = useState<PermissionMode>(conversation.permissionMode);
  const [banner, setBanner] = useState<string>();
  const [decisions, setDecisions] = useState<Record<string, Decision>>({});
  const [queue, setQueue] = useState<Turn[]>([]);

  const latest = useRef(choice);
  useEffect(() => {
    latest.current = choice;
  }, [choice]);

  const transport = useMemo(
    () =>
      new DefaultChatTransport<UIMessage>({
        api: "/api/ai/chat",
        // The server keeps the history itself and takes only what is new.
        prepareSendMessagesRequest: ({ messages, body }) => {
          const last = messages.at(-1);
          const message = last?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
          const decision = (body as { decision?: Turn["decision"] } | undefined)?.decision;
          return {
            body: {
              conversationId: conversation.id,
              connectionId: latest.current?.connectionId,
              ...(latest.current?.model ? { model: latest.current.model } : {}),
              ...(decision ? { decision } : { message }),
              timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            },
          };
        },
      }),
    [conversation.id],
  );

  const { messages, sendMessage, status, stop } = useChat({
    id: conversation.id,
    messages: initial,
    transport,
    onError: (error) => setBanner(chatErrorText(error)),
    onFinish: () => void client.invalidateQueries({ queryKey: ["ai", "listConversations"] }),
  });
  const streaming = status === "submitted" || status === "streaming";

  const started = useRef(false);
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    const first = takePending(conversation.id);
    if (first !== undefined) void sendMessage({ text: first });
  }, [conversation.id, sendMessage]);

  // Decisions made while a turn runs are told to the assistant one after another.
  useEffect(() => {
    const [next, ...rest] = queue;
    if (!next || streaming) return;
    setQueue(rest);
    void sendMessage({ role: "user", parts: [{ type: "data-decision", data: { kind: next.decision.kind, summary: next.summary } }] }, { body: { decision: next.decision } });
  }, [queue, streaming, sendMessage]);

  const decide = (card: ConfirmCard, decision: Decision) => setDecisions((current) => ({ ...current, [card.toolCallId]: decision }));
  const apply = async (card: ConfirmCard) => {
    if (!card.token) return;
    decide(card, { state: "applying" });
    setBanner(undefined);
    try {
      await applyTool(card.token);
    } catch (error) {
      const { message, issues } = toApiError(error);
      decide(card, { state: "failed", message: issues.length > 0 ? `${message} ${issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`)).join("; ")}` : message });
      return;
    }
    decide(card, { state: "applied" });
    const { token } = card;
    setQueue((current) => [...current, { decision: { token, kind: "apply" }, summary: card.summary }]);
    for (const plugin of ["catalog", "healthcheck", "system"]) void client.invalidateQueries({ queryKey: [plugin] });
  };
  const decline = (card: ConfirmCard) => {
    if (!card.token) return;
    const { token } = card;
    decide(card, { state: "declined" });
    setBanner(undefined);
    setQueue((current) => [...current, { decision: { token, kind: "decline" }, summary: card.summary }]);
  };

  return (
    <>
      <Transcript messages={messages} streaming={streaming} decisions={decisions} onApply={(card) => void apply(card)} onDecline={decline} />
      <Announcer messages={messages} streaming={streaming} />
      {banner ? <Banner text={banner} onDismiss={() => setBanner(undefined)} /> : null}
      <Composer
        value={text}
        onChange={setText}
        onSend={() => {
          const message = text.trim();
          setBanner(undefined);
          setText("");
          void sendMessage({ text: message });
        }}
        onStop={() => void stop()}
        streaming={streaming}
        integrations={integrations}
        choice={choice}
        onChoice={(next) => {
          remember(next);
          setChoice(next);
        }}
        mode={mode}
        onMode={(next) => {
          if (next === mode) return;
          const before = mode;
          setMode(next);
          update.mutate(
            { id: conversation.id, permissionMode: next },
            {
              onError: (error) => {
                setMode(before);
                setBanner(toApiError(error).message);
              },
            },
          );
        }}
      />
    </>
  );
}

/** Tells screen readers the finished answer once, not every fragment of it. */
function Announcer({ messages, streaming }: { messages: UIMessage[]; streaming: boolean }) {
  const [spoken, setSpoken] = useState("");
  const was = useRef(streaming);
  useEffect(() => {
    if (was.current && !streaming) {
      const last = messages.at(-1);
      const blocks = last?.role === "assistant" ? blocksOf(last) : [];
      const text = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join(" ");
      const cards = blocks.flatMap((block) => (block.kind === "confirm" && block.card.token ? [`${block.card.effect === "destructive" ? "A change that cannot be undone" : "A change"} needs your approval: ${block.card.summary}.`] : []));
      setSpoken([text.length > 400 ? `${text.slice(0, 400)}…` : text, ...cards].join(" ").trim());
    } else if (!was.current && streaming) {
      setSpoken("The assistant is answering.");
    }
    was.current = streaming;
  }, [streaming, messages]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {spoken}
    </p>
  );
}

/** A failure that stays until it is dismissed or the next message is sent. */
function Banner({ text, onDismiss }: { text: string; onDismiss: () => void }) {
  return (
    <div className="mx-auto w-full max-w-[820px] px-3 pb-2 md:px-6">
      <div role="alert" className="flex items-start gap-2.5 rounded-[8px] border border-unhealthy/40 bg-unhealthy-soft px-3 py-2 text-unhealthy-ink">
        <CircleAlert aria-hidden size={16} className="mt-1 shrink-0" />
        <p className="mt-0.5 max-h-32 min-w-0 flex-1 overflow-y-auto break-words">
          {text}
        </p>
        <CopyButton text={text} size="sm" />
        <Button size="sm" look="quiet" aria-label="Dismiss" icon={<X aria-hidden size={15} />} onClick={onDismiss} />
      </div>
    </div>
  );
}
