import { ApiError, errorFromResponse, toApiError } from "@/api/errors";
import { humanize } from "@/ui/schema";

/** What an outside agent asks for, as the authorization server tells it. */
export type Consent = {
  client: string;
  clientId: string;
  source: "manual" | "dynamic" | "document";
  documentHost?: string;
  redirectHost: string;
  thisMachine: boolean;
  scopes: string[];
  permissions: { id: string; description: string }[];
  missing: number;
  proposes: boolean;
  before: boolean;
};

const path = "/api/auth/oauth2/consent";

async function answer<T>(pending: Promise<Response>): Promise<T> {
  try {
    const response = await pending;
    const text = await response.text();
    let body: unknown = text;
    try {
      body = text === "" ? undefined : JSON.parse(text);
    } catch {
      // A proxy's page, for example; the text itself is kept.
    }
    if (!response.ok) throw errorFromResponse(response, body);
    if (typeof body !== "object" || body === null) throw new ApiError({ code: "unexpected_answer", message: "The server did not answer in the expected form.", status: response.status });
    return body as T;
  } catch (error) {
    throw toApiError(error);
  }
}

export const getConsent = (request: string) => answer<Consent>(fetch(`${path}?request=${encodeURIComponent(request)}`, { credentials: "same-origin" }));

export const decideConsent = (request: string, allow: boolean) =>
  answer<{ redirectTo: string }>(fetch(path, { method: "POST", credentials: "same-origin", headers: { "content-type": "application/json" }, body: JSON.stringify({ request, allow }) }));

/** Where the browser may be sent after a decision: the web, never a script or a local file. */
export function safeRedirect(to: string): string | undefined {
  try {
    const url = new URL(to);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

const areas: Record<string, string> = {
  catalog: "Catalog",
  healthcheck: "Health checks",
  incident: "Incidents",
  maintenance: "Maintenances",
  ai: "Assistant",
  auth: "People and access",
  integration: "Connections",
  system: "Overview",
};

export type Area = { id: string; name: string; changes: boolean; permissions: { id: string; description: string; changes: boolean }[] };

/** Permissions by the part of the product they open, reading before changing. */
export function byArea(permissions: Consent["permissions"]): Area[] {
  const groups = new Map<string, Area>();
  for (const { id, description } of permissions) {
    const plugin = id.split(".")[0] ?? id;
    const area = groups.get(plugin) ?? { id: plugin, name: areas[plugin] ?? humanize(plugin), changes: false, permissions: [] };
    const changes = !id.endsWith(".read");
    area.changes ||= changes;
    area.permissions.push({ id, description, changes });
    groups.set(plugin, area);
  }
  for (const area of groups.values()) area.permissions.sort((a, b) => Number(a.changes) - Number(b.changes));
  return [...groups.values()].sort((a, b) => a.name.localeCompare(b.name));
}
