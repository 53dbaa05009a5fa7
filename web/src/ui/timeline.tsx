import { Globe, Lock, UserRound, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { RelativeTime } from "./clock";
import { OperatorText } from "./markdown";
import { Badge } from "./state";

export type Audience = "public" | "logged-in" | "internal";

/** Who may read an update, widest first. */
export const audiences: { value: Audience; label: string; help: string; icon: LucideIcon }[] = [
  { value: "public", label: "Public", help: "Everyone, also without an account", icon: Globe },
  { value: "logged-in", label: "Signed in", help: "Everyone with an account who may read it", icon: UserRound },
  { value: "internal", label: "Internal", help: "Only people who may manage it", icon: Lock },
];

export function AudienceBadge({ audience }: { audience: string }) {
  const known = audiences.find((each) => each.value === audience);
  const Icon = known?.icon ?? Lock;
  return (
    <Badge tone={audience === "public" ? "neutral" : "warn"}>
      <Icon aria-hidden size={12} />
      <span className="sr-only">Audience: </span>
      {known?.label ?? audience}
    </Badge>
  );
}

export type TimelineUpdate = {
  id: string;
  message: string;
  statusChange?: string | null | undefined;
  audience: string;
  createdAt: string;
  createdByName?: string | null | undefined;
};

/** Updates, newest first. The texts link their mentions inside a MentionScope. */
export function Timeline({ label, updates, status, empty }: { label: string; updates: readonly TimelineUpdate[]; status: (status: string) => ReactNode; empty: ReactNode }) {
  if (updates.length === 0) return <p className="card px-4 py-6 text-center text-ink-2">{empty}</p>;
  return (
    <ol aria-label={label} className="card divide-y divide-line">
      {[...updates].reverse().map((update) => (
        <li key={update.id} className="px-4 py-3">
          <div className="mb-1 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-sm text-ink-3">
            {update.statusChange ? status(update.statusChange) : null}
            <RelativeTime at={update.createdAt} />
            {update.createdByName ? (
              <span className="min-w-0 break-words">
                by <bdi>{update.createdByName}</bdi>
              </span>
            ) : null}
            <AudienceBadge audience={update.audience} />
          </div>
          <OperatorText text={update.message} className="max-w-[75ch]" />
        </li>
      ))}
    </ol>
  );
}
