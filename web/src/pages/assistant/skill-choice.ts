import { useState } from "react";
import { useCan } from "@/app/session";
import { useSkills, type Skill } from "./api";

const key = (conversationId: string) => `checkstack.assistant.skill.${conversationId}`;

function read(conversationId: string): string | undefined {
  try {
    return sessionStorage.getItem(key(conversationId)) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(conversationId: string, skillId: string | undefined) {
  try {
    if (skillId === undefined) sessionStorage.removeItem(key(conversationId));
    else sessionStorage.setItem(key(conversationId), skillId);
  } catch {
    // Storage may be blocked: the choice then holds until the chat is left.
  }
}

/**
 * The skill that guides a conversation's coming messages. It stays chosen in
 * this tab, also after another chat or a reload, until it is switched off or is
 * no longer there.
 */
export function useSkillChoice(conversationId: string, first: Skill | undefined): [Skill | undefined, (skill: Skill | undefined) => void] {
  const can = useCan();
  const [picked, setPicked] = useState(first);
  const [rememberedId, setRememberedId] = useState(() => {
    if (first) write(conversationId, first.id);
    return first ? undefined : read(conversationId);
  });
  const skills = useSkills(rememberedId !== undefined && can("ai.skill.read"));
  const remembered = rememberedId === undefined ? undefined : skills.data?.skills?.find((each) => each.id === rememberedId);
  const choose = (skill: Skill | undefined) => {
    write(conversationId, skill?.id);
    setRememberedId(undefined);
    setPicked(skill);
  };
  return [picked ?? remembered, choose];
}
