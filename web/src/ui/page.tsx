import { clsx } from "clsx";
import { useEffect, type ReactNode } from "react";

/** Width and title of a page; the title also goes to the browser's tab. */
export function Page({
  title,
  heading,
  actions,
  description,
  width = "normal",
  children,
}: {
  title: string;
  /** Replaces the plain title in the page, for example with a state beside it. */
  heading?: ReactNode;
  actions?: ReactNode;
  description?: ReactNode;
  width?: "narrow" | "normal";
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <div className={clsx("mx-auto w-full px-4 pt-5 pb-16 md:px-8 md:pt-7", width === "narrow" ? "max-w-[760px]" : "max-w-[1120px]")}>
      <header className="mb-5 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-[300px]">
          {heading ?? <h1 className="text-xl font-semibold tracking-[-0.01em]"><bdi className="break-words">{title}</bdi></h1>}
          {description ? <div className="mt-0.5 text-ink-2">{description}</div> : null}
        </div>
        {actions ? <div className="flex flex-wrap gap-2">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

export function useTitle(title: string) {
  useEffect(() => {
    document.title = title === "" ? "Checkstack" : `${title} · Checkstack`;
  }, [title]);
}

export function Section({ title, actions, children, id, description }: { title: string; actions?: ReactNode; children: ReactNode; id?: string; description?: ReactNode }) {
  return (
    <section aria-label={title} className="mb-7" {...(id ? { id } : {})}>
      <div className="mb-2 flex min-h-8 flex-wrap items-center justify-between gap-2">
        <div>
          <h2 className="text-lg font-semibold">{title}</h2>
          {description ? <p className="text-sm text-ink-3">{description}</p> : null}
        </div>
        {actions ? <div className="flex flex-wrap gap-2">{actions}</div> : null}
      </div>
      {children}
    </section>
  );
}

export function Card({ className, children }: { className?: string; children: ReactNode }) {
  return <div className={clsx("card", className)}>{children}</div>;
}
