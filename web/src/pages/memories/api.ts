import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type Memory = NonNullable<Output<"/rest/ai/listMemories", "get">["memories"]>[number];
export type Draft = Body<"/rest/ai/saveMemory", "post">;

/** More than this is not shown; there is no paging, since nobody reads on. */
export const most = 500;

const key = (systemId: string) => ["ai", "listMemories", systemId] as const;

/** Memories that the reader may see. The assistant saves some too, so any call of it may bring one. */
export function useMemories(systemId: string) {
  return useQuery({
    queryKey: key(systemId),
    queryFn: () => call(api.GET("/rest/ai/listMemories", { params: { query: { limit: most, ...(systemId ? { systemId } : {}) } } })),
    placeholderData: keepPreviousData,
    meta: { signalScope: "plugin" },
  });
}

/** How many memories the system's own page shows. */
const few = 3;

/** The memories about a system that changed last. */
export function useSystemMemories(systemId: string) {
  return useQuery({
    queryKey: [...key(systemId), few],
    queryFn: () => call(api.GET("/rest/ai/listMemories", { params: { query: { limit: few, systemId } } })),
    meta: { signalScope: "plugin" },
  });
}

/** A memory as it is stored now. */
export const readMemory = (id: string) => call(api.GET("/rest/ai/getMemory", { params: { query: { id } } }));

/** The memory with exactly this hint among one's own, or among those about a system. */
export async function memoryOfHint(hint: string, systemId: string): Promise<Memory | undefined> {
  const { memories } = await call(api.GET("/rest/ai/listMemories", { params: { query: { limit: most, ...(systemId ? { systemId } : {}) } } }));
  return memories?.find((memory) => memory.recallHint === hint && (memory.systemId ?? "") === systemId);
}

function useMemoryMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: ["ai", "listMemories"] }) });
}

export const useSaveMemory = () => useMemoryMutation((body: Draft) => call(api.POST("/rest/ai/saveMemory", { body })));
export const useSetAlwaysInject = () => useMemoryMutation((body: Body<"/rest/ai/setMemoryAlwaysInject", "post">) => call(api.POST("/rest/ai/setMemoryAlwaysInject", { body })));
export const useDeleteMemory = () => useMemoryMutation((id: string) => call(api.DELETE("/rest/ai/deleteMemory", { body: { id } })));
