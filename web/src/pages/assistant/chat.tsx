import "./no-eval";
import { useChat } from "@ai-sdk/react";
import { useQueryClient } from "@tanstack/react-query";
import type { UIMessage } from "ai";
import { useEffect, useMemo, useRef, useState } from "react";
import { api, call } from "@/api/client";
import { refusalText, toApiError } from "@/api/errors";
import { Announcer } from "./announcer";
import { applyTool, declineTool, stopTurn, useConversations, useUpdateConversation, type Conversation, type Integration, type PermissionMode, type Skill } from "./api";
import { Banner } from "./banner";
import type { Decision } from "./cards";
import { initialChoice, remember } from "./choice";
import { Composer, focusComposer, type Choice } from "./composer";
import { chatError, Refusal, type ChatError } from "./error-text";
import type { ConfirmCard } from "./fold";
import { patiently, pause } from "./patience";
import { noteDraft, takePending } from "./pending";
import { useSkillChoice } from "./skill-choice";
import { settledMessages } from "./stored";
import { Transcript } from "./transcript";
import { createTransport, type DecisionBody } from "./transport";

type Turn = { decision: DecisionBody; summary: string };

/** What a change can make stale, whichever tool made it. */
const changed = ["catalog", "healthcheck", "system", "incident", "maintenance"];

const stored = (id: string) => call(api.GET("/rest/ai/getConversation", { params: { query: { id } } }));

/** What was typed, as far as it is a message. */
const spoken = (messages: UIMessage[]) => messages.filter((message) => message.role === "user" && textOf(message) !== "");

function textOf(message: UIMessage | undefined): string {
  return message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
}

