import { Link } from "react-router";
import { isolate } from "@/ui/bidi";

/** A status that somebody forced on a system, as the server tells it. */
export type Override = { source: string; sourceId?: string | undefined; title?: string | undefined; status: string };

const pages: Record<string, (id: string) => string> = { incident: (id) => `/incident/${id}` };

/** The override, when it is why the system has its status. */
export function forcing(health: { status: string; override?: Override | null | undefined } | undefined): Override | undefined {
  const override = health?.override;
  return override && override.status === health.status ? override : undefined;
}

/** "forced by incident: Payments down", for the reason of a state. */
export function forcedText(override: Override | undefined): string | undefined {
  if (!override) return undefined;
  return `forced by ${override.source}${override.title ? `: ${isolate(override.title)}` : ""}`;
}

/** The same beside a state that is shown already, with a link to the reason. */
export function ForcedNote({ override }: { override: Override | undefined }) {
  if (!override) return null;
  const page = override.sourceId ? pages[override.source]?.(override.sourceId) : undefined;
  const title = override.title ? <bdi className="wrap-anywhere">{override.title}</bdi> : null;
  return (
    <span className="min-w-0 text-ink-2">
      forced by {override.source}
      {title ? <>: {page ? <Link to={page} className="text-ink-2 underline decoration-line-strong/60 underline-offset-3 hover:text-ink">{title}</Link> : title}</> : null}
    </span>
  );
}
