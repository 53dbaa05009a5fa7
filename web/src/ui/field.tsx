import { clsx } from "clsx";
import { CircleAlert, Search } from "lucide-react";
import { useId, useRef, useEffect, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from "react";
import { ApiError } from "@/api/errors";
import { formatDuration } from "./time";

type ControlProps = { id: string; "aria-describedby": string | undefined; "aria-invalid": true | undefined; "aria-required": true | undefined };

/** A labelled control with help and error; the child receives the ids that tie them together. */
export function Field({
  label,
  help,
  error,
  required = false,
  id: givenId,
  className,
  children,
}: {
  label: ReactNode;
  help?: ReactNode;
  error?: string | undefined;
  required?: boolean;
  id?: string;
  className?: string;
  children: (control: ControlProps) => ReactNode;
}) {
  const ownId = useId();
  const id = givenId ?? ownId;
  const describedBy = [help ? `${id}-help` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className={clsx("min-w-0", className)}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium text-ink">
        {label}
        {required ? (
          <span className="text-ink-3" aria-hidden>
            {" *"}
          </span>
        ) : null}
      </label>
      {children({
        id,
        "aria-describedby": describedBy === "" ? undefined : describedBy,
        "aria-invalid": error ? true : undefined,
        "aria-required": required ? true : undefined,
      })}
      {error ? (
        <p id={`${id}-error`} className="mt-1 flex items-start gap-1 text-sm text-unhealthy-ink">
          <CircleAlert aria-hidden size={14} className="mt-0.5 shrink-0" />
          {error}
        </p>
      ) : null}
      {help ? (
        <p id={`${id}-help`} className="mt-1 text-sm text-ink-3">
          {help}
        </p>
      ) : null}
    </div>
  );
}

export function Input({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return <input className={clsx("control", className)} {...rest} />;
}

export function Textarea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea className={clsx("control", className)} rows={3} {...rest} />;
}

export function Select({ className, children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <select className={clsx("control", className)} {...rest}>
      {children}
    </select>
  );
}

export function SearchInput({ label, className, ...rest }: InputHTMLAttributes<HTMLInputElement> & { label: string }) {
  return (
    <div className={clsx("relative", className)}>
      <Search aria-hidden size={16} className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-ink-3" />
      <input type="search" aria-label={label} placeholder={label} className="control pl-9!" {...rest} />
    </div>
  );
}

/** A switch with its label; the whole row is the target. */
export function Toggle({
  label,
  help,
  checked,
  disabled,
  onChange,
}: {
  label: string;
  help?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <button
        type="button"
        role="switch"
        id={id}
        aria-checked={checked}
        aria-describedby={help ? `${id}-help` : undefined}
        aria-labelledby={`${id}-label`}
        disabled={disabled}
        onClick={() => onChange(!checked)}
        className={clsx(
          "relative mt-0.5 inline-flex h-5 w-9 shrink-0 items-center rounded-full transition-colors duration-120 disabled:opacity-55",
          checked ? "bg-accent" : "bg-line-strong",
        )}
      >
        <span className={clsx("size-4 rounded-full bg-white transition-transform duration-120", checked ? "translate-x-[18px]" : "translate-x-0.5")} />
      </button>
      <div>
        <label id={`${id}-label`} htmlFor={id} className="font-medium">
          {label}
        </label>
        {help ? (
          <p id={`${id}-help`} className="text-sm text-ink-3">
            {help}
          </p>
        ) : null}
      </div>
    </div>
  );
}

export function Checkbox({ label, className, ...rest }: InputHTMLAttributes<HTMLInputElement> & { label: ReactNode }) {
  return (
    <label className={clsx("flex items-start gap-2.5", className)}>
      <input type="checkbox" className="mt-[3px] size-4 shrink-0 accent-accent" {...rest} />
      <span className="min-w-0">{label}</span>
    </label>
  );
}

/**
 * The summary above a form after a refused submit: the message, every issue,
 * and for each a link to its field when the form knows it. What was corrected
 * since is not listed any more; when nothing is left, nor is the summary.
 */
export function FormErrors({
  error,
  fieldIds = {},
  labels = {},
  isCorrected = () => false,
}: {
  error: unknown;
  fieldIds?: Record<string, string> | ((path: string) => string | undefined);
  labels?: Record<string, string> | ((path: string) => string | undefined);
  isCorrected?: (path: string) => boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) box.current?.focus();
  }, [error]);
  if (!error) return null;
  const found = error instanceof ApiError ? error.issues : [];
  const told = error instanceof Error ? error.message : String(error);
  // The server's heading of a list of faults is made for programs.
  const message = found.length > 0 && told === "Invalid input" ? "Some fields need attention." : told;
  const issues = found.filter((issue) => !isCorrected(issue.path));
  if (found.length > 0 && issues.length === 0) return null;
  const idOf = typeof fieldIds === "function" ? fieldIds : (path: string) => fieldIds[path];
  const labelOf = typeof labels === "function" ? labels : (path: string) => labels[path];
  return (
    <div
      ref={box}
      role="alert"
      tabIndex={-1}
      className="rounded-[8px] border border-unhealthy/40 bg-unhealthy-soft px-3.5 py-2.5 text-unhealthy-ink outline-none"
    >
      <p className="font-medium">{message}</p>
      {error instanceof ApiError && error.retryAfter && !/\bin (a|\d+) /.test(message) ? <p className="text-sm">Try again in {formatDuration(error.retryAfter * 1000)}.</p> : null}
      {issues.length > 0 ? (
        <ul className="mt-1 list-disc pl-5 text-sm">
          {issues.map((issue) => {
            const target = idOf(issue.path);
            const text = issue.path === "" ? issue.message : `${labelOf(issue.path) ?? issue.path}: ${issue.message}`;
            return (
              <li key={`${issue.path}${issue.message}`}>
                {target ? (
                  <a
                    href={`#${target}`}
                    className="underline"
                    onClick={(event) => {
                      event.preventDefault();
                      const field = document.getElementById(target);
                      // What is folded away cannot take the focus.
                      field?.closest("details")?.setAttribute("open", "");
                      field?.focus();
                    }}
                  >
                    {text}
                  </a>
                ) : (
                  text
                )}
              </li>
            );
          })}
        </ul>
      ) : null}
    </div>
  );
}
