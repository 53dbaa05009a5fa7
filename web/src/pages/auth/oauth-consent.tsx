import { useMutation, useQuery } from "@tanstack/react-query";
import { Check, ChevronRight, CircleAlert, Info, Laptop, ShieldCheck, TriangleAlert } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Link, Navigate, useLocation, useSearchParams } from "react-router";
import { logout } from "@/api/auth";
import { ApiError } from "@/api/errors";
import { useBootstrap, useReplaceSession, useSessionQuery } from "@/app/session";
import { Logo } from "@/app/shell";
import { Button, LinkButton } from "@/ui/button";
import { ErrorState, SkeletonBlock } from "@/ui/feedback";
import { useTitle } from "@/ui/page";
import { Badge } from "@/ui/state";
import { byArea, decideConsent, getConsent, safeRedirect, type Area, type Consent } from "./consent";

/** Asks a person whether an outside agent may act for them. */
export function Component() {
  const session = useSessionQuery();
  const bootstrap = useBootstrap();
  const location = useLocation();
  const [params] = useSearchParams();
  const request = params.get("request") ?? "";
  const signedIn = session.data?.authenticated === true;
  const consent = useQuery({
    queryKey: ["consent", request],
    queryFn: () => getConsent(request),
    enabled: signedIn && request !== "",
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    meta: { deaf: true },
  });
  useTitle("Let an agent in");

  if (bootstrap.data?.needsOnboarding) return <Navigate to="/auth/onboarding" replace />;
  if (session.data && !signedIn) return <Navigate to={`/auth/login?next=${encodeURIComponent(location.pathname + location.search)}`} replace />;
  const failed = session.error ?? consent.error;
  const ended = request === "" || (consent.error instanceof ApiError && consent.error.status === 404);
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 pt-[7dvh] pb-12">
      <div className="w-full max-w-[520px]">
        <Logo />
        {ended ? (
          <section className="card mt-6 p-6">
            <h1 className="text-xl font-semibold">This request has ended</h1>
            <p className="mt-1 text-ink-2">It is older than 30 minutes, was decided already, or was begun in another browser. Nothing was allowed here; start again from the agent.</p>
            <LinkButton to="/" className="mt-4">
              Go to Checkstack
            </LinkButton>
          </section>
        ) : failed && !consent.data ? (
          <div className="mt-6">
            <h1 className="sr-only">Let an agent in</h1>
            <ErrorState
              title="The request could not be loaded"
              error={failed}
              onRetry={() => {
                void session.refetch();
                if (signedIn) void consent.refetch();
              }}
            />
          </div>
        ) : consent.data ? (
          <Question request={request} consent={consent.data} name={session.data?.user?.name ?? ""} email={session.data?.user?.email ?? ""} />
        ) : (
          <SkeletonBlock className="mt-6 h-80" />
        )}
      </div>
    </main>
  );
}

