import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getBootstrap, getSession, type Session } from "@/api/auth";
import { allows } from "./access";

export const sessionKey = ["session"] as const;
export const bootstrapKey = ["bootstrap"] as const;

const guest: Session = { authenticated: false, roles: [], rules: [] };

export function useBootstrap() {
  return useQuery({ queryKey: bootstrapKey, queryFn: getBootstrap, staleTime: 5 * 60_000 });
}

export function useSessionQuery() {
  return useQuery({ queryKey: sessionKey, queryFn: getSession, staleTime: 60_000 });
}

/** The current session; a guest without rights while it is being resolved. */
export function useSession(): Session {
  return useSessionQuery().data ?? guest;
}

/** Answers "no" while the session is still being resolved. */
export function useCan(): (rule: string) => boolean {
  const { rules } = useSession();
  return (rule) => allows(rules, rule);
}

/** Replaces the session after sign-in or sign-out and drops the other person's data. */
export function useReplaceSession() {
  const client = useQueryClient();
  return (session: Session | undefined) => {
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== "session" && query.queryKey[0] !== "bootstrap" });
    client.setQueryData(sessionKey, session ?? { ...guest, left: true });
    void client.invalidateQueries({ queryKey: bootstrapKey });
  };
}
