import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type Profile = Output<"/rest/auth/getCurrentUserProfile", "get">;
export type LoginSession = NonNullable<Output<"/rest/auth/getSessions", "get">["sessions"]>[number];
export type User = NonNullable<Output<"/rest/auth/getUsers", "get">["users"]>[number];
export type Role = NonNullable<Output<"/rest/auth/getRoles", "get">["roles"]>[number];
export type AccessRule = NonNullable<Output<"/rest/auth/getAccessRules", "get">["accessRules"]>[number];
export type Application = NonNullable<Output<"/rest/auth/getApplications", "get">["applications"]>[number];
export type Connection = NonNullable<Output<"/rest/ai/listConnections", "get">["connections"]>[number];
export type ConnectionInput = Body<"/rest/ai/createConnection", "post">;

export const useProfile = () => useQuery({ queryKey: ["auth", "getCurrentUserProfile"], queryFn: () => call(api.GET("/rest/auth/getCurrentUserProfile")) });
export const useLoginSessions = () => useQuery({ queryKey: ["auth", "getSessions"], queryFn: () => call(api.GET("/rest/auth/getSessions")) });
export const useUsers = () => useQuery({ queryKey: ["auth", "getUsers"], queryFn: () => call(api.GET("/rest/auth/getUsers")) });
export const useRoles = (enabled = true) => useQuery({ queryKey: ["auth", "getRoles"], queryFn: () => call(api.GET("/rest/auth/getRoles")), enabled });
export const useAccessRules = () => useQuery({ queryKey: ["auth", "getAccessRules"], queryFn: () => call(api.GET("/rest/auth/getAccessRules")) });
export const useApplications = () => useQuery({ queryKey: ["auth", "getApplications"], queryFn: () => call(api.GET("/rest/auth/getApplications")) });
export const useRegistration = () => useQuery({ queryKey: ["auth", "getRegistrationStatus"], queryFn: () => call(api.GET("/rest/auth/getRegistrationStatus")) });
export const useConnections = () => useQuery({ queryKey: ["ai", "listConnections"], queryFn: () => call(api.GET("/rest/ai/listConnections")), meta: { deaf: true } });

function usePluginMutation<In, Out>(plugin: "auth" | "ai", mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ predicate: (query) => query.queryKey[0] === plugin && query.queryKey[1] !== "getConversation" }),
        plugin === "auth" ? client.invalidateQueries({ queryKey: ["session"] }) : Promise.resolve(),
      ]),
  });
}

export const useUpdateProfile = () => usePluginMutation("auth", (body: Body<"/rest/auth/updateCurrentUser", "patch">) => call(api.PATCH("/rest/auth/updateCurrentUser", { body })));
export const useChangePassword = () => usePluginMutation("auth", (body: Body<"/rest/auth/changePassword", "post">) => call(api.POST("/rest/auth/changePassword", { body })));
export const useDeleteSession = () => usePluginMutation("auth", (id: string) => call(api.DELETE("/rest/auth/deleteSession", { body: { id } })));
export const useCreateUser = () => usePluginMutation("auth", (body: Body<"/rest/auth/createCredentialUser", "post">) => call(api.POST("/rest/auth/createCredentialUser", { body })));
export const useUpdateUserRoles = () => usePluginMutation("auth", (body: Body<"/rest/auth/updateUserRoles", "patch">) => call(api.PATCH("/rest/auth/updateUserRoles", { body })));
export const useDeleteUser = () => usePluginMutation("auth", (userId: string) => call(api.DELETE("/rest/auth/deleteUser", { body: { userId } })));
export const useCreateRole = () => usePluginMutation("auth", (body: Body<"/rest/auth/createRole", "post">) => call(api.POST("/rest/auth/createRole", { body })));
export const useUpdateRole = () => usePluginMutation("auth", (body: Body<"/rest/auth/updateRole", "patch">) => call(api.PATCH("/rest/auth/updateRole", { body })));
export const useDeleteRole = () => usePluginMutation("auth", (id: string) => call(api.DELETE("/rest/auth/deleteRole", { body: { id } })));
export const useCreateApplication = () => usePluginMutation("auth", (body: Body<"/rest/auth/createApplication", "post">) => call(api.POST("/rest/auth/createApplication", { body })));
export const useUpdateApplication = () => usePluginMutation("auth", (body: Body<"/rest/auth/updateApplication", "patch">) => call(api.PATCH("/rest/auth/updateApplication", { body })));
export const useRegenerateKey = () => usePluginMutation("auth", (id: string) => call(api.POST("/rest/auth/regenerateApplicationSecret", { body: { id } })));
export const useDeleteApplication = () => usePluginMutation("auth", (id: string) => call(api.DELETE("/rest/auth/deleteApplication", { body: { id } })));
export const useSetRegistration = () => usePluginMutation("auth", (allowRegistration: boolean) => call(api.POST("/rest/auth/setRegistrationStatus", { body: { allowRegistration } })));
export const useCreateConnection = () => usePluginMutation("ai", (body: ConnectionInput) => call(api.POST("/rest/ai/createConnection", { body })));
export const useUpdateConnection = () => usePluginMutation("ai", (body: Body<"/rest/ai/updateConnection", "patch">) => call(api.PATCH("/rest/ai/updateConnection", { body })));
export const useDeleteConnection = () => usePluginMutation("ai", (id: string) => call(api.DELETE("/rest/ai/deleteConnection", { body: { id } })));

/** Asks the provider for a short answer; stores nothing. */
export function useTestConnection() {
  return useMutation({ mutationFn: (body: Body<"/rest/ai/testConnection", "post">) => call(api.POST("/rest/ai/testConnection", { body })) });
}
