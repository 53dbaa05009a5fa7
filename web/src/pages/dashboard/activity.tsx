import { Activity as Pulse, ArrowRight, CircleCheck, Siren, Wrench } from "lucide-react";
import { Link } from "react-router";
import { RelativeTime } from "@/ui/clock";
import { ErrorState, SkeletonRows } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { StateIcon, stateWord } from "@/ui/state";
import { useActivity, type ActivityItem } from "./api";
import { happened } from "./happened";
import { sourcesText } from "./tones";

/** What happened lately in every domain; absent while there is nothing. */
export default function Activity() {
  const activity = useActivity(8);
  if (activity.isPending) return <SkeletonRows rows={3} />;
  if (activity.isError) return <ErrorState title="Recent activity could not be loaded" error={activity.error} onRetry={() => void activity.refetch()} />;
  const { items, failedSources } = activity.data;
  if (items.length === 0 && failedSources.length === 0) return null;
  return (
    <Section title="Recent activity">
      {failedSources.length > 0 ? <p className="mb-3 rounded-[8px] bg-degraded-soft px-4 py-2.5 text-degraded-ink">Could not read {sourcesText(failedSources)}. More may have happened than is shown here.</p> : null}
      {items.length > 0 ? (
        <ul className="card divide-y divide-line">
          {items.map((item) => (
            <li key={`${item.source}${item.id}`} className="flex items-center gap-3 px-4 py-2.5">
              <Icon item={item} />
              <p className="min-w-0 flex-1 wrap-anywhere">
                {item.href?.startsWith("/") ? (
                  <Link to={item.href} className="font-medium text-ink hover:underline">
                    <bdi>{item.title}</bdi>
                  </Link>
                ) : (
                  <bdi className="font-medium text-ink">{item.title}</bdi>
                )}{" "}
                <span className="text-ink-2">{item.source === "healthcheck" ? <HealthChange item={item} /> : happened(item)}</span>
              </p>
              <RelativeTime at={item.at} className="shrink-0 text-sm text-ink-3" />
            </li>
          ))}
        </ul>
      ) : null}
    </Section>
  );
}

function HealthChange({ item }: { item: ActivityItem }) {
  const to = stateWord(item.to ?? "unknown").toLowerCase();
  if (!item.from) return <>became {to}</>;
  return (
    <>
      {stateWord(item.from).toLowerCase()} <ArrowRight aria-label="to" size={13} className="inline align-[-2px]" /> {to}
    </>
  );
}

function Icon({ item }: { item: ActivityItem }) {
  if (item.source === "healthcheck") return <StateIcon state={item.to ?? "unknown"} size={16} />;
  const over = item.kind === "resolved" || item.kind === "completed";
  const Shape = over ? CircleCheck : item.source === "incident" ? Siren : item.source === "maintenance" ? Wrench : Pulse;
  const ink = over ? "text-healthy" : item.source === "maintenance" ? "text-maintenance" : "text-ink-3";
  return <Shape aria-hidden size={16} strokeWidth={2.2} className={`shrink-0 ${ink}`} />;
}
