import { Siren } from "lucide-react";
import { Link } from "react-router";
import { useCan } from "@/app/session";
import type { SystemBlockProps } from "@/app/slots";
import { LinkButton } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ErrorState } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { Reveal } from "@/ui/reveal";
import { useSystemIncidents } from "./api";
import { SeverityBadge, StatusBadge } from "./badges";

/** The active incidents of a system; absent while there are none. */
export default function SystemIncidents({ systemId }: SystemBlockProps) {
  const can = useCan();
  const incidents = useSystemIncidents(systemId);
  const rows = incidents.data?.incidents ?? [];
  if (incidents.isError && !incidents.data) {
    return (
      <div className="mb-7">
        <ErrorState title="The incidents of this system could not be loaded" error={incidents.error} onRetry={() => void incidents.refetch()} />
      </div>
    );
  }
  if (rows.length === 0) return null;
  return (
    <Section
      title="Active incidents"
      actions={
        <>
          <LinkButton size="sm" to={`/incident/system/${systemId}/incidents`}>
            All incidents
          </LinkButton>
          {can("incident.incident.manage") ? (
            <LinkButton size="sm" to={`/incident/new?systemId=${systemId}`}>
              Open another
            </LinkButton>
          ) : null}
        </>
      }
    >
      <Reveal items={rows} step={10} noun="incidents" className="mt-2">
        {(shown) => (
          <ul className="card divide-y divide-line border-l-3! border-l-unhealthy!">
            {shown.map((incident) => (
              <li key={incident.id} className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 py-3">
                <Siren aria-hidden size={17} className="shrink-0 text-unhealthy" />
                <Link to={`/incident/${incident.id}`} className="min-w-0 flex-1 basis-[220px] font-semibold text-ink wrap-anywhere hover:underline">
                  <bdi className="line-clamp-3">{incident.title}</bdi>
                </Link>
                <StatusBadge status={incident.status} />
                <SeverityBadge severity={incident.severity} />
                <span className="text-sm text-ink-3">
                  since <RelativeTime at={incident.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Reveal>
    </Section>
  );
}
