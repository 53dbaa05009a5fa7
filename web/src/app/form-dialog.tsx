import { useCallback, useRef, useState, type ReactNode } from "react";
import { ConfirmDialog, Dialog } from "@/ui/dialog";
import { UnsavedGuard } from "./guard";

/** What a form in a dialog is given. */
export type FormDialogParts = {
  /** Closes, after a question when there is something to lose. */
  leave: () => void;
  /** Tells whether closing would lose something. */
  onDirty: (dirty: boolean) => void;
};

/** A dialog with a form: Escape, a click beside it and its close button ask before they throw away what was typed. */
export function FormDialog({ open, onClose, title, wide = false, children }: { open: boolean; onClose: () => void; title: string; wide?: boolean; children: (parts: FormDialogParts) => ReactNode }) {
  const [dirty, setDirty] = useState(false);
  const [asking, setAsking] = useState(false);
  // Escape may come before the state of the last keystroke is rendered.
  const atRisk = useRef(false);
  const onDirty = useCallback((next: boolean) => {
    atRisk.current = next;
    setDirty(next);
  }, []);
  const leave = () => {
    if (atRisk.current) setAsking(true);
    else onClose();
  };
  return (
    <>
      <Dialog open={open} onOpenChange={(next) => (next ? undefined : leave())} title={title} wide={wide}>
        {open ? children({ leave, onDirty }) : null}
        <ConfirmDialog
          open={asking}
          onOpenChange={setAsking}
          title="Close without saving?"
          action="Discard changes"
          onConfirm={() => {
            onClose();
            return Promise.resolve();
          }}
        >
          What you changed in this form is not saved yet and would be lost.
        </ConfirmDialog>
      </Dialog>
      <UnsavedGuard dirty={open && dirty} />
    </>
  );
}
