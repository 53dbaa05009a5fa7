import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect } from "react";
import { useBlocker } from "react-router";
import { LinkButton } from "@/ui/button";
import { ConfirmDialog } from "@/ui/dialog";
import { EmptyState } from "@/ui/feedback";
import { Page } from "@/ui/page";
import { useCan } from "./session";

/** Shows a page only to people who hold one of its rules. */
export function Guard({ rules, children }: { rules: string[]; children: ReactNode }) {
  const can = useCan();
  if (rules.some(can)) return children;
  return (
    <Page title="No access">
      <EmptyState icon={<Lock aria-hidden size={28} />} title="You do not have access to this page" action={<LinkButton to="/">Go to the dashboard</LinkButton>}>
        It needs the access rule <code className="font-mono">{rules.join(" or ")}</code>. An administrator can add it to one of your roles.
      </EmptyState>
    </Page>
  );
}

/** Asks before leaving a form with changes that were not saved. */
export function UnsavedGuard({ dirty }: { dirty: boolean }) {
  const blocker = useBlocker(({ currentLocation, nextLocation }) => dirty && currentLocation.pathname !== nextLocation.pathname);
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [dirty]);
  return (
    <ConfirmDialog
      open={blocker.state === "blocked"}
      onOpenChange={(open) => {
        if (!open && blocker.state === "blocked") blocker.reset();
      }}
      title="Leave without saving?"
      action="Discard changes"
      onConfirm={async () => {
        if (blocker.state === "blocked") blocker.proceed();
        return Promise.resolve();
      }}
    >
      The changes on this page are not saved yet and would be lost.
    </ConfirmDialog>
  );
}
