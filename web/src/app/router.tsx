import { Compass } from "lucide-react";
import { createBrowserRouter, Outlet, useRouteError } from "react-router";
import { LinkButton } from "@/ui/button";
import { EmptyState, ErrorState } from "@/ui/feedback";
import { Page } from "@/ui/page";
import { Guard } from "./guard";
import { Shell } from "./shell";

function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState icon={<Compass aria-hidden size={28} />} title="There is nothing at this address" action={<LinkButton to="/">Go to the dashboard</LinkButton>}>
        The link may be old, or what it led to was deleted.
      </EmptyState>
    </Page>
  );
}

function RouteFailure() {
  const error = useRouteError();
  return (
    <div className="mx-auto max-w-[680px] px-4 pt-16">
      <ErrorState title="This page could not be loaded" error={error} onRetry={() => window.location.reload()} />
    </div>
  );
}

const guarded = (rules: string[]) => (
  <Guard rules={rules}>
    <Outlet />
  </Guard>
);

/** Every address of the interface. Pages load when first visited. */
export const router = createBrowserRouter([
  {
    errorElement: <RouteFailure />,
    hydrateFallbackElement: <div />,
    children: [
      { path: "/auth/login", lazy: () => import("@/pages/auth/login") },
      { path: "/auth/onboarding", lazy: () => import("@/pages/auth/onboarding") },
      { path: "/auth/register", lazy: () => import("@/pages/auth/register") },
      { path: "/auth/oauth-consent", lazy: () => import("@/pages/auth/oauth-consent") },
      {
        element: <Shell />,
        children: [
          {
            errorElement: <RouteFailure />,
            children: [
              { index: true, lazy: () => import("@/pages/dashboard/page") },
              {
                element: guarded(["catalog.system.read"]),
                children: [
                  { path: "/catalog", lazy: () => import("@/pages/catalog/browse") },
                  { path: "/catalog/system/:systemId", lazy: () => import("@/pages/catalog/system") },
                ],
              },
              {
                element: guarded(["healthcheck.healthcheck.read"]),
                children: [{ path: "/healthcheck/config", lazy: () => import("@/pages/healthcheck/list") }],
              },
              {
                element: guarded(["healthcheck.healthcheck.manage"]),
                children: [
                  { path: "/healthcheck/config/new", lazy: () => import("@/pages/healthcheck/edit") },
                  { path: "/healthcheck/config/:configurationId", lazy: () => import("@/pages/healthcheck/edit") },
                ],
              },
              {
                element: guarded(["healthcheck.healthcheck.status.read"]),
                children: [
                  { path: "/healthcheck/history/:systemId/:configurationId", lazy: () => import("@/pages/healthcheck/history") },
                  { path: "/healthcheck/history/:systemId/:configurationId/:runId", lazy: () => import("@/pages/healthcheck/history") },
                ],
              },
              {
                element: guarded(["incident.incident.read"]),
                children: [
                  { path: "/incident/config", lazy: () => import("@/pages/incident/list") },
                  { path: "/incident/system/:systemId/incidents", lazy: () => import("@/pages/incident/list") },
                  { path: "/incident/:incidentId", lazy: () => import("@/pages/incident/detail") },
                ],
              },
              {
                element: guarded(["incident.incident.manage"]),
                children: [
                  { path: "/incident/new", lazy: () => import("@/pages/incident/edit") },
                  { path: "/incident/:incidentId/edit", lazy: () => import("@/pages/incident/edit") },
                ],
              },
              {
                element: guarded(["maintenance.maintenance.read"]),
                children: [
                  { path: "/maintenance/config", lazy: () => import("@/pages/maintenance/list") },
                  { path: "/maintenance/calendar", lazy: () => import("@/pages/maintenance/calendar") },
                  { path: "/maintenance/system/:systemId/maintenances", lazy: () => import("@/pages/maintenance/list") },
                  { path: "/maintenance/:maintenanceId", lazy: () => import("@/pages/maintenance/detail") },
                ],
              },
              {
                element: guarded(["maintenance.maintenance.manage"]),
                children: [
                  { path: "/maintenance/new", lazy: () => import("@/pages/maintenance/edit") },
                  { path: "/maintenance/:maintenanceId/edit", lazy: () => import("@/pages/maintenance/edit") },
                ],
              },
              {
                element: guarded(["ai.chat.read"]),
                children: [{ path: "/ai/chat/:conversationId?", lazy: () => import("@/pages/assistant/page") }],
              },
              { path: "/approvals", lazy: () => import("@/pages/approvals/page") },
              { path: "/audit", lazy: () => import("@/pages/audit/page") },
              { element: guarded(["ai.skill.read"]), children: [{ path: "/ai/skills", lazy: () => import("@/pages/skills/page") }] },
              { element: guarded(["ai.memory.read"]), children: [{ path: "/ai/memories", lazy: () => import("@/pages/memories/page") }] },
              { path: "/settings/profile", lazy: () => import("@/pages/settings/profile") },
              { element: guarded(["auth.users.read"]), children: [{ path: "/settings/users", lazy: () => import("@/pages/settings/users") }] },
              { element: guarded(["auth.roles.read"]), children: [{ path: "/settings/roles", lazy: () => import("@/pages/settings/roles") }] },
              { element: guarded(["auth.applications.manage"]), children: [{ path: "/settings/applications", lazy: () => import("@/pages/settings/applications") }] },
              { element: guarded(["integration.connection.read"]), children: [{ path: "/settings/connections", lazy: () => import("@/pages/settings/connections") }] },
              { element: guarded(["ai.mcp.manage"]), children: [{ path: "/settings/outside-agents", lazy: () => import("@/pages/outside-agents/page") }] },
              { element: guarded(["integration.connection.manage"]), children: [{ path: "/settings/spend", lazy: () => import("@/pages/spend/page") }] },
              { element: guarded(["auth.registration.manage"]), children: [{ path: "/settings/registration", lazy: () => import("@/pages/settings/registration") }] },
              { path: "*", element: <NotFound /> },
            ],
          },
        ],
      },
    ],
  },
]);
