import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";
import { chunked, type BulkOutcome } from "@/ui/bulk";

type Page = Output<"/rest/maintenance/listMaintenances", "get">;
export type Maintenance = NonNullable<Page["maintenances"]>[number];
export type Detail = Output<"/rest/maintenance/getMaintenance", "get">;
export type Series = NonNullable<Detail["series"]>;
export type Draft = Body<"/rest/maintenance/createMaintenance", "post">;
export type Edit = Body<"/rest/maintenance/updateMaintenance", "patch">;
export type SeriesEdit = Body<"/rest/maintenance/updateSeries", "patch">;
export type Preview = Output<"/rest/maintenance/previewRecurrence", "post">;

export const plugin = "maintenance";

export type Filter = {
  status?: Maintenance["status"] | undefined;
  open?: boolean | undefined;
  systemId?: string | undefined;
  seriesId?: string | undefined;
  query?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  sortOrder?: "asc" | "desc" | undefined;
};

/** One page of maintenances. */
export function listPage(filter: Filter, limit: number, cursor: string | undefined) {
  const query = Object.fromEntries(Object.entries({ ...filter, cursor, limit }).filter(([, value]) => value !== undefined && value !== ""));
  return call(api.GET("/rest/maintenance/listMaintenances", { params: { query } }));
}

/** Maintenances, page by page. Every change of any maintenance refreshes what is shown. */
export function useMaintenances(filter: Filter) {
  return useInfiniteQuery({
    queryKey: [plugin, "listMaintenances", filter],
    queryFn: ({ pageParam }) => listPage(filter, 50, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** How many windows a calendar reads at most. */
export const calendarLimit = 500;

/** Every window that touches a span of time, soonest first, and whether there are more than a calendar shows. */
export function useSpan(from: number, to: number, systemId: string | undefined) {
  const filter: Filter = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), systemId, sortOrder: "asc" };
  return useQuery({
    queryKey: [plugin, "span", filter],
    queryFn: async () => {
      const found: Maintenance[] = [];
      let cursor: string | undefined;
      do {
        const page = await listPage(filter, 100, cursor);
        found.push(...(page.maintenances ?? []));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && found.length < calendarLimit);
      return { maintenances: found, more: cursor !== undefined };
    },
    placeholderData: keepPreviousData,
  });
}

/** The first few that fit a filter. */
export function useFirst(filter: Filter, limit: number, enabled = true) {
  return useQuery({
    queryKey: [plugin, "first", filter, limit],
    queryFn: () => listPage(filter, limit, undefined),
    enabled,
  });
}

const get = (id: string) => call(api.GET("/rest/maintenance/getMaintenance", { params: { query: { id } } }));

export function useMaintenance(id: string) {
  return useQuery({ queryKey: [plugin, "getMaintenance", id], queryFn: () => get(id) });
}

/** What is stored now, past every cache. */
export const readMaintenance = get;

/** For the editor: never starts from stale data, and does not change behind what is typed. */
export function useOpenedMaintenance(id: string) {
  return useQuery({ queryKey: [plugin, "edit", id], queryFn: () => get(id), gcTime: 0, staleTime: Infinity, refetchOnWindowFocus: false, meta: { deaf: true } });
}

/** What is scheduled or in progress on a system. */
export function useSystemMaintenances(systemId: string) {
  return useQuery({
    queryKey: [plugin, "getMaintenancesForSystem", systemId],
    queryFn: () => call(api.GET("/rest/maintenance/getMaintenancesForSystem", { params: { query: { systemId } } })),
  });
}

/** How series repeat, in words, by id. */
export function useSeriesWords(enabled: boolean) {
  return useQuery({
    queryKey: [plugin, "listSeries"],
    queryFn: () => call(api.GET("/rest/maintenance/listSeries", { params: { query: { includeEnded: true, limit: 100 } } })),
    select: (page) => new Map((page.series ?? []).map((series) => [series.id, series.ruleText])),
    enabled,
  });
}

export type Recurring = { startAt: string; endAt: string; recurrence: { rule: string; timeZone: string } };

/** The next occurrences of a recurrence that is not saved yet. */
export function usePreview(input: Recurring | undefined) {
  return useQuery({
    queryKey: [plugin, "previewRecurrence", input],
    queryFn: () => call(api.POST("/rest/maintenance/previewRecurrence", { body: input as Recurring })),
    enabled: input !== undefined,
    placeholderData: keepPreviousData,
    meta: { deaf: true },
  });
}

function useMaintenanceMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["system"] });
      return client.invalidateQueries({ queryKey: [plugin], predicate: (query) => query.meta?.deaf !== true });
    },
  });
}

export const useCreateMaintenance = () => useMaintenanceMutation((body: Draft) => call(api.POST("/rest/maintenance/createMaintenance", { body })));
export const useUpdateMaintenance = () => useMaintenanceMutation((body: Edit) => call(api.PATCH("/rest/maintenance/updateMaintenance", { body })));
export const useCloseMaintenance = () => useMaintenanceMutation((body: { id: string; message?: string }) => call(api.POST("/rest/maintenance/closeMaintenance", { body })));
export const useAddUpdate = () => useMaintenanceMutation((body: Body<"/rest/maintenance/addUpdate", "post">) => call(api.POST("/rest/maintenance/addUpdate", { body })));
export const useAddLink = () => useMaintenanceMutation((body: Body<"/rest/maintenance/addLink", "post">) => call(api.POST("/rest/maintenance/addLink", { body })));
export const useRemoveLink = () => useMaintenanceMutation((body: Body<"/rest/maintenance/removeLink", "delete">) => call(api.DELETE("/rest/maintenance/removeLink", { body })));
export const useUpdateSeries = () => useMaintenanceMutation((body: SeriesEdit) => call(api.PATCH("/rest/maintenance/updateSeries", { body })));
export const useSkipOccurrence = () => useMaintenanceMutation((id: string) => call(api.POST("/rest/maintenance/skipOccurrence", { body: { id } })));

/** A change after which the maintenance of the present page may be gone: its own queries are dropped, since asking again would only say so. */
function useRemoval<In>(mutationFn: (input: In) => Promise<unknown>, leaves: (input: In) => string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: (_, input) => {
      void client.invalidateQueries({ queryKey: ["system"] });
      void client.invalidateQueries({ queryKey: [plugin], predicate: (query) => query.meta?.deaf !== true && !query.queryKey.includes(leaves(input)) });
    },
  });
}

export const useDeleteMaintenance = () => useRemoval((id: string) => call(api.DELETE("/rest/maintenance/deleteMaintenance", { body: { id } })), (id) => id);

/** Ends a series; whether the occurrence on the page goes with it is for the page to find out. */
export const useEndSeries = () => useRemoval((input: { series: Series; shown: string }) => call(api.POST("/rest/maintenance/endSeries", { body: { id: input.series.id, version: input.series.version } })), (input) => input.shown);

async function inPortions(ids: readonly string[], ask: (ids: string[]) => Promise<{ results?: BulkOutcome[] | null }>): Promise<BulkOutcome[]> {
  const results: BulkOutcome[] = [];
  for (const part of chunked(ids)) results.push(...((await ask(part)).results ?? []));
  return results;
}

export const useBulkClose = () => useMaintenanceMutation((ids: readonly string[]) => inPortions(ids, (part) => call(api.POST("/rest/maintenance/bulkCloseMaintenances", { body: { ids: part } }))));
export const useBulkDelete = () => useMaintenanceMutation((ids: readonly string[]) => inPortions(ids, (part) => call(api.POST("/rest/maintenance/bulkDeleteMaintenances", { body: { ids: part } }))));
