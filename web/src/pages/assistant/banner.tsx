import { CircleAlert, X } from "lucide-react";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/feedback";
import type { ChatError } from "./error-text";

/** A failure that stays until it is dismissed or the next message is sent. */
export function Banner({ error, onDismiss }: { error: ChatError; onDismiss: () => void }) {
  const { text, said, raw } = error;
  return (
    <div className="mx-auto w-full max-w-[820px] px-3 pb-2 md:px-6">
      <div role="alert" className="flex items-start gap-2.5 rounded-[8px] border border-unhealthy/40 bg-unhealthy-soft px-3 py-2 text-unhealthy-ink">
        <CircleAlert aria-hidden size={16} className="mt-1 shrink-0" />
        <div className="mt-0.5 max-h-40 min-w-0 flex-1 overflow-y-auto break-words">
          <p>{text}</p>
          {said ? (
            <p className="mt-0.5">
              It said: <bdi>{said}</bdi>
            </p>
          ) : null}
          {raw ? (
            <details className="mt-1">
              <summary className="text-sm">The whole answer</summary>
              <p className="mt-1 font-mono text-xs whitespace-pre-wrap">{raw}</p>
            </details>
          ) : null}
        </div>
        <CopyButton text={raw ?? text} size="sm" />
        <Button size="sm" look="quiet" aria-label="Dismiss" icon={<X aria-hidden size={15} />} onClick={onDismiss} />
      </div>
    </div>
  );
}

/** Why a stored turn ended early, in its place in the conversation. */
export function FailureNotice({ error }: { error: ChatError }) {
  return (
    <div className="rounded-[8px] bg-degraded-soft px-3 py-2 break-words text-degraded-ink">
      <p>{error.text}</p>
      {error.said ? (
        <p className="mt-0.5">
          It said: <bdi>{error.said}</bdi>
        </p>
      ) : null}
    </div>
  );
}
