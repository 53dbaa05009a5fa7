import { Link, Navigate } from "react-router";
import { register } from "@/api/auth";
import { useBootstrap, useSession } from "@/app/session";
import { AuthFrame } from "./frame";
import { SignUpForm } from "./sign-up-form";

export function Component() {
  const bootstrap = useBootstrap();
  const session = useSession();
  if (session.authenticated) return <Navigate to="/" replace />;
  if (bootstrap.data?.needsOnboarding) return <Navigate to="/auth/onboarding" replace />;
  const signIn = (
    <Link className="link" to="/auth/login">
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
      <SignUpForm action="Create account" submit={register} />
    </AuthFrame>
  );
}
