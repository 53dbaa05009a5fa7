import { ArrowRight } from "lucide-react";
import { Link } from "react-router";
import { RelativeTime } from "@/ui/clock";
import { ErrorState, SkeletonRows } from "@/ui/feedback";
import { Section } from "@/ui/page";
import { StateIcon, stateWord } from "@/ui/state";
import { useActivity } from "./api";

/** The newest changes of state; absent while there are none. */
export default function Activity() {
  const activity = useActivity(8);
  if (activity.isPending) return <SkeletonRows rows={3} />;
  if (activity.isError) return <ErrorState title="Recent activity could not be loaded" error={activity.error} onRetry={() => void activity.refetch()} />;
  const items = activity.data.items ?? [];
  if (items.length === 0) return null;
  return (
    <Section title="Recent activity">
      <ul className="card divide-y divide-line">
        {items.map((item) => (
          <li key={item.id} className="flex items-center gap-3 px-4 py-2.5">
            <StateIcon state={item.to} size={16} />
            <p className="min-w-0 flex-1 break-words">
              <Link to={`/catalog/system/${item.systemId}`} className="font-medium text-ink hover:underline">
                {item.systemName}
              </Link>{" "}
              <span className="text-ink-2">
                {item.from ? (
                  <>
                    {stateWord(item.from).toLowerCase()} <ArrowRight aria-label="to" size={13} className="inline align-[-2px]" />{" "}
                  </>
                ) : (
                  "became "
                )}
                {stateWord(item.to).toLowerCase()}
              </span>
            </p>
            <RelativeTime at={item.at} className="shrink-0 text-sm text-ink-3" />
          </li>
        ))}
      </ul>
    </Section>
  );
}
