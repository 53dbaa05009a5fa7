import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type Integration = NonNullable<Output<"/rest/ai/listChatIntegrations", "get">["integrations"]>[number];
export type Conversation = NonNullable<Output<"/rest/ai/listConversations", "get">["conversations"]>[number];
export type PermissionMode = Conversation["permissionMode"];

export function useIntegrations() {
  return useQuery({ queryKey: ["ai", "listChatIntegrations"], queryFn: () => call(api.GET("/rest/ai/listChatIntegrations")), meta: { deaf: true } });
}

export type Skill = NonNullable<Output<"/rest/ai/listSkills", "get">["skills"]>[number];

/** The caller's chats; a signal tells that a turn began or ended in one, or that a model gave it a title. */
export function useConversations(archived = false, enabled = true) {
  return useQuery({
    queryKey: ["ai", "listConversations", archived],
    queryFn: () => call(api.GET("/rest/ai/listConversations", archived ? { params: { query: { archived } } } : {})),
    enabled,
    // A tab that nobody looks at hears no signals.
    refetchOnWindowFocus: "always",
    meta: { signalScope: "plugin" },
  });
}

/** The skills that can guide a chat. */
export function useSkills(enabled: boolean) {
  return useQuery({ queryKey: ["ai", "listSkills", "chat"], queryFn: () => call(api.GET("/rest/ai/listSkills", { params: { query: { target: "chat" } } })), enabled });
}

/**
 * A conversation with its messages, loaded afresh each time it is opened and
 * then left alone: the open transcript is newer than what is stored.
 */
export function useConversation(id: string, enabled: boolean) {
  return useQuery({
    queryKey: ["ai", "getConversation", id],
    queryFn: () => call(api.GET("/rest/ai/getConversation", { params: { query: { id } } })),
    enabled,
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    meta: { deaf: true },
  });
}

/** What became of a proposal; a signal of any tool call of this person refreshes it. */
export function useProposal(toolCallId: string, enabled: boolean) {
  return useQuery({
    queryKey: ["ai", "getProposal", toolCallId],
    queryFn: () => call(api.GET("/rest/ai/getProposal", { params: { query: { toolCallId } } })),
    enabled,
    staleTime: 0,
  });
}

export function useExamples() {
  return useQuery({ queryKey: ["ai", "getExamples"], queryFn: () => call(api.GET("/rest/ai/getExamples")), staleTime: Infinity, meta: { deaf: true } });
}

function useListMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: ["ai", "listConversations"] }) });
}

export const useCreateConversation = () => useListMutation((body: Body<"/rest/ai/createConversation", "post">) => call(api.POST("/rest/ai/createConversation", { body })));
export const useUpdateConversation = () => useListMutation((body: Body<"/rest/ai/updateConversation", "patch">) => call(api.PATCH("/rest/ai/updateConversation", { body })));
export const useArchiveConversation = () => useListMutation((id: string) => call(api.POST("/rest/ai/archiveConversation", { body: { id } })));
export const useRestoreConversation = () => useListMutation((id: string) => call(api.POST("/rest/ai/restoreConversation", { body: { id } })));

/** Stops a turn that is answered for another tab or page. */
export const stopTurn = (id: string) => call(api.POST("/rest/ai/stopTurn", { body: { id } }));

/** Ends a proposal without a change. */
export const declineTool = (token: string) => call(api.POST("/rest/ai/declineTool", { body: { token } }));

/** Runs an approved proposal. */
export const applyTool = (token: string) => call(api.POST("/rest/ai/applyTool", { body: { token } }));
