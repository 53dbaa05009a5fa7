import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Output } from "@/api/client";

export type Call = Output<"/rest/ai/getToolCall", "get">;

export const approvalsKey = ["ai", "listApprovals"] as const;

/** What waits for this person. Any tool call of theirs, and any change from outside, asks again. */
export function useApprovals() {
  return useQuery({ queryKey: approvalsKey, queryFn: () => call(api.GET("/rest/ai/listApprovals")), meta: { signalScope: "plugin" } });
}

/** One call as the audit log has it. Calls of others are absent without the audit rule. */
export function useToolCall(id: string, enabled = true) {
  return useQuery({
    queryKey: ["ai", "getToolCall", id],
    queryFn: () => call(api.GET("/rest/ai/getToolCall", { params: { query: { toolCallId: id } } })),
    enabled: enabled && id !== "",
    meta: { signalScope: "plugin" },
  });
}

/** A decision, good or refused: either way what waits has to be looked at again, and so does what it changed. */
function useDecision<Out>(mutationFn: (toolCallId: string) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => client.invalidateQueries({ predicate: (query) => query.queryKey[0] !== "session" && query.queryKey[0] !== "bootstrap" && query.queryKey[1] !== "getConversation" }),
  });
}

export const useApprove = () => useDecision((toolCallId) => call(api.POST("/rest/ai/approveCall", { body: { toolCallId } })));
export const useReject = () => useDecision((toolCallId) => call(api.POST("/rest/ai/rejectCall", { body: { toolCallId } })));
