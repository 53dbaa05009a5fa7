import { clsx } from "clsx";
import { NavLink } from "react-router";

/** Tabs that are pages of their own, so that each has an address. */
export function TabLinks({ label, tabs }: { label: string; tabs: { to: string; label: string }[] }) {
  return (
    <nav aria-label={label} className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map((tab) => (
        <NavLink
          key={tab.to}
          to={tab.to}
          className={({ isActive }) =>
            clsx(
              "-mb-px border-b-2 px-3 py-2 whitespace-nowrap",
              isActive ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink",
            )
          }
        >
          {tab.label}
        </NavLink>
      ))}
    </nav>
  );
}
