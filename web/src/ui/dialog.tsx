import { clsx } from "clsx";
import { X } from "lucide-react";
import { AlertDialog as Alert, Dialog as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";
import { toApiError } from "@/api/errors";
import { Button } from "./button";
import { useReturnFocus } from "./return-focus";

const overlay = "fixed inset-0 z-40 bg-[rgb(10_14_22/45%)]";
const panel =
  "rise fixed left-1/2 z-50 w-[calc(100vw-24px)] -translate-x-1/2 overflow-y-auto rounded-[10px] border border-line bg-surface shadow-[var(--shadow-overlay)] focus:outline-none";

export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  wide = false,
  takeFocus,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  /** Moves the focus somewhere else than back to where it came from, and says whether it did. */
  takeFocus?: () => boolean;
  children: ReactNode;
}) {
  const focus = useReturnFocus();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={overlay} />
        <Radix.Content
          onOpenAutoFocus={(event) => {
            focus.onOpenAutoFocus();
            // Whoever opens a form wants to fill it in, not to close it.
            const field = (event.target as HTMLElement).querySelector<HTMLElement>("form :is(input, select, textarea):not(:disabled, [readonly])");
            if (!field) return;
            event.preventDefault();
            field.focus({ preventScroll: true });
          }}
          onCloseAutoFocus={(event) => {
            if (takeFocus?.()) event.preventDefault();
            else focus.onCloseAutoFocus(event);
          }}
          className={clsx(panel, "top-[8dvh] max-h-[84dvh]", wide ? "max-w-[900px]" : "max-w-[520px]")}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-4">
            <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
            <Radix.Close aria-label="Close" className="-mt-1 -mr-2 inline-flex size-8 items-center justify-center rounded-[8px] text-ink-2 hover:bg-raised">
              <X aria-hidden size={18} />
            </Radix.Close>
          </div>
          {description ? <Radix.Description className="px-5 pt-1 text-ink-2">{description}</Radix.Description> : null}
          <div className="px-5 pt-4 pb-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Asks before something that cannot be undone. The title names the target, the
 * body says what goes with it; the safe button has the focus.
 */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  children,
  action,
  look = "danger",
  onConfirm,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  /** Names the outcome, for example "Delete system". */
  action: string;
  /** "primary" for what is serious but can be taken back. */
  look?: "danger" | "primary";
  onConfirm: () => Promise<unknown>;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const focus = useReturnFocus();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onOpenChange(false);
    } catch (cause) {
      setError(toApiError(cause).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Alert.Root
      open={open}
      onOpenChange={(next) => {
        if (busy) return;
        setError(undefined);
        onOpenChange(next);
      }}
    >
      <Alert.Portal>
        <Alert.Overlay className={overlay} />
        <Alert.Content {...focus} className={clsx(panel, "top-[18dvh] max-w-[460px] p-5")}>
          <Alert.Title className="text-lg font-semibold break-words">{title}</Alert.Title>
          <Alert.Description asChild>
            <div className="mt-2 text-ink-2">{children}</div>
          </Alert.Description>
          {error ? (
            <p role="alert" className="mt-3 rounded-[8px] bg-unhealthy-soft px-3 py-2 text-unhealthy-ink">
              {error}
            </p>
          ) : null}
          <div className="mt-5 flex justify-end gap-2">
            <Alert.Cancel asChild>
              <Button disabled={busy}>Cancel</Button>
            </Alert.Cancel>
            <Button look={look} busy={busy} onClick={() => void confirm()}>
              {action}
            </Button>
          </div>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  );
}

/** A panel that slides in from the left, for the sidebar and lists on a phone. */
export function Sheet({ open, onOpenChange, title, children }: { open: boolean; onOpenChange: (open: boolean) => void; title: string; children: ReactNode }) {
  const focus = useReturnFocus();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={overlay} />
        <Radix.Content
          {...focus}
          aria-describedby={undefined}
          className="slide-in fixed inset-y-0 left-0 z-50 flex w-[280px] max-w-[86vw] flex-col border-r border-line bg-surface shadow-[var(--shadow-overlay)] focus:outline-none"
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          <Radix.Close aria-label="Close" className="absolute top-2.5 right-2.5 inline-flex size-8 items-center justify-center rounded-[8px] text-ink-2 hover:bg-raised">
            <X aria-hidden size={18} />
          </Radix.Close>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
