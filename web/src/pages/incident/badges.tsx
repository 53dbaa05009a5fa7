import { ChevronsUp, ChevronUp, CircleCheck, Eye, Hammer, Minus, ScanSearch, Target, type LucideIcon } from "lucide-react";
import { Badge } from "@/ui/state";
import { severityLabel, statusLabel } from "./words";

const statusLooks: Record<string, { icon: LucideIcon; tone: "danger" | "warn" | "accent" | "good" }> = {
  investigating: { icon: ScanSearch, tone: "danger" },
  identified: { icon: Target, tone: "danger" },
  fixing: { icon: Hammer, tone: "warn" },
  monitoring: { icon: Eye, tone: "accent" },
  resolved: { icon: CircleCheck, tone: "good" },
};

export function StatusBadge({ status }: { status: string }) {
  const look = statusLooks[status];
  const Icon = look?.icon ?? ScanSearch;
  return (
    <Badge tone={look?.tone ?? "neutral"}>
      <Icon aria-hidden size={13} strokeWidth={2.2} />
      {statusLabel(status)}
    </Badge>
  );
}

const severityLooks: Record<string, { icon: LucideIcon; tone: "danger" | "warn" | "neutral" }> = {
  critical: { icon: ChevronsUp, tone: "danger" },
  major: { icon: ChevronUp, tone: "warn" },
  minor: { icon: Minus, tone: "neutral" },
};

export function SeverityBadge({ severity }: { severity: string }) {
  const look = severityLooks[severity];
  const Icon = look?.icon ?? Minus;
  return (
    <Badge tone={look?.tone ?? "neutral"}>
      <Icon aria-hidden size={13} strokeWidth={2.4} />
      {severityLabel(severity)}
    </Badge>
  );
}
