import { Brain, Siren, Wrench, type LucideIcon } from "lucide-react";
import { lazy, type ComponentType, type LazyExoticComponent } from "react";

/**
 * Places of shared pages that several domains fill. A domain adds an entry
 * here; the page renders the entries in order, each in its own error boundary,
 * and only for people who hold one of its rules.
 */
export type SlotEntry<Props> = {
  id: string;
  order: number;
  /** Empty: everyone who sees the page. */
  rules: string[];
  Component: ComponentType<Props> | LazyExoticComponent<ComponentType<Props>>;
};

/** Blocks of the system page, below the header. */
export type SystemBlockProps = { systemId: string; systemName: string };
export const systemBlocks: SlotEntry<SystemBlockProps>[] = [
  {
    id: "incident.active",
    order: 10,
    rules: ["incident.incident.read"],
    Component: lazy(() => import("@/pages/incident/system-incidents")),
  },
  {
    id: "maintenance.open",
    order: 12,
    rules: ["maintenance.maintenance.read"],
    Component: lazy(() => import("@/pages/maintenance/system-maintenances")),
  },
  {
    id: "healthcheck.checks",
    order: 20,
    rules: ["healthcheck.healthcheck.status.read"],
    Component: lazy(() => import("@/pages/healthcheck/system-checks")),
  },
  {
    id: "healthcheck.runs",
    order: 30,
    rules: ["healthcheck.healthcheck.status.read"],
    Component: lazy(() => import("@/pages/healthcheck/system-runs")),
  },
  {
    id: "ai.memories",
    order: 80,
    rules: ["ai.memory.read"],
    Component: lazy(() => import("@/pages/memories/system-memories")),
  },
  {
    id: "catalog.details",
    order: 90,
    rules: ["catalog.system.read"],
    Component: lazy(() => import("@/pages/catalog/system-details")),
  },
];

/** What can be done with a system, beside what the catalog offers. */
export type SystemAction = { id: string; label: string; icon: LucideIcon; order: number; rule: string; to: (systemId: string) => string };
export const systemActions: SystemAction[] = [
  { id: "incident.open", label: "Open an incident", icon: Siren, order: 10, rule: "incident.incident.manage", to: (systemId) => `/incident/new?systemId=${systemId}` },
  { id: "incident.history", label: "Incidents so far", icon: Siren, order: 11, rule: "incident.incident.read", to: (systemId) => `/incident/system/${systemId}/incidents` },
  { id: "maintenance.plan", label: "Plan a maintenance", icon: Wrench, order: 20, rule: "maintenance.maintenance.manage", to: (systemId) => `/maintenance/new?systemId=${systemId}` },
  { id: "maintenance.history", label: "Its maintenances", icon: Wrench, order: 21, rule: "maintenance.maintenance.read", to: (systemId) => `/maintenance/system/${systemId}/maintenances` },
  { id: "ai.memories", label: "Memories about it", icon: Brain, order: 30, rule: "ai.memory.read", to: (systemId) => `/ai/memories?system=${systemId}` },
];

/** Blocks of the dashboard, below what needs attention. */
export type DashboardBlockProps = Record<never, never>;
export const dashboardBlocks: SlotEntry<DashboardBlockProps>[] = [
  {
    id: "maintenance.upcoming",
    order: 10,
    rules: ["maintenance.maintenance.read"],
    Component: lazy(() => import("@/pages/dashboard/upcoming")),
  },
  {
    id: "system.activity",
    order: 50,
    rules: ["catalog.system.read"],
    Component: lazy(() => import("@/pages/dashboard/activity")),
  },
];
