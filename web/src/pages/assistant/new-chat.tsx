import { Sparkles } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { toApiError } from "@/api/errors";
import { useCreateConversation, useExamples, type Integration, type PermissionMode, type Skill } from "./api";
import { Banner } from "./banner";
import { initialChoice, remember } from "./choice";
import { Composer, focusComposer } from "./composer";
import { putPending } from "./pending";

/** The empty chat. The conversation is created with the first message. */
export function NewChat({ integrations }: { integrations: Integration[] }) {
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const [text, setText] = useState(params.get("prompt") ?? "");
  // Another link may bring words while the chat is open, also the same ones again:
  // each navigation has a key of its own. What was typed meanwhile is kept.
  const { key } = useLocation();
  const prompt = params.get("prompt") ?? "";
  const [brought, setBrought] = useState({ key, prompt });
  if (key !== brought.key) {
    setBrought({ key, prompt });
    const typed = text.trim();
    if (prompt !== "") setText(typed === "" || typed === brought.prompt.trim() || typed === prompt ? prompt : `${text.trimEnd()}\n\n${prompt}`);
  }
  useEffect(() => {
    if (prompt !== "") focusComposer();
  }, [key, prompt]);
  const [choice, setChoice] = useState(() => initialChoice(integrations));
  const [mode, setMode] = useState<PermissionMode>("approve");
  const [skill, setSkill] = useState<Skill>();
  const create = useCreateConversation();
  const examples = useExamples();
  const send = () => {
    const message = text.trim();
    if (message === "" || !choice || create.isPending) return;
    create.mutate(
      { integrationId: choice.connectionId, permissionMode: mode, ...(choice.model ? { model: choice.model } : {}) },
      {
        onSuccess: (conversation) => {
          putPending({ conversation, text: message, skill });
          void navigate(`/ai/chat/${conversation.id}`, { replace: params.has("prompt") });
        },
      },
    );
  };
  return (
    <>
      <div className="flex min-h-0 flex-1 flex-col items-center overflow-y-auto px-4 py-6 text-center">
        <div className="my-auto flex w-full flex-col items-center">
          <Sparkles aria-hidden size={26} className="text-accent-ink" />
          <p className="mt-3 text-lg font-semibold">Ask about your systems, or say what to change</p>
          <p className="mt-1 max-w-[52ch] text-ink-2">{mode === "auto" ? "It reads by itself and applies changes that can be undone right away. Anything destructive waits for your approval." : "It reads by itself. Every change is shown to you first and waits for your approval."}</p>
          <ul aria-label="Examples" className="mt-5 grid w-full max-w-[620px] gap-2 sm:grid-cols-2">
            {(examples.data?.examples ?? []).slice(0, 6).map((example) => (
              <li key={example}>
                <button
                  type="button"
                  onClick={() => {
                    setText(example);
                    focusComposer();
                  }}
                  className="card h-full w-full px-3.5 py-2.5 text-left break-words text-ink-2 hover:border-line-strong hover:text-ink"
                >
                  {example}
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
      {create.isError ? <Banner error={{ text: toApiError(create.error).message }} onDismiss={() => create.reset()} /> : null}
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
        skill={skill}
        onSkill={setSkill}
      />
    </>
  );
}
