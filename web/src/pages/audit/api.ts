import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { api, call } from "@/api/client";
import type { Call } from "@/pages/approvals/api";

export type Filter = {
  mine?: boolean | undefined;
  toolName?: string | undefined;
  effect?: Call["effect"] | undefined;
  status?: Call["status"] | undefined;
  transport?: Call["transport"] | undefined;
  principalKind?: "user" | "application" | undefined;
  principalId?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

/** Calls, newest first, page by page. */
export function useCalls(filter: Filter) {
  return useInfiniteQuery({
    queryKey: ["ai", "listToolCalls", filter],
    queryFn: ({ pageParam }) => {
      const query = Object.fromEntries(Object.entries({ ...filter, cursor: pageParam, limit: 50 }).filter(([, value]) => value !== undefined && value !== ""));
      return call(api.GET("/rest/ai/listToolCalls", { params: { query } }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    meta: { signalScope: "plugin" },
  });
}
