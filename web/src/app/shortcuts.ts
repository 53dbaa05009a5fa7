import { useEffect, useRef } from "react";

/** True while the keyboard belongs to something being typed into. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Global keys: Ctrl/Cmd K, ?, and "g" followed by a letter. */
export function useShortcuts(on: { palette: () => void; help: () => void; go: (key: string) => void }) {
  const handlers = useRef(on);
  useEffect(() => {
    handlers.current = on;
  });
  useEffect(() => {
    let pending: ReturnType<typeof setTimeout> | undefined;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        handlers.current.palette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      // An open dialog has the keyboard to itself.
      if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]')) return;
      if (pending !== undefined) {
        clearTimeout(pending);
        pending = undefined;
        handlers.current.go(event.key);
        return;
      }
      if (event.key === "g") pending = setTimeout(() => (pending = undefined), 1200);
      else if (event.key === "?") {
        event.preventDefault();
        handlers.current.help();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => {
      clearTimeout(pending);
      document.removeEventListener("keydown", onKey);
    };
  }, []);
}
