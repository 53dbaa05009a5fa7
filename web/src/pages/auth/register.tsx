import { Link, Navigate, useSearchParams } from "react-router";
import { register } from "@/api/auth";
import { useBootstrap, useSession } from "@/app/session";
import { AuthFrame } from "./frame";
import { safeNext, withNext } from "./next";
import { SignUpForm } from "./sign-up-form";

export function Component() {
  const bootstrap = useBootstrap();
  const session = useSession();
  const [params] = useSearchParams();
  const next = safeNext(params.get("next"));
  if (session.authenticated) return <Navigate to={next} replace />;
  if (bootstrap.data?.needsOnboarding) return <Navigate to="/auth/onboarding" replace />;
  const signIn = (
    <Link className="link" to={withNext("/auth/login", next)}>
      Sign in
    </Link>
  );
  if (bootstrap.data && !bootstrap.data.registrationAllowed) {
    return (
      <AuthFrame title="Registration is off" footer={signIn}>
        <p className="text-ink-2">Ask an administrator to create an account for you.</p>
      </AuthFrame>
    );
  }
  return (
    <AuthFrame title="Create your account" footer={<p>Already have an account? {signIn}</p>}>
      <SignUpForm action="Create account" submit={register} to={next} />
    </AuthFrame>
  );
}
