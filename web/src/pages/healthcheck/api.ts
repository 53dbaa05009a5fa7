import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, call, type Body, type Output } from "@/api/client";

export type Configuration = Output<"/rest/healthcheck/getConfiguration", "get">;
export type Strategy = NonNullable<Output<"/rest/healthcheck/getStrategies", "get">["strategies"]>[number];
export type Collector = NonNullable<Output<"/rest/healthcheck/getCollectors", "get">["collectors"]>[number];
export type Draft = Body<"/rest/healthcheck/createConfiguration", "post">;
export type TestResult = Output<"/rest/healthcheck/testConfiguration", "post">;
export type Overview = Output<"/rest/healthcheck/getSystemHealthOverview", "get">;
export type CheckOverview = NonNullable<Overview["checks"]>[number];
export type Run = NonNullable<Output<"/rest/healthcheck/getHistory", "get">["runs"]>[number];
export type DetailedRun = Output<"/rest/healthcheck/getRunById", "get">;
export type Thresholds = NonNullable<CheckOverview["stateThresholds"]>;
export type AggregatedBucket = NonNullable<Output<"/rest/healthcheck/getAggregatedHistory", "get">["buckets"]>[number];

const plugin = "healthcheck";

export function useStrategies() {
  return useQuery({ queryKey: [plugin, "getStrategies"], queryFn: () => call(api.GET("/rest/healthcheck/getStrategies")), staleTime: 10 * 60_000 });
}

export function useCollectors(strategyId: string) {
  return useQuery({
    queryKey: [plugin, "getCollectors", strategyId],
    queryFn: () => call(api.GET("/rest/healthcheck/getCollectors", { params: { query: { strategyId } } })),
    enabled: strategyId !== "",
    staleTime: 10 * 60_000,
  });
}

export function useConfigurations(enabled = true) {
  return useQuery({ queryKey: [plugin, "getConfigurations"], queryFn: () => call(api.GET("/rest/healthcheck/getConfigurations")), enabled });
}

/** For the editor: never starts from stale data. */
export function useConfiguration(id: string | undefined) {
  return useQuery({
    queryKey: [plugin, "getConfiguration", id],
    queryFn: () => call(api.GET("/rest/healthcheck/getConfiguration", { params: { query: { id: id ?? "" } } })),
    enabled: id !== undefined,
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

export function useSystemHealth(systemId: string, enabled = true) {
  return useQuery({
    queryKey: [plugin, "getSystemHealthStatus", systemId],
    queryFn: () => call(api.GET("/rest/healthcheck/getSystemHealthStatus", { params: { query: { systemId } } })),
    enabled,
  });
}

export function useBulkHealth(systemIds: string[]) {
  return useQuery({
    queryKey: [plugin, "getBulkSystemHealthStatus", systemIds],
    queryFn: async () => {
      // One request may name at most 500 systems.
      const chunks = Array.from({ length: Math.ceil(systemIds.length / 500) }, (_, i) => systemIds.slice(i * 500, (i + 1) * 500));
      const parts = await Promise.all(chunks.map((chunk) => call(api.POST("/rest/healthcheck/getBulkSystemHealthStatus", { body: { systemIds: chunk } }))));
      return { statuses: Object.assign({}, ...parts.map((part) => part.statuses)) as (typeof parts)[number]["statuses"] };
    },
    // A change of any system's health concerns the list as a whole.
    meta: { signalScope: "plugin" },
    enabled: systemIds.length > 0,
    placeholderData: keepPreviousData,
  });
}

export function useOverview(systemId: string) {
  return useQuery({
    queryKey: [plugin, "getSystemHealthOverview", systemId],
    queryFn: () => call(api.GET("/rest/healthcheck/getSystemHealthOverview", { params: { query: { systemId } } })),
  });
}

/** Runs are kept for 7 days, so no range reaches further back. */
export const ranges = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 } as const;
export type Range = keyof typeof ranges;

/** Aggregated runs of the last stretch of time; the window moves with every refresh. */
export function useAggregated(systemId: string, configurationId: string, range: Range, targetPoints: number, enabled = true) {
  return useQuery({
    queryKey: [plugin, "getAggregatedHistory", systemId, configurationId, range, targetPoints],
    queryFn: async () => {
      const to = new Date();
      const from = new Date(to.getTime() - ranges[range]);
      const output = await call(
        api.GET("/rest/healthcheck/getAggregatedHistory", {
          params: { query: { systemId, configurationId, startDate: from.toISOString(), endDate: to.toISOString(), targetPoints } },
        }),
      );
      return { from, to, buckets: output.buckets ?? [] };
    },
    enabled,
    placeholderData: keepPreviousData,
  });
}

export type HistoryFilter = { systemId: string; configurationId?: string; status?: Run["status"]; limit: number; offset: number };

/** Runs, newest first; with messages when the reader may see details. */
export function useHistory(filter: HistoryFilter, detailed: boolean) {
  return useQuery({
    queryKey: [plugin, detailed ? "getDetailedHistory" : "getHistory", filter],
    queryFn: async (): Promise<{ runs: (Run & Partial<DetailedRun>)[]; total: number }> => {
      const options = { params: { query: { ...filter, sortOrder: "desc" as const } } };
      const output = detailed ? await call(api.GET("/rest/healthcheck/getDetailedHistory", options)) : await call(api.GET("/rest/healthcheck/getHistory", options));
      return { runs: output.runs ?? [], total: output.total };
    },
    placeholderData: keepPreviousData,
  });
}

export function useRun(runId: string | undefined) {
  return useQuery({
    queryKey: [plugin, "getRunById", runId],
    queryFn: () => call(api.GET("/rest/healthcheck/getRunById", { params: { query: { runId: runId ?? "" } } })),
    enabled: runId !== undefined,
    staleTime: Infinity,
  });
}

function useHealthMutation<In, Out>(mutationFn: (input: In) => Promise<Out>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => Promise.all([client.invalidateQueries({ queryKey: [plugin] }), client.invalidateQueries({ queryKey: ["system"] })]),
  });
}

