import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link, Navigate, useLocation, useNavigate, useSearchParams } from "react-router";
import { login } from "@/api/auth";
import { ApiError } from "@/api/errors";
import { useBootstrap, useReplaceSession, useSessionQuery } from "@/app/session";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { Field, FormErrors, Input } from "@/ui/field";
import { countdown } from "@/ui/time";
import { AuthFrame } from "./frame";
import { asksForAgent, safeNext, withNext } from "./next";

export function Component() {
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const bootstrap = useBootstrap();
  const session = useSessionQuery();
  const replaceSession = useReplaceSession();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [waitUntil, setWaitUntil] = useState<Date>();
  const next = safeNext(params.get("next"));
  const ended = (useLocation().state as { ended?: boolean } | null)?.ended === true;
  const now = useNow();
  const signIn = useMutation({
    mutationFn: login,
    onSuccess: async (result) => {
      replaceSession(result);
      await navigate(next, { replace: true });
    },
    onError: (error) => {
      setPassword("");
      const seconds = error instanceof ApiError ? error.retryAfter : undefined;
      setWaitUntil(seconds === undefined ? undefined : new Date(Date.now() + seconds * 1000));
    },
  });
  const waits = waitUntil !== undefined && waitUntil > now;
  if (bootstrap.data?.needsOnboarding) return <Navigate to="/auth/onboarding" replace />;
  if (session.data?.authenticated && !signIn.isPending) return <Navigate to={next} replace />;
  return (
    <AuthFrame
      title="Sign in"
      intro={ended ? "Your session ended. Sign in to go on where you were." : asksForAgent(next) ? "An outside agent asks for access. Sign in first; then you see what it asks for, and decide." : undefined}
      footer={
        bootstrap.data?.registrationAllowed ? (
          <p>
            No account yet?{" "}
            <Link className="link" to={withNext("/auth/register", next)}>
              Create one
            </Link>
          </p>
        ) : null
      }
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate({ email: email.trim(), password });
        }}
      >
        <FormErrors error={signIn.error} />
        <Field label="Email">
          {(control) => (
            <Input
              {...control}
              type="email"
              autoComplete="username"
              required
              value={email}
              onChange={(event) => {
                setEmail(event.target.value);
                // The wait is for the account that was tried.
                setWaitUntil(undefined);
              }}
            />
          )}
        </Field>
        <Field label="Password">
          {(control) => <Input {...control} type="password" autoComplete="current-password" required value={password} onChange={(event) => setPassword(event.target.value)} />}
        </Field>
        <Button type="submit" look="primary" busy={signIn.isPending} disabled={waits}>
          {waits ? `Wait ${countdown(waitUntil, now)}` : "Sign in"}
        </Button>
      </form>
    </AuthFrame>
  );
}
