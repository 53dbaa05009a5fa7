import type { ReactNode } from "react";
import { Logo } from "@/app/shell";
import { useTitle } from "@/ui/page";

/** The quiet page around sign-in and sign-up. */
export function AuthFrame({ title, intro, children, footer }: { title: string; intro?: ReactNode; children: ReactNode; footer?: ReactNode }) {
  useTitle(title);
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 pt-[12dvh] pb-12">
      <div className="w-full max-w-[400px]">
        <Logo />
        <div className="card mt-6 p-6">
          <h1 className="text-xl font-semibold tracking-[-0.01em]">{title}</h1>
          {intro ? <p className="mt-1 text-ink-2">{intro}</p> : null}
          <div className="mt-5">{children}</div>
        </div>
        {footer ? <div className="mt-4 text-center text-ink-2">{footer}</div> : null}
      </div>
    </main>
  );
}
