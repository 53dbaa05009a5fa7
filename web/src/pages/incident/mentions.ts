import { api, call } from "@/api/client";
import type { MentionType } from "@/ui/mentions";

/** Lets texts mention incidents. */
export const incidentMentions: MentionType = {
  type: "incident",
  noun: "Incident",
  rule: "incident.incident.read",
  plugin: "incident",
  href: (id) => `/incident/${id}`,
  resolve: async (ids) => (await call(api.POST("/rest/incident/resolveIncidentRefs", { body: { ids } }))).readable ?? [],
  search: async (query, limit) => (await call(api.GET("/rest/incident/searchIncidentRefs", { params: { query: { ...(query === "" ? {} : { query }), limit } } }))).items ?? [],
};
