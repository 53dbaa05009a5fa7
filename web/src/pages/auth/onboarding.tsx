import { Navigate } from "react-router";
import { onboard } from "@/api/auth";
import { useBootstrap, useSession } from "@/app/session";
import { AuthFrame } from "./frame";
import { SignUpForm } from "./sign-up-form";

export function Component() {
  const bootstrap = useBootstrap();
  const session = useSession();
  if (session.authenticated) return <Navigate to="/" replace />;
  if (bootstrap.data && !bootstrap.data.needsOnboarding) return <Navigate to="/auth/login" replace />;
  return (
    <AuthFrame title="Create the first administrator" intro="Checkstack is new here. This account gets full access and can invite everyone else.">
      <SignUpForm action="Create account" submit={onboard} />
    </AuthFrame>
  );
}
