import { useQuery } from "@tanstack/react-query";
import { api, call, type Output } from "@/api/client";

export type Issues = Output<"/rest/system/getIssues", "get">;
export type SystemIssue = NonNullable<Issues["systems"]>[number];
export type ActivityItem = Output<"/rest/system/getRecentActivity", "get">["items"][number];

/** What needs attention. Any change in a domain that has a say refreshes it. */
export function useIssues() {
  return useQuery({
    queryKey: ["system", "getIssues"],
    queryFn: () => call(api.GET("/rest/system/getIssues")),
    meta: { signals: ["healthcheck", "catalog", "incident", "maintenance"] },
  });
}

export function useActivity(limit: number) {
  return useQuery({
    queryKey: ["system", "getRecentActivity", limit],
    queryFn: () => call(api.GET("/rest/system/getRecentActivity", { params: { query: { limit } } })),
    meta: { signals: ["healthcheck", "catalog", "incident", "maintenance"] },
  });
}
