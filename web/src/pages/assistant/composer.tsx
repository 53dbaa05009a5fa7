import { ArrowUp, ChevronDown, Square } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "@/ui/button";
import { Menu, MenuLabel, MenuRadio } from "@/ui/menu";
import type { Integration, PermissionMode, Skill } from "./api";
import { SkillBanner, SkillButton } from "./skills";

const fieldLabel = "Message to the assistant";

/** Puts the keyboard into the message field of the open chat. */
export function focusComposer() {
  document.querySelector<HTMLTextAreaElement>(`textarea[aria-label="${fieldLabel}"]`)?.focus();
}

export type Choice = { connectionId: string; model: string | undefined };

/** The text field with Send or Stop, and the settings of the turn below it. */
export function Composer({
  value,
  onChange,
  onSend,
  onStop,
  streaming,
  sending = false,
  integrations,
  choice,
  onChoice,
  mode,
  onMode,
  skill,
  onSkill,
  previous,
}: {
  value: string;
  onChange: (value: string) => void;
  onSend: () => void;
  onStop?: () => void;
  streaming: boolean;
  sending?: boolean;
  integrations: Integration[];
  choice: Choice | undefined;
  onChoice: (choice: Choice) => void;
  mode: PermissionMode;
  onMode: (mode: PermissionMode) => void;
  skill: Skill | undefined;
  onSkill: (skill: Skill | undefined) => void;
  /** The reader's last message, which the up arrow brings back into an empty field. */
  previous?: string | undefined;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 220)}px`;
  }, [value]);
  useEffect(() => field.current?.focus(), []);
  const sendable = value.trim() !== "" && !streaming && choice !== undefined;
  const zone = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone)[0];
  const hint = useId();
  const selected = integrations.find((each) => each.connectionId === choice?.connectionId);
  return (
    <>
      {skill ? <SkillBanner skill={skill} builtin={selected?.builtin === true} onOff={() => onSkill(undefined)} /> : null}
      <div className="mx-auto w-full max-w-[820px] px-3 pb-3 md:px-6">
        <form
          className="rounded-[10px] border border-line-strong/70 bg-surface focus-within:border-accent-ink"
          onSubmit={(event) => {
            event.preventDefault();
            if (sendable) onSend();
          }}
        >
          <textarea
            ref={field}
            rows={1}
            aria-label={fieldLabel}
            aria-describedby={hint}
            placeholder="Ask, or say what to change"
            maxLength={32_000}
            className="block max-h-[220px] w-full resize-none bg-transparent px-4 pt-3 pb-1 outline-none"
            value={value}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape" && streaming && onStop) {
                event.preventDefault();
                onStop();
                return;
              }
              if (event.key === "ArrowUp" && value === "" && previous) {
                event.preventDefault();
                onChange(previous);
                return;
              }
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              if (sendable) onSend();
            }}
          />
          <div className="flex items-center gap-1 px-2 pb-2">
            <ChoicePicker integrations={integrations} choice={choice} onChoice={onChoice} />
            <Menu
              align="start"
              trigger={
                <PickerButton label="Permission mode">{mode === "auto" ? "Apply by itself" : "Approve changes"}</PickerButton>
              }
            >
              <MenuRadio
                value={mode}
                onChange={onMode}
                options={[
                  { value: "approve", label: "Approve changes", help: "The assistant reads by itself. Each change waits for you." },
                  { value: "auto", label: "Apply by itself", help: "Changes that can be undone are applied right away. Anything destructive still waits for you." },
                ]}
              />
            </Menu>
            <span className="ml-auto" />
            <SkillButton
              skill={skill}
              onSkill={(next) => {
                onSkill(next);
                if (value.trim() === "" && next.promptTemplate) onChange(next.promptTemplate);
              }}
              onPicked={focusComposer}
            />
            {streaming && onStop ? (
              <Button look="secondary" title="Stop (Esc)" icon={<Square aria-hidden size={13} fill="currentColor" />} onClick={onStop}>
                Stop
              </Button>
            ) : (
              <Button type="submit" look="primary" busy={sending} disabled={!sendable} icon={<ArrowUp aria-hidden size={16} />}>
                <span className="max-sm:sr-only">Send</span>
              </Button>
            )}
          </div>
        </form>
        {zone ? <p className="mt-1.5 px-1 text-xs text-ink-3">Times you mention are read in {zone.replace(/_/g, " ")}.</p> : null}
        <p id={hint} className="sr-only">
          Enter sends, Shift and Enter break the line. The up arrow brings your last message back. Escape stops an answer.
        </p>
      </div>
    </>
  );
}

function PickerButton({ label, children, ...rest }: { label: string; children: ReactNode }) {
  return (
    <button
      type="button"
      title={label}
      className="inline-flex min-h-8 min-w-0 items-center gap-1 rounded-[8px] px-2 text-sm text-ink-2 hover:bg-raised hover:text-ink"
      {...rest}
    >
      <span className="sr-only">{label}: </span>
      <span className="truncate">{children}</span>
      <ChevronDown aria-hidden size={14} className="shrink-0" />
    </button>
  );
}

function ChoicePicker({ integrations, choice, onChoice }: { integrations: Integration[]; choice: Choice | undefined; onChoice: (choice: Choice) => void }) {
  const options = integrations.flatMap((integration) => {
    const models = integration.builtin ? [integration.defaultModel] : [...new Set([integration.defaultModel, ...(integration.availableModels ?? [])])];
    return models.map((model) => ({
      value: `${integration.connectionId}\n${model}`,
      label: integration.name,
      ...(integration.builtin ? { help: "No language model. Knows the usual commands." } : { help: model }),
    }));
  });
  const selected = integrations.find((each) => each.connectionId === choice?.connectionId);
  return (
    <Menu
      align="start"
      trigger={
        <PickerButton label="Model">
          {selected ? selected.name : "No model"}
          {selected && !selected.builtin && choice?.model ? <span className="hidden text-ink-3 sm:inline"> {choice.model}</span> : null}
        </PickerButton>
      }
    >
      <MenuLabel>Who answers</MenuLabel>
      <MenuRadio
        value={`${choice?.connectionId ?? ""}\n${choice?.model ?? ""}`}
        onChange={(value) => {
          const [connectionId = "", model = ""] = value.split("\n");
          onChoice({ connectionId, model: model === "" ? undefined : model });
        }}
        options={options}
      />
    </Menu>
  );
}
