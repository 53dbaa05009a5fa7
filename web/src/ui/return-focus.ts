import { useRef } from "react";

// The last place outside of menus and dialogs that had the focus. A dialog that
// was opened from a menu goes back to the menu's button, since its item is gone.
let lastOutside: HTMLElement | undefined;
if (typeof document !== "undefined") {
  document.addEventListener("focusin", (event) => {
    const target = event.target;
    if (target instanceof HTMLElement && !target.closest('[role="dialog"], [role="alertdialog"], [role="menu"], [data-radix-focus-guard]')) lastOutside = target;
  });
}

/** Handlers for a dialog's content that bring the focus back to where it came from. */
export function useReturnFocus() {
  const opener = useRef<HTMLElement>(undefined);
  return {
    onOpenAutoFocus: () => {
      const active = document.activeElement;
      const usable = active instanceof HTMLElement && active !== document.body && !active.closest('[role="menu"]');
      opener.current = usable ? active : lastOutside;
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      if (opener.current?.isConnected) opener.current.focus({ preventScroll: true });
    },
  };
}
