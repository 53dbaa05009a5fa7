import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type AgentSettings = Output<"/rest/auth/getMcpOAuthSettings", "get">;
export type AgentClient = NonNullable<Output<"/rest/auth/getOAuthClients", "get">["clients"]>[number];
export type ConnectedClient = NonNullable<Output<"/rest/auth/getConnectedClients", "get">["clients"]>[number];
export type NewClient = Body<"/rest/auth/createOAuthClient", "post">;

const settingsKey = ["auth", "getMcpOAuthSettings"] as const;
const clientsKey = ["auth", "getOAuthClients"] as const;
const connectedKey = ["auth", "getConnectedClients"] as const;

export const useAgentSettings = () => useQuery({ queryKey: settingsKey, queryFn: () => call(api.GET("/rest/auth/getMcpOAuthSettings")) });
export const useAgentClients = () => useQuery({ queryKey: clientsKey, queryFn: () => call(api.GET("/rest/auth/getOAuthClients")) });
export const useConnectedClients = () => useQuery({ queryKey: connectedKey, queryFn: () => call(api.GET("/rest/auth/getConnectedClients")) });

export function useSetAgentSettings() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Body<"/rest/auth/setMcpOAuthSettings", "post">) => call(api.POST("/rest/auth/setMcpOAuthSettings", { body })),
    onSuccess: (settings) => client.setQueryData(settingsKey, settings),
  });
}

function useClientMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => Promise.all([client.invalidateQueries({ queryKey: clientsKey }), client.invalidateQueries({ queryKey: connectedKey })]),
  });
}

export const useAddClient = () => useClientMutation((body: NewClient) => call(api.POST("/rest/auth/createOAuthClient", { body })));
export const useRemoveClient = () => useClientMutation((id: string) => call(api.DELETE("/rest/auth/deleteOAuthClient", { body: { id } })));
export const useDisconnectClient = () => useClientMutation((id: string) => call(api.POST("/rest/auth/disconnectClient", { body: { id } })));
