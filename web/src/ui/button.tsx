import { clsx } from "clsx";
import { LoaderCircle } from "lucide-react";
import type { ButtonHTMLAttributes, ComponentProps, ReactNode, Ref } from "react";
import { Link } from "react-router";

type Look = "primary" | "secondary" | "danger" | "quiet";
type Size = "md" | "sm";

function classes(look: Look, size: Size, className?: string) {
  return clsx(
    "inline-flex items-center justify-center gap-1.5 whitespace-nowrap rounded-[8px] font-medium no-underline transition-colors duration-120 select-none",
    size === "md" ? "min-h-9 px-3.5 text-base" : "min-h-7 px-2.5 text-sm",
    look === "primary" && "bg-accent text-white hover:bg-accent-hover",
    look === "danger" && "bg-danger text-white hover:bg-danger-hover",
    look === "secondary" && "border border-line-strong/60 bg-surface text-ink hover:bg-raised",
    look === "quiet" && "text-ink-2 hover:bg-raised hover:text-ink",
    "disabled:opacity-55",
    className,
  );
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  ref?: Ref<HTMLButtonElement>;
  look?: Look;
  size?: Size;
  /** Shows progress and refuses clicks, without changing the button's width. */
  busy?: boolean;
  icon?: ReactNode;
};

export function Button({ look = "secondary", size = "md", busy = false, icon, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button type="button" className={classes(look, size, className)} disabled={disabled === true || busy} aria-busy={busy || undefined} {...rest}>
      {busy ? <LoaderCircle aria-hidden size={16} className="spin" /> : icon}
      {children}
    </button>
  );
}

export function LinkButton({
  look = "secondary",
  size = "md",
  icon,
  className,
  children,
  ...rest
}: ComponentProps<typeof Link> & { look?: Look; size?: Size; icon?: ReactNode }) {
  return (
    <Link className={classes(look, size, className)} {...rest}>
      {icon}
      {children}
    </Link>
  );
}

export function IconButton({
  label,
  className,
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { label: string; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={clsx(
        "inline-flex size-9 shrink-0 items-center justify-center rounded-[8px] text-ink-2 transition-colors duration-120 hover:bg-raised hover:text-ink disabled:opacity-55",
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  );
}
