import { LogOut, MonitorSmartphone } from "lucide-react";
import { useId, useState } from "react";
import { issuesByPath } from "@/api/errors";
import { ConnectedClients } from "@/pages/outside-agents/connected";
import { passwordFault, passwordHelp } from "@/pages/auth/password";
import { Button } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ErrorState, SkeletonBlock, toast, toastError } from "@/ui/feedback";
import { Field, FormErrors, Input } from "@/ui/field";
import { Page, Section } from "@/ui/page";
import { Badge } from "@/ui/state";
import { useChangePassword, useDeleteSession, useLoginSessions, useProfile, useUpdateProfile, type Profile } from "./api";
import { deviceOf } from "./device";

export function Component() {
  const profile = useProfile();
  return (
    <Page title="Your profile" width="narrow">
      {profile.isPending ? <SkeletonBlock className="h-48" /> : null}
      {profile.isError && !profile.data ? <ErrorState title="Your profile could not be loaded" error={profile.error} onRetry={() => void profile.refetch()} /> : null}
      {profile.data ? (
        <>
          <Details key={profile.data.id} profile={profile.data} />
          {profile.data.hasCredentialAccount ? <Password /> : null}
          <Sessions />
          <ConnectedClients />
        </>
      ) : null}
    </Page>
  );
}

function Details({ profile }: { profile: Profile }) {
  const id = useId();
  const update = useUpdateProfile();
  const [name, setName] = useState(profile.name);
  const [email, setEmail] = useState(profile.email);
  const errors = issuesByPath(update.error);
  const changed = name.trim() !== profile.name || email.trim() !== profile.email;
  return (
    <Section title="Account">
      <form
        className="card grid gap-4 p-4 md:p-5"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate(
            { ...(name.trim() === profile.name ? {} : { name: name.trim() }), ...(email.trim() === profile.email ? {} : { email: email.trim() }) },
            { onSuccess: () => toast("Profile saved") },
          );
        }}
      >
        <FormErrors error={update.error} fieldIds={{ name: `${id}-name`, email: `${id}-email` }} />
        <Field label="Name" id={`${id}-name`} error={errors.name}>
          {(control) => <Input {...control} required autoComplete="name" value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Email" id={`${id}-email`} error={errors.email} help={profile.hasCredentialAccount ? undefined : "Managed by your sign-in provider."}>
          {(control) => <Input {...control} type="email" required autoComplete="email" disabled={!profile.hasCredentialAccount} value={email} onChange={(event) => setEmail(event.target.value)} />}
        </Field>
        <div className="flex justify-end">
          <Button type="submit" look="primary" busy={update.isPending} disabled={!changed}>
            Save changes
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Password() {
  const id = useId();
  const change = useChangePassword();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [fault, setFault] = useState<string>();
  const errors = issuesByPath(change.error);
  return (
    <Section title="Password" description="Changing it signs out your other devices.">
      <form
        className="card grid gap-4 p-4 md:p-5"
        onSubmit={(event) => {
          event.preventDefault();
          const missing = passwordFault(next);
          setFault(missing);
          if (missing) {
            document.getElementById(`${id}-new`)?.focus();
            return;
          }
          change.mutate(
            { currentPassword: current, newPassword: next },
            {
              onSuccess: () => {
                setCurrent("");
                setNext("");
                toast("Password changed");
              },
            },
          );
        }}
      >
        <FormErrors error={change.error} fieldIds={{ currentPassword: `${id}-current`, newPassword: `${id}-new` }} />
        <Field label="Current password" id={`${id}-current`} error={errors.currentPassword}>
          {(control) => <Input {...control} type="password" required autoComplete="current-password" value={current} onChange={(event) => setCurrent(event.target.value)} />}
        </Field>
        <Field label="New password" id={`${id}-new`} error={fault ?? errors.newPassword} help={passwordHelp}>
          {(control) => <Input {...control} type="password" required autoComplete="new-password" value={next} onChange={(event) => setNext(event.target.value)} />}
        </Field>
        <div className="flex justify-end">
          <Button type="submit" look="primary" busy={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Section>
  );
}

function Sessions() {
  const sessions = useLoginSessions();
  const remove = useDeleteSession();
  if (sessions.isPending) return <SkeletonBlock className="h-28" />;
  if (sessions.isError) return <ErrorState title="Your sessions could not be loaded" error={sessions.error} onRetry={() => void sessions.refetch()} />;
  return (
    <Section title="Where you are signed in">
      <ul className="card divide-y divide-line">
        {(sessions.data.sessions ?? []).map((session) => {
          const device = deviceOf(session.userAgent ?? "");
          return (
            <li key={session.id} className="flex items-center gap-3 px-4 py-3">
              <MonitorSmartphone aria-hidden size={18} className="shrink-0 text-ink-3" />
              <div className="min-w-0 flex-1">
                <p className="flex flex-wrap items-center gap-2">
                  <span title={session.userAgent ?? ""}>{device}</span>
                  {session.current ? <Badge tone="accent">This device</Badge> : null}
                </p>
                <p className="text-sm text-ink-3">
                  {session.ipAddress ? `${session.ipAddress} · ` : ""}last seen <RelativeTime at={session.lastSeenAt} />
                </p>
              </div>
              {session.current ? null : (
                <Button
                  size="sm"
                  icon={<LogOut aria-hidden size={14} />}
                  busy={remove.isPending && remove.variables === session.id}
                  onClick={() => remove.mutate(session.id, { onSuccess: () => toast("Signed out"), onError: toastError })}
                >
                  Sign out<span className="sr-only"> {device}</span>
                </Button>
              )}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
