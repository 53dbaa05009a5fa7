import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type System = Output<"/rest/catalog/getSystem", "get">;
export type Entities = Output<"/rest/catalog/getEntities", "get">;
export type Group = NonNullable<Entities["groups"]>[number];

export function useEntities(enabled = true) {
  return useQuery({ queryKey: ["catalog", "getEntities"], queryFn: () => call(api.GET("/rest/catalog/getEntities")), enabled, meta: { signalScope: "plugin" } });
}

export function useSystem(systemId: string) {
  return useQuery({
    queryKey: ["catalog", "getSystem", systemId],
    queryFn: () => call(api.GET("/rest/catalog/getSystem", { params: { query: { systemId } } })),
  });
}

/** Who asks for quiet about the system's health now, if anyone does. */
export function useSilence(systemId: string) {
  return useQuery({
    queryKey: ["system", "getSilence", systemId],
    queryFn: () => call(api.GET("/rest/system/getSilence", { params: { query: { systemId } } })),
    meta: { signals: ["incident", "maintenance"] },
  });
}

function useCatalogMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () =>
      Promise.all([client.invalidateQueries({ queryKey: ["catalog"] }), client.invalidateQueries({ queryKey: ["system"] })]),
  });
}

export const useCreateSystem = () => useCatalogMutation((body: Body<"/rest/catalog/createSystem", "post">) => call(api.POST("/rest/catalog/createSystem", { body })));
export const useUpdateSystem = () => useCatalogMutation((body: Body<"/rest/catalog/updateSystem", "patch">) => call(api.PATCH("/rest/catalog/updateSystem", { body })));
export const useDeleteSystem = () => useCatalogMutation((id: string) => call(api.DELETE("/rest/catalog/deleteSystem", { body: { id } })));
export const useAddLink = () => useCatalogMutation((body: Body<"/rest/catalog/addSystemLink", "post">) => call(api.POST("/rest/catalog/addSystemLink", { body })));
export const useRemoveLink = () => useCatalogMutation((body: Body<"/rest/catalog/removeSystemLink", "delete">) => call(api.DELETE("/rest/catalog/removeSystemLink", { body })));
export const useCreateGroup = () => useCatalogMutation((body: Body<"/rest/catalog/createGroup", "post">) => call(api.POST("/rest/catalog/createGroup", { body })));
export const useUpdateGroup = () => useCatalogMutation((body: Body<"/rest/catalog/updateGroup", "patch">) => call(api.PATCH("/rest/catalog/updateGroup", { body })));
export const useDeleteGroup = () => useCatalogMutation((id: string) => call(api.DELETE("/rest/catalog/deleteGroup", { body: { id } })));

/** Brings the groups of a system to the wanted set, one membership at a time. */
export const useSetGroups = () =>
  useCatalogMutation(async ({ systemId, before, after }: { systemId: string; before: readonly string[]; after: readonly string[] }) => {
    for (const groupId of after.filter((id) => !before.includes(id))) await call(api.POST("/rest/catalog/addSystemToGroup", { body: { groupId, systemId } }));
    for (const groupId of before.filter((id) => !after.includes(id))) await call(api.DELETE("/rest/catalog/removeSystemFromGroup", { body: { groupId, systemId } }));
  });
