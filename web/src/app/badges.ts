import { useQuery } from "@tanstack/react-query";
import { approvalsKey, type Call } from "@/pages/approvals/api";
import { api, call } from "@/api/client";
import type { NavEntry } from "./nav";

function stillOpen(calls: readonly Call[]): number {
  return calls.filter((each) => !each.expiresAt || new Date(each.expiresAt).getTime() > Date.now()).length;
}

/** How many things wait for this person, by the badge's name in the navigation. */
export function useBadges(): Partial<Record<NonNullable<NavEntry["badge"]>, number>> {
  const approvals = useQuery({
    queryKey: approvalsKey,
    queryFn: () => call(api.GET("/rest/ai/listApprovals")),
    select: (data) => stillOpen(data.approvals ?? []),
    meta: { signalScope: "plugin" },
    // No signal tells that a proposal became too old.
    refetchInterval: (query) => ((query.state.data?.approvals?.length ?? 0) > 0 ? 60_000 : false),
  });
  return { approvals: approvals.data ?? 0 };
}
