import { useId, useState } from "react";
import { ApiError, issuesByPath } from "@/api/errors";
import { Button } from "./button";
import { Field, FormErrors, Select } from "./field";
import { MentionTextarea } from "./mention-textarea";
import { audiences, type Audience } from "./timeline";

export type NewUpdate = {
  message: string;
  statusChange?: string;
  /** The state that was shown when the change was chosen, so that a change on top of somebody else's is refused. */
  fromStatus?: string;
  audience: Audience;
};

/** Posts an update, with a change of status and for an audience. What was typed stays until it is stored. */
export function UpdateForm({
  statuses,
  current,
  onAdd,
  onDirty,
}: {
  /** The states to change to; the present one means "unchanged". */
  statuses: { value: string; label: string }[];
  current: string;
  onAdd: (update: NewUpdate) => Promise<unknown>;
  /** Tells whether there is text that leaving would lose. */
  onDirty?: (dirty: boolean) => void;
}) {
  const id = useId();
  const [message, setMessage] = useState("");
  const [status, setStatus] = useState("");
  const [from, setFrom] = useState(current);
  const [audience, setAudience] = useState<Audience>("public");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const errors = issuesByPath(error);
  const change = (text: string) => {
    setMessage(text);
    onDirty?.(text.trim() !== "");
  };
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onAdd({ message: message.trim(), ...(status === "" || status === current ? {} : { statusChange: status, fromStatus: from }), audience });
      change("");
      setStatus("");
    } catch (cause) {
      const moved = status !== "" && cause instanceof ApiError && cause.status === 409;
      setError(moved ? new ApiError({ ...cause, message: "The status changed while you wrote this. Nothing was posted; your text is still here. Choose the status again if it still fits." }) : cause);
      if (moved) setStatus("");
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      aria-label="Add an update"
      className="card grid gap-3 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FormErrors error={error} fieldIds={{ message: `${id}-message`, statusChange: `${id}-status`, audience: `${id}-audience` }} />
      <Field label="Update" required id={`${id}-message`} error={errors.message} help="Markdown. Type # to mention an incident or a maintenance.">
        {(control) => <MentionTextarea {...control} rows={3} required placeholder="What is known, what happens next" value={message} onChange={change} />}
      </Field>
      {status !== "" && from !== current ? (
        <p role="status" className="rounded-[8px] bg-degraded-soft px-3 py-2 text-degraded-ink">
          The status changed meanwhile: it is now “{statuses.find((each) => each.value === current)?.label ?? current}”. Choose again if yours still fits.
        </p>
      ) : null}
      <div className="flex flex-wrap items-end gap-3">
        <Field label="Status" id={`${id}-status`} error={errors.statusChange} className="flex-1 basis-[150px] sm:max-w-[210px]">
          {(control) => (
            <Select
              {...control}
              value={status}
              onChange={(event) => {
                setStatus(event.target.value);
                setFrom(current);
              }}
            >
              <option value="">Unchanged</option>
              {statuses
                .filter((each) => each.value !== current)
                .map((each) => (
                  <option key={each.value} value={each.value}>
                    {each.label}
                  </option>
                ))}
            </Select>
          )}
        </Field>
        <Field label="Who may read it" id={`${id}-audience`} error={errors.audience} className="flex-1 basis-[150px] sm:max-w-[210px]">
          {(control) => (
            <Select {...control} value={audience} onChange={(event) => setAudience(event.target.value as Audience)}>
              {audiences.map((each) => (
                <option key={each.value} value={each.value} title={each.help}>
                  {each.label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Button type="submit" look="primary" busy={busy} className="ml-auto">
          Add update
        </Button>
      </div>
    </form>
  );
}
