import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useNavigate } from "react-router";
import type { Session } from "@/api/auth";
import { issuesByPath } from "@/api/errors";
import { useReplaceSession } from "@/app/session";
import { Button } from "@/ui/button";
import { Field, FormErrors, Input } from "@/ui/field";
import { passwordFault, passwordHelp } from "./password";

/** Name, email and password for a new account that is signed in right away and goes to the address `to`. */
export function SignUpForm({ action, submit, to = "/" }: { action: string; to?: string; submit: (body: { name: string; email: string; password: string }) => Promise<Session> }) {
  const navigate = useNavigate();
  const replaceSession = useReplaceSession();
  const id = useId();
  const [values, setValues] = useState({ name: "", email: "", password: "" });
  const [fault, setFault] = useState<string>();
  const create = useMutation({
    mutationFn: submit,
    onSuccess: async (session) => {
      replaceSession(session);
      await navigate(to, { replace: true });
    },
  });
  const errors = issuesByPath(create.error);
  const set = (key: keyof typeof values) => (event: { target: { value: string } }) => setValues({ ...values, [key]: event.target.value });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const missing = passwordFault(values.password);
        setFault(missing);
        if (missing) document.getElementById(`${id}-password`)?.focus();
        else create.mutate({ ...values, name: values.name.trim(), email: values.email.trim() });
      }}
    >
      <FormErrors error={create.error} fieldIds={{ name: `${id}-name`, email: `${id}-email`, password: `${id}-password` }} />
      <Field label="Your name" id={`${id}-name`} error={errors.name}>
        {(control) => <Input {...control} autoComplete="name" required maxLength={100} value={values.name} onChange={set("name")} />}
      </Field>
      <Field label="Email" id={`${id}-email`} error={errors.email}>
        {(control) => <Input {...control} type="email" autoComplete="email" required value={values.email} onChange={set("email")} />}
      </Field>
      <Field label="Password" id={`${id}-password`} error={fault ?? errors.password} help={passwordHelp}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="new-password"
            required
            value={values.password}
            onChange={(event) => {
              set("password")(event);
              if (fault) setFault(passwordFault(event.target.value));
            }}
          />
        )}
      </Field>
      <Button type="submit" look="primary" busy={create.isPending}>
        {action}
      </Button>
    </form>
  );
}
