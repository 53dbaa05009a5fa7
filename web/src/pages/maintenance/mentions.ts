import { api, call } from "@/api/client";
import type { MentionType } from "@/ui/mentions";

/** Lets texts mention maintenances. */
export const maintenanceMentions: MentionType = {
  type: "maintenance",
  noun: "Maintenance",
  rule: "maintenance.maintenance.read",
  plugin: "maintenance",
  href: (id) => `/maintenance/${id}`,
  resolve: async (ids) => (await call(api.POST("/rest/maintenance/resolveMaintenanceRefs", { body: { ids } }))).readable ?? [],
  search: async (query, limit) => (await call(api.GET("/rest/maintenance/searchMaintenanceRefs", { params: { query: { ...(query === "" ? {} : { query }), limit } } }))).items ?? [],
};
