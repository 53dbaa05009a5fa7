import { clsx } from "clsx";
import { CircleCheck, CircleDashed, CircleX, PauseCircle, TriangleAlert, Wrench, BellOff, Eye } from "lucide-react";
import type { ReactNode } from "react";

export type State = "healthy" | "degraded" | "unhealthy" | "unknown" | "maintenance" | "suppressed" | "paused" | "watch";

const looks: Record<State, { icon: typeof CircleCheck; word: string; pill: string; ink: string }> = {
  healthy: { icon: CircleCheck, word: "Healthy", pill: "bg-healthy-soft text-healthy-ink", ink: "text-healthy" },
  degraded: { icon: TriangleAlert, word: "Degraded", pill: "bg-degraded-soft text-degraded-ink", ink: "text-degraded" },
  unhealthy: { icon: CircleX, word: "Unhealthy", pill: "bg-unhealthy-soft text-unhealthy-ink", ink: "text-unhealthy" },
  unknown: { icon: CircleDashed, word: "Unknown", pill: "bg-unknown-soft text-unknown-ink", ink: "text-unknown" },
  maintenance: { icon: Wrench, word: "Maintenance", pill: "bg-maintenance-soft text-maintenance-ink", ink: "text-maintenance" },
  suppressed: { icon: BellOff, word: "Suppressed", pill: "bg-suppressed-soft text-suppressed-ink", ink: "text-suppressed" },
  watch: { icon: Eye, word: "To watch", pill: "bg-maintenance-soft text-maintenance-ink", ink: "text-maintenance" },
  paused: { icon: PauseCircle, word: "Paused", pill: "bg-unknown-soft text-unknown-ink", ink: "text-unknown" },
};

/** Colour, icon and word together, the reason on hover; a value we do not know reads as unknown. */
export function StatePill({ state, word, className, reason }: { state: string; word?: string; className?: string; reason?: string | undefined }) {
  const look = looks[state as State] ?? looks.unknown;
  const Icon = look.icon;
  return (
    <span title={reason ? `${word ?? look.word} - ${reason}` : undefined} className={clsx("inline-flex items-center gap-1.5 whitespace-nowrap rounded-full px-2 py-0.5 text-xs font-medium", look.pill, className)}>
      <Icon aria-hidden size={14} strokeWidth={2.2} />
      <span>{word ?? look.word}</span>
      {reason ? <span className="sr-only">, {reason}</span> : null}
    </span>
  );
}

export function StateIcon({ state, size = 18, className }: { state: string; size?: number; className?: string }) {
  const look = looks[state as State] ?? looks.unknown;
  const Icon = look.icon;
  return (
    <span className={clsx("inline-flex", look.ink, className)}>
      <Icon aria-hidden size={size} strokeWidth={2.2} />
      <span className="sr-only">{look.word}</span>
    </span>
  );
}

export function stateWord(state: string): string {
  return (looks[state as State] ?? looks.unknown).word;
}

export function Badge({ children, tone = "neutral", className }: { children: ReactNode; tone?: "neutral" | "accent" | "danger" | "good" | "warn"; className?: string }) {
  return (
    <span
      className={clsx(
        "inline-flex items-center gap-1 whitespace-nowrap rounded-full px-2 py-0.5 text-xs font-medium",
        tone === "neutral" && "bg-raised text-ink-2",
        tone === "accent" && "bg-accent-soft text-accent-ink",
        tone === "danger" && "bg-unhealthy-soft text-unhealthy-ink",
        tone === "good" && "bg-healthy-soft text-healthy-ink",
        tone === "warn" && "bg-degraded-soft text-degraded-ink",
        className,
      )}
    >
      {children}
    </span>
  );
}