/** An open conversation: the transcript, what may be decided in it, and the message field. */
export function Chat({ conversation, initial, integrations, firstSkill }: { conversation: Conversation; initial: UIMessage[]; integrations: Integration[]; firstSkill?: Skill | undefined }) {
  const client = useQueryClient();
  const update = useUpdateConversation();
  const [text, setText] = useState("");
  const [choice, setChoice] = useState<Choice | undefined>(() => initialChoice(integrations, conversation));
  const [mode, setMode] = useState<PermissionMode>(conversation.permissionMode);
  const [skill, setSkill] = useSkillChoice(conversation.id, firstSkill);
  const [banner, setBanner] = useState<ChatError>();
  const [decisions, setDecisions] = useState<Record<string, Decision>>({});
  const [queue, setQueue] = useState<Turn[]>([]);
  const [following, setFollowing] = useState(false);
  const busy = useRef(false);

  const latest = useRef({ choice, skill });
  useEffect(() => {
    latest.current = { choice, skill };
  }, [choice, skill]);

  const transport = useMemo(
    () => createTransport(conversation.id, () => ({ connectionId: latest.current.choice?.connectionId, model: latest.current.choice?.model, skillId: latest.current.skill?.id })),
    [conversation.id],
  );

  const { messages, sendMessage, setMessages, resumeStream, status, stop } = useChat({
    id: conversation.id,
    messages: initial,
    transport,
    onError: (error) => {
      if (error instanceof TypeError) {
        // The answer goes on without this page for a while: it is taken up again.
        void follow(error);
        return;
      }
      setBanner(chatError(error));
      if (!(error instanceof Refusal)) return;
      // Nothing of a refused turn is stored: the words go back to where they were typed.
      setMessages((current) => {
        const last = current.at(-1);
        if (last?.role !== "user") return current;
        const words = textOf(last);
        setText((typed) => (typed === "" ? words : typed));
        return current.slice(0, -1);
      });
    },
  });
  const streaming = status === "submitted" || status === "streaming";

  const wasStreaming = useRef(false);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => void (left.current = true);
  }, []);

  // A turn that runs elsewhere, or whose line to this page broke, is shown from its
  // beginning; then what is stored is the truth.
  const follow = async (lost?: TypeError) => {
    if (busy.current) return;
    busy.current = true;
    setFollowing(true);
    if (lost) setBanner({ text: "The connection to Checkstack was lost. Trying to take it up again…" });
    try {
      for (let seen = lost === undefined; ; seen = true) {
        const now = await patiently(() => stored(conversation.id));
        if (left.current) return;
        if (!seen) setBanner(undefined);
        setMessages((current) => {
          const words = spoken(current);
          if (!seen && words.length > spoken(settledMessages(now)).length) {
            // The message never arrived: the words go back to where they were typed.
            setText((typed) => (typed === "" ? textOf(words.at(-1)) : typed));
            setBanner(chatError(lost ?? ""));
          }
          return settledMessages(now);
        });
        if (!now.conversation.running) return;
        await resumeStream();
        if (left.current) return;
        // A line that breaks again and again is no reason to ask without a breath.
        await pause(100);
      }
    } catch (error) {
      setBanner(error instanceof TypeError ? chatError(error) : { text: toApiError(error).message });
    } finally {
      busy.current = false;
      setFollowing(false);
    }
  };

  /** Shows a turn that another tab has had meanwhile. */
  const catchUp = async () => {
    const now = await patiently(() => stored(conversation.id)).catch(() => undefined);
    if (!now || left.current || busy.current || wasStreaming.current) return;
    const last = now.messages?.at(-1)?.id;
    setMessages((current) => (last === undefined || current.some((message) => message.id === last) ? current : settledMessages(now)));
  };

  const stopHere = async () => {
    try {
      const { stopped } = await stopTurn(conversation.id);
      if (stopped || following) return;
      // Either the turn has ended, or the server has not begun it yet.
      await stop();
      await stopTurn(conversation.id);
    } catch (error) {
      if (!following) void stop();
      setBanner({ text: toApiError(error).message });
    }
  };

  const started = useRef(false);
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    const first = takePending(conversation.id);
    if (first !== undefined) {
      void sendMessage({ text: first });
      return;
    }
    if (conversation.running) void follow();
  });

  const list = useConversations();
  const row = list.data?.conversations?.find((each) => each.id === conversation.id);
  /** When the conversation was last changed, as far as this page has taken part in it. */
  const knownAt = useRef(Date.parse(conversation.updatedAt));

  // The list may have been read while this page's own turn ran: it is read again
  // before it is believed.
  const current = useRef(true);
  const [, reread] = useState(0);
  useEffect(() => {
    if (wasStreaming.current && !streaming) {
      current.current = false;
      void client.invalidateQueries({ queryKey: ["ai", "listConversations"] }).then(() => {
        const own = client.getQueryData<{ conversations: Conversation[] }>(["ai", "listConversations", false])?.conversations?.find((each) => each.id === conversation.id);
        if (own && !own.running) knownAt.current = Date.parse(own.updatedAt);
        current.current = true;
        reread((count) => count + 1);
      });
    }
    wasStreaming.current = streaming;
  }, [streaming, client, conversation.id]);

  // Another tab may have begun a turn here, or have had one that is over already:
  // a signal makes the list be read again, and the list says so.
  useEffect(() => {
    if (!row || following || streaming || list.isFetching || !current.current) return;
    const changedAt = Date.parse(row.updatedAt);
    if (row.running) void follow();
    else if (changedAt > knownAt.current) void catchUp();
    knownAt.current = Math.max(knownAt.current, changedAt);
  });

  const untitled = (conversation.title?.trim() ?? "") === "";
  useEffect(() => {
    noteDraft(conversation.id, untitled && messages.length === 0 && !streaming);
  }, [conversation.id, untitled, messages.length, streaming]);

  // Decisions made while a turn runs are told to the assistant one after another.
  useEffect(() => {
    const [next, ...rest] = queue;
    if (!next || streaming) return;
    setQueue(rest);
    void sendMessage({ role: "user", parts: [{ type: "data-decision", data: { kind: next.decision.kind, summary: next.summary } }] }, { body: { decision: next.decision } });
  }, [queue, streaming, sendMessage]);

  const send = (message: string) => {
    setBanner(undefined);
    void sendMessage({ text: message });
  };
  const decide = (card: ConfirmCard, decision: Decision) => setDecisions((current) => ({ ...current, [card.toolCallId]: decision }));
  const apply = async (card: ConfirmCard) => {
    if (!card.token) return;
    const { token } = card;
    decide(card, { state: "applying" });
    setBanner(undefined);
    try {
      const { result } = await applyTool(token);
      decide(card, { state: "applied", result });
    } catch (error) {
      decide(card, { state: "failed", message: refusalText(error) });
      return;
    }
    setQueue((current) => [...current, { decision: { token, kind: "apply" }, summary: card.summary }]);
    for (const plugin of changed) void client.invalidateQueries({ queryKey: [plugin] });
  };
  // The decline holds at once, also when this page goes away before the
  // assistant can be told of it.
  const decline = async (card: ConfirmCard) => {
    if (!card.token) return;
    const { token } = card;
    decide(card, { state: "declining" });
    setBanner(undefined);
    try {
      await declineTool(token);
      decide(card, { state: "declined" });
    } catch (error) {
      decide(card, { state: "failed", message: refusalText(error) });
      return;
    }
    setQueue((current) => [...current, { decision: { token, kind: "decline" }, summary: card.summary }]);
  };

  return (
    <>
      <Transcript
        messages={messages}
        streaming={streaming}
        decisions={decisions}
        onApply={(card) => void apply(card)}
        onDecline={(card) => void decline(card)}
        onAnswer={(answer) => {
          send(answer);
          focusComposer();
        }}
      />
      <Announcer messages={messages} streaming={streaming} />
      {banner ? <Banner error={banner} onDismiss={() => setBanner(undefined)} /> : null}
      <Composer
        value={text}
        onChange={setText}
        onSend={() => {
          const message = text.trim();
          setText("");
          send(message);
        }}
        onStop={() => void stopHere()}
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
                setBanner({ text: toApiError(error).message });
              },
            },
          );
        }}
        skill={skill}
        onSkill={setSkill}
        previous={textOf(messages.findLast((message) => message.role === "user" && textOf(message) !== "")) || undefined}
      />
    </>
  );
}
