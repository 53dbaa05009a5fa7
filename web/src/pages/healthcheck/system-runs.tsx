import { useCan } from "@/app/session";
import type { SystemBlockProps } from "@/app/slots";
import { ErrorState, SkeletonRows } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { useHistory, useOverview } from "./api";
import { RunList } from "./run-list";

/** The newest runs of all checks of a system. */
export default function SystemRuns({ systemId }: SystemBlockProps) {
  const can = useCan();
  const overview = useOverview(systemId);
  const history = useHistory({ systemId, limit: 10, offset: 0 }, can("healthcheck.healthcheck.details.read"));
  const names = new Map((overview.data?.checks ?? []).map((check) => [check.configurationId, check.configurationName]));
  if (history.isPending) return <SkeletonRows rows={4} className="mb-7" />;
  if (history.isError && !history.data) {
    return (
      <div className="mb-7">
        <ErrorState title="The runs could not be loaded" error={history.error} onRetry={() => void history.refetch()} />
      </div>
    );
  }
  if (!history.data || history.data.runs.length === 0) return null;
  return (
    <Section title="Recent runs">
      <div className="card overflow-hidden">
        <RunList runs={history.data.runs} nameOf={(id) => names.get(id) ?? "removed check"} />
      </div>
    </Section>
  );
}