export const useCreateCheck = () =>
  useHealthMutation(({ draft, systemIds }: { draft: Draft; systemIds: string[] }) =>
    systemIds.length > 0
      ? call(api.POST("/rest/healthcheck/createAndAssign", { body: { ...draft, systemIds } }))
      : call(api.POST("/rest/healthcheck/createConfiguration", { body: draft })),
  );

export const useUpdateCheck = () => useHealthMutation((body: Body<"/rest/healthcheck/updateConfiguration", "patch">) => call(api.PATCH("/rest/healthcheck/updateConfiguration", { body })));
export const useDeleteCheck = () => useHealthMutation((id: string) => call(api.DELETE("/rest/healthcheck/deleteConfiguration", { body: { id } })));
export const usePauseCheck = () =>
  useHealthMutation(({ id, paused }: { id: string; paused: boolean }) =>
    paused ? call(api.POST("/rest/healthcheck/pauseConfiguration", { body: { id } })) : call(api.POST("/rest/healthcheck/resumeConfiguration", { body: { id } })),
  );

/** Runs a draft once and stores nothing. */
export function useTestCheck() {
  return useMutation({ mutationFn: (body: Body<"/rest/healthcheck/testConfiguration", "post">) => call(api.POST("/rest/healthcheck/testConfiguration", { body })) });
}

export const useRunNow = () => useHealthMutation((body: { systemId: string; configurationId: string }) => call(api.POST("/rest/healthcheck/runNow", { body })));
export const useAssociate = () => useHealthMutation((body: Body<"/rest/healthcheck/associateSystem", "post">) => call(api.POST("/rest/healthcheck/associateSystem", { body })));
export const useDisassociate = () => useHealthMutation((body: { systemId: string; configurationId: string }) => call(api.POST("/rest/healthcheck/disassociateSystem", { body })));

/** Brings the systems of a check to the wanted set. */
export const useSetSystems = () =>
  useHealthMutation(async ({ configurationId, before, after }: { configurationId: string; before: readonly string[]; after: readonly string[] }) => {
    for (const systemId of after.filter((id) => !before.includes(id))) await call(api.POST("/rest/healthcheck/associateSystem", { body: { systemId, body: { configurationId } } }));
    for (const systemId of before.filter((id) => !after.includes(id))) await call(api.POST("/rest/healthcheck/disassociateSystem", { body: { systemId, configurationId } }));
  });
