import { ErrorState, SkeletonBlock, toast, toastError } from "@/ui/feedback";
import { Toggle } from "@/ui/field";
import { Page } from "@/ui/page";
import { useRegistration, useSetRegistration } from "./api";

export function Component() {
  const registration = useRegistration();
  const set = useSetRegistration();
  return (
    <Page title="Registration" width="narrow">
      {registration.isPending ? <SkeletonBlock className="h-20" /> : null}
      {registration.isError && !registration.data ? <ErrorState title="The setting could not be loaded" error={registration.error} onRetry={() => void registration.refetch()} /> : null}
      {registration.data ? (
        <div className="card p-4 md:p-5">
          <Toggle
            label="Anyone may create an account"
            help="Off: only people with the right to create users can add someone. New accounts get the role Users."
            checked={set.isPending ? set.variables : registration.data.allowRegistration}
            disabled={set.isPending}
            onChange={(allow) => set.mutate(allow, { onSuccess: () => toast(allow ? "Registration is on" : "Registration is off"), onError: toastError })}
          />
        </div>
      ) : null}
    </Page>
  );
}
