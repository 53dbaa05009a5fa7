import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";
import { chunked, type BulkOutcome } from "@/ui/bulk";

type Page = Output<"/rest/incident/listIncidents", "get">;
export type Incident = NonNullable<Page["incidents"]>[number];
export type Detail = Output<"/rest/incident/getIncident", "get">;
export type Draft = Body<"/rest/incident/createIncident", "post">;
export type Edit = Body<"/rest/incident/updateIncident", "patch">;

export const plugin = "incident";

export type Filter = { status?: Incident["status"] | undefined; severity?: Incident["severity"] | undefined; systemId?: string | undefined; query?: string | undefined; includeResolved?: boolean | undefined };

/** Incidents, page by page. Every change of any incident refreshes what is shown. */
export function useIncidents(filter: Filter) {
  return useInfiniteQuery({
    queryKey: [plugin, "listIncidents", filter],
    queryFn: ({ pageParam }) => {
      const query = Object.fromEntries(Object.entries({ ...filter, cursor: pageParam, limit: 50 }).filter(([, value]) => value !== undefined && value !== ""));
      return call(api.GET("/rest/incident/listIncidents", { params: { query } }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function useIncident(id: string) {
  return useQuery({
    queryKey: [plugin, "getIncident", id],
    queryFn: () => call(api.GET("/rest/incident/getIncident", { params: { query: { id } } })),
  });
}

/** For the editor: never starts from stale data, and does not change behind what is typed. */
export function useOpenedIncident(id: string) {
  return useQuery({
    queryKey: [plugin, "edit", id],
    queryFn: () => call(api.GET("/rest/incident/getIncident", { params: { query: { id } } })),
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    meta: { deaf: true },
  });
}

/** The active incidents of a system. */
export function useSystemIncidents(systemId: string) {
  return useQuery({
    queryKey: [plugin, "getIncidentsForSystem", systemId],
    queryFn: () => call(api.GET("/rest/incident/getIncidentsForSystem", { params: { query: { systemId } } })),
  });
}

/** A change of incidents; it may force the health of systems, so that is asked again too. */
function useIncidentMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => {
      for (const key of ["healthcheck", "system"]) void client.invalidateQueries({ queryKey: [key] });
      return client.invalidateQueries({ queryKey: [plugin], predicate: (query) => query.meta?.deaf !== true });
    },
  });
}

export const useCreateIncident = () => useIncidentMutation((body: Draft) => call(api.POST("/rest/incident/createIncident", { body })));
export const useUpdateIncident = () => useIncidentMutation((body: Edit) => call(api.PATCH("/rest/incident/updateIncident", { body })));
export const useResolveIncident = () => useIncidentMutation((body: { id: string; message?: string }) => call(api.POST("/rest/incident/resolveIncident", { body })));
export const useAddUpdate = () => useIncidentMutation((body: Body<"/rest/incident/addUpdate", "post">) => call(api.POST("/rest/incident/addUpdate", { body })));
export const useAddLink = () => useIncidentMutation((body: Body<"/rest/incident/addLink", "post">) => call(api.POST("/rest/incident/addLink", { body })));
export const useRemoveLink = () => useIncidentMutation((body: Body<"/rest/incident/removeLink", "delete">) => call(api.DELETE("/rest/incident/removeLink", { body })));

/** Deletes an incident. Its own queries are dropped, since asking again would only say that it is gone. */
export function useDeleteIncident() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => call(api.DELETE("/rest/incident/deleteIncident", { body: { id } })),
    onSuccess: (_, id) => {
      for (const key of ["healthcheck", "system"]) void client.invalidateQueries({ queryKey: [key] });
      void client.invalidateQueries({ queryKey: [plugin], predicate: (query) => !query.queryKey.includes(id) });
    },
  });
}

async function inPortions(ids: readonly string[], ask: (ids: string[]) => Promise<{ results?: BulkOutcome[] | null }>): Promise<BulkOutcome[]> {
  const results: BulkOutcome[] = [];
  for (const part of chunked(ids)) results.push(...((await ask(part)).results ?? []));
  return results;
}

export const useBulkResolve = () => useIncidentMutation((ids: readonly string[]) => inPortions(ids, (part) => call(api.POST("/rest/incident/bulkResolveIncidents", { body: { ids: part } }))));
export const useBulkDelete = () => useIncidentMutation((ids: readonly string[]) => inPortions(ids, (part) => call(api.POST("/rest/incident/bulkDeleteIncidents", { body: { ids: part } }))));
