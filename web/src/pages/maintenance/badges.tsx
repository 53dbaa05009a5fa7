import { CalendarClock, CircleCheck, CircleSlash, Repeat, Wrench, type LucideIcon } from "lucide-react";
import { Badge } from "@/ui/state";
import { statusLabel } from "./words";

const looks: Record<string, { icon: LucideIcon; tone: "neutral" | "good"; className?: string }> = {
  scheduled: { icon: CalendarClock, tone: "neutral" },
  in_progress: { icon: Wrench, tone: "neutral", className: "bg-maintenance-soft! text-maintenance-ink!" },
  completed: { icon: CircleCheck, tone: "good" },
  cancelled: { icon: CircleSlash, tone: "neutral", className: "text-ink-3!" },
};

export function StatusBadge({ status }: { status: string }) {
  const look = looks[status];
  const Icon = look?.icon ?? CalendarClock;
  return (
    <Badge tone={look?.tone ?? "neutral"} {...(look?.className ? { className: look.className } : {})}>
      <Icon aria-hidden size={13} strokeWidth={2.2} />
      {statusLabel(status)}
    </Badge>
  );
}

/** Marks what repeats; the rule in words, where it is known. */
export function SeriesMark({ rule, className }: { rule?: string | undefined; className?: string }) {
  return (
    <span className={`inline-flex items-center gap-1 text-sm text-ink-3 ${className ?? ""}`} title="Repeats">
      <Repeat aria-hidden size={13} className="shrink-0" />
      {rule ? <span className="min-w-0 break-words">{rule}</span> : <span className="sr-only">Repeats</span>}
    </span>
  );
}
