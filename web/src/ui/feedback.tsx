import { clsx } from "clsx";
import { Check, CircleAlert, Copy, X } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { toApiError } from "@/api/errors";
import { Button } from "./button";

/** Says that there is nothing, why, and what to do about it. */
export function EmptyState({ title, children, icon, action }: { title: string; children?: ReactNode; icon?: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center px-4 py-10 text-center">
      {icon ? <div className="mb-3 text-ink-3">{icon}</div> : null}
      <p className="font-semibold">{title}</p>
      {children ? <div className="mt-1 max-w-[46ch] text-ink-2">{children}</div> : null}
      {action ? <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div> : null}
    </div>
  );
}

/** Says what failed with the real text, and offers to try again. */
export function ErrorState({ error, title, onRetry }: { error: unknown; title: string; onRetry?: () => void }) {
  const { message, correlationId } = toApiError(error);
  return (
    <div role="alert" className="card flex flex-col items-start gap-3 border-unhealthy/40! px-4 py-4 sm:flex-row sm:items-center">
      <CircleAlert aria-hidden size={20} className="shrink-0 text-unhealthy" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{title}</p>
        <p className="break-words text-ink-2">{message}</p>
        {correlationId ? (
          <p className="mt-1 flex flex-wrap items-center gap-2 text-sm text-ink-3">
            <span className="font-mono break-all">{correlationId}</span>
            <CopyButton text={correlationId} label="Copy correlation id" size="sm" />
          </p>
        ) : null}
      </div>
      {onRetry ? <Button onClick={onRetry}>Try again</Button> : null}
    </div>
  );
}

export function CopyButton({ text, label = "Copy", size = "md" }: { text: string; label?: string; size?: "md" | "sm" }) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <Button
      size={size}
      look={size === "sm" ? "quiet" : "secondary"}
      icon={copied ? <Check aria-hidden size={14} /> : <Copy aria-hidden size={14} />}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => {
          setCopied(true);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => setCopied(false), 2000);
        });
      }}
    >
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </Button>
  );
}

/** Grey lines in the shape of a list; appears only when loading takes longer than 300 ms. */
export function SkeletonRows({ rows = 4, className }: { rows?: number; className?: string }) {
  return (
    <div role="status" aria-label="Loading" className={clsx("late card divide-y divide-line", className)}>
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="flex items-center gap-3 px-4 py-3.5">
          <div className="pulse size-4 rounded-full bg-raised" />
          <div className="pulse h-3.5 rounded bg-raised" style={{ width: `${38 - (i % 3) * 7}%` }} />
          <div className="pulse ml-auto h-3.5 w-16 rounded bg-raised" />
        </div>
      ))}
    </div>
  );
}

export function SkeletonBlock({ className }: { className?: string }) {
  return <div role="status" aria-label="Loading" className={clsx("late pulse rounded-[8px] bg-raised", className)} />;
}

type Toast = { id: number; text: string; tone: "good" | "bad" };
let toasts: Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();
function publish(next: Toast[]) {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Confirms something that happened out of sight; errors are cut at 100 characters. */
export function toast(text: string, tone: "good" | "bad" = "good") {
  const id = nextId++;
  const short = text.length > 100 ? `${text.slice(0, 99)}…` : text;
  publish([...toasts.slice(-2), { id, text: short, tone }]);
  setTimeout(() => publish(toasts.filter((each) => each.id !== id)), tone === "good" ? 4000 : 8000);
}

export function toastError(error: unknown) {
  toast(toApiError(error).message, "bad");
}

export function Toasts() {
  const list = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div role="status" aria-live="polite" aria-label="Notices" className="pointer-events-none fixed right-3 bottom-3 left-3 z-60 flex flex-col items-end gap-2">
      {list.map((each) => (
        <div key={each.id} className="rise pointer-events-auto flex max-w-[420px] items-center gap-2.5 rounded-[8px] border border-line bg-surface px-3.5 py-2.5 shadow-[var(--shadow-overlay)]">
          {each.tone === "good" ? <Check aria-hidden size={16} className="shrink-0 text-healthy" /> : <CircleAlert aria-hidden size={16} className="shrink-0 text-unhealthy" />}
          <span className="min-w-0 break-words">{each.text}</span>
          <button
            type="button"
            aria-label="Dismiss"
            className="-mr-1.5 inline-flex size-7 shrink-0 items-center justify-center rounded-[6px] text-ink-3 hover:bg-raised"
            onClick={() => publish(toasts.filter((other) => other.id !== each.id))}
          >
            <X aria-hidden size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