function Question({ request, consent, name, email }: { request: string; consent: Consent; name: string; email: string }) {
  const [left, setLeft] = useState<"allowed" | "denied">();
  const replaceSession = useReplaceSession();
  const decide = useMutation({
    mutationFn: (allow: boolean) => decideConsent(request, allow),
    onSuccess: ({ redirectTo }, allow) => {
      const to = safeRedirect(redirectTo);
      setLeft(allow ? "allowed" : "denied");
      if (to !== undefined) window.location.assign(to);
    },
  });
  // The request stays with the browser, so whoever signs in next is asked the same.
  const leave = useMutation({ mutationFn: logout, onSuccess: () => replaceSession(undefined) });
  const areas = byArea(consent.permissions);
  const changes = areas.some((area) => area.changes);
  const client = <bdi className="font-semibold break-words">{consent.client}</bdi>;

  if (left) {
    return (
      <section className="card mt-6 p-6" role="status">
        <h1 className="flex items-center gap-2 text-xl font-semibold">
          {left === "allowed" ? <Check aria-hidden size={20} className="text-healthy" /> : null}
          {left === "allowed" ? "Allowed" : "Denied"}
        </h1>
        <p className="mt-1 text-ink-2">
          {consent.thisMachine ? <>Taking the answer to the program on this computer. You can close this page when it says so.</> : <>Going back to <bdi>{consent.redirectHost}</bdi>.</>}
        </p>
        {left === "allowed" ? (
          <p className="mt-3 text-sm text-ink-3">
            You can end this access at any time in <Link className="link" to="/settings/profile#connected">your profile</Link>.
          </p>
        ) : null}
      </section>
    );
  }

  return (
    <section className="card mt-6 overflow-hidden">
      <div className="px-4 pt-5 sm:px-6 sm:pt-6">
        <h1 className="text-xl font-semibold tracking-[-0.01em]">
          Let {client} in?
        </h1>
        <p className="mt-1 text-ink-2">
          It wants to act for you, <bdi className="text-ink">{name}</bdi> (<bdi>{email}</bdi>), and gets at most what you may do yourself.
          {consent.before ? " You allowed as much before." : ""}{" "}
          <button type="button" className="link underline" disabled={leave.isPending} onClick={() => leave.mutate()}>
            Use another account
          </button>
        </p>
        <dl className="mt-4 grid gap-2.5 rounded-[8px] bg-raised px-3.5 py-3">
          <Who consent={consent} />
          <Fact icon={consent.thisMachine ? <Laptop aria-hidden size={16} /> : <ChevronRight aria-hidden size={16} />} term="The answer goes to">
            {consent.thisMachine ? (
              <>
                a program on this computer <span className="text-ink-3">({consent.redirectHost})</span>. Allow only if you have just started it.
              </>
            ) : (
              <bdi className="font-medium break-all">{consent.redirectHost}</bdi>
            )}
          </Fact>
        </dl>
      </div>

      <div className="px-4 pt-5 sm:px-6">
        <h2 className="font-semibold">What it may do</h2>
        {areas.length === 0 ? (
          <p className="mt-1 text-ink-2">Nothing: you hold none of the {consent.missing === 1 ? "permission" : `${consent.missing} permissions`} it asks for. Letting it in would be of no use now.</p>
        ) : (
          <ul className="mt-2 grid grid-cols-[minmax(0,1fr)] gap-1">
            {areas.map((area) => (
              <AreaLine key={area.id} area={area} proposes={consent.proposes} />
            ))}
          </ul>
        )}
        {consent.missing > 0 && areas.length > 0 ? (
          <p className="mt-2 text-sm text-ink-3">
            It also asks for {consent.missing === 1 ? "one permission" : `${consent.missing} permissions`} that you do not hold; it does not get {consent.missing === 1 ? "that one" : "those"}.
          </p>
        ) : null}
        <p className="mt-3 flex items-start gap-2 text-sm text-ink-2">
          <ShieldCheck aria-hidden size={16} className="mt-0.5 shrink-0 text-healthy" />
          <span>
            {!changes
              ? "It can only read. Every call is in the audit log."
              : consent.proposes
                ? "It never changes anything by itself: each change becomes a proposal that waits for a person in Approvals."
                : "It can only read: this installation does not let outside agents propose changes."}
          </span>
        </p>
      </div>

      {(decide.error ?? leave.error) ? (
        <p role="alert" className="mx-4 mt-4 sm:mx-6 flex items-start gap-2 rounded-[8px] bg-unhealthy-soft px-3 py-2 text-unhealthy-ink">
          <CircleAlert aria-hidden size={16} className="mt-0.5 shrink-0" />
          <span className="min-w-0 break-words">{(decide.error ?? leave.error)?.message}</span>
        </p>
      ) : null}
      <div className="mt-5 flex flex-wrap justify-end gap-2 border-t border-line px-4 py-4 sm:px-6">
        <Button busy={decide.isPending && !decide.variables} disabled={decide.isPending} onClick={() => decide.mutate(false)}>
          Deny
        </Button>
        <Button look="primary" busy={decide.isPending && decide.variables} disabled={decide.isPending} onClick={() => decide.mutate(true)}>
          Allow
        </Button>
      </div>
    </section>
  );
}

/** How far the name of the client can be believed. */
function Who({ consent }: { consent: Consent }) {
  if (consent.source === "document") {
    return (
      <Fact icon={<Info aria-hidden size={16} />} term="Who asks">
        described by <bdi className="font-medium break-all">{consent.documentHost ?? consent.clientId}</bdi>. Trust it as far as you trust that site.
      </Fact>
    );
  }
  if (consent.source === "dynamic") {
    return (
      <Fact icon={<TriangleAlert aria-hidden size={16} className="text-degraded" />} term="Who asks">
        This client registered itself. <strong className="font-medium text-ink">Nobody has verified its name</strong>; any program can choose any name.
      </Fact>
    );
  }
  return (
    <Fact icon={<Check aria-hidden size={16} className="text-healthy" />} term="Who asks">
      a client that an administrator of this installation added
    </Fact>
  );
}

function Fact({ icon, term, children }: { icon: ReactNode; term: string; children: ReactNode }) {
  return (
    <div className="gap-2.5 sm:flex sm:items-start">
      <dt className="flex w-[164px] shrink-0 items-start gap-2 text-ink-3">
        <span className="mt-0.5">{icon}</span>
        {term}
      </dt>
      <dd className="min-w-0 flex-1 pl-6 break-words text-ink-2 sm:pl-0">{children}</dd>
    </div>
  );
}

function AreaLine({ area, proposes }: { area: Area; proposes: boolean }) {
  return (
    <li>
      <details className="group rounded-[8px] border border-line">
        <summary className="flex min-h-9 list-none items-center gap-2 px-3 py-1.5 [&::-webkit-details-marker]:hidden">
          <ChevronRight aria-hidden size={15} className="shrink-0 text-ink-3 transition-transform duration-120 group-open:rotate-90" />
          <span className="min-w-0 flex-1 font-medium">{area.name}</span>
          <span className="flex flex-wrap justify-end gap-1">
            {area.permissions.some((each) => !each.changes) ? <Badge>read</Badge> : null}
            {area.changes ? <Badge tone="warn">{proposes ? "propose changes" : "read only here"}</Badge> : null}
          </span>
        </summary>
        <ul className="grid gap-1 border-t border-line px-3 py-2 text-sm text-ink-2">
          {area.permissions.map((each) => (
            <li key={each.id}>
              {each.description} <code className="font-mono text-xs text-ink-3">{each.id}</code>
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}
