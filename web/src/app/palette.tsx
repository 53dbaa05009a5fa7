import { clsx } from "clsx";
import { Boxes, CalendarDays, CornerDownLeft, FileText, LogOut, Moon, Plus, Search, Sparkles, type LucideIcon } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useId, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { useEntities } from "@/pages/catalog/api";
import { allows } from "./access";
import { visibleNav } from "./nav";
import { useMentionSearch } from "@/ui/mention-search";
import { useReturnFocus } from "@/ui/return-focus";
import { mentionTypes } from "./mentions";
import { rank } from "./rank";
import { useSession } from "./session";

type Command = { id: string; label: string; hint: string; icon: LucideIcon; words: string; run: () => void };

/** Search over systems, pages, actions and the records that texts can mention. */
export function CommandPalette({ open, onOpenChange, onSignOut, onToggleTheme }: { open: boolean; onOpenChange: (open: boolean) => void; onSignOut: () => void; onToggleTheme: () => void }) {
  const focus = useReturnFocus();
  // After a command the new page decides where the focus goes.
  const ran = useRef(false);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[rgb(10_14_22/45%)]" />
        <Radix.Content
          onOpenAutoFocus={() => {
            ran.current = false;
            focus.onOpenAutoFocus();
          }}
          onCloseAutoFocus={(event) => {
            if (ran.current) event.preventDefault();
            else focus.onCloseAutoFocus(event);
          }}
          aria-describedby={undefined}
          className="rise fixed top-[12dvh] left-1/2 z-50 flex max-h-[70dvh] w-[calc(100vw-24px)] max-w-[600px] -translate-x-1/2 flex-col overflow-hidden rounded-[10px] border border-line bg-surface shadow-[var(--shadow-overlay)] focus:outline-none"
        >
          <Radix.Title className="sr-only">Search and actions</Radix.Title>
          <PaletteBody
            close={() => {
              ran.current = true;
              onOpenChange(false);
            }} onSignOut={onSignOut} onToggleTheme={onToggleTheme} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function PaletteBody({ close, onSignOut, onToggleTheme }: { close: () => void; onSignOut: () => void; onToggleTheme: () => void }) {
  const navigate = useNavigate();
  const { rules } = useSession();
  const entities = useEntities(allows(rules, "catalog.system.read"));
  const [query, setQuery] = useState("");
  const types = useMemo(() => mentionTypes.filter((type) => allows(rules, type.rule)), [rules]);
  // One letter would find almost everything.
  const found = useMentionSearch(types, query.trim().length > 1 ? query.slice(0, 200) : undefined);
  const [active, setActive] = useState(0);
  const listId = useId();

  const commands = useMemo((): Command[] => {
    const list: Command[] = [];
    const go = (to: string) => () => void navigate(to);
    for (const { group, entries } of visibleNav(rules)) {
      for (const entry of entries) list.push({ id: entry.to, label: entry.label, hint: group, icon: entry.icon, words: entry.label, run: go(entry.to) });
    }
    if (allows(rules, "catalog.system.manage")) list.push({ id: "new-system", label: "New system", hint: "Action", icon: Plus, words: "new create add system", run: go("/catalog?action=create") });
    if (allows(rules, "catalog.group.manage")) list.push({ id: "new-group", label: "New group", hint: "Action", icon: Plus, words: "new create add group", run: go("/catalog?action=create-group") });
    if (allows(rules, "healthcheck.healthcheck.manage")) list.push({ id: "new-check", label: "New health check", hint: "Action", icon: Plus, words: "new create add health check monitor", run: go("/healthcheck/config/new") });
    if (allows(rules, "incident.incident.manage")) list.push({ id: "new-incident", label: "Open an incident", hint: "Action", icon: Plus, words: "open an incident new create report outage", run: go("/incident/new") });
    if (allows(rules, "maintenance.maintenance.manage")) list.push({ id: "new-maintenance", label: "Plan a maintenance", hint: "Action", icon: Plus, words: "plan a maintenance new create schedule window downtime", run: go("/maintenance/new") });
    if (allows(rules, "maintenance.maintenance.read")) list.push({ id: "maintenance-calendar", label: "Calendar of maintenances", hint: "Reliability", icon: CalendarDays, words: "calendar of maintenances planned month week", run: go("/maintenance/calendar") });
    if (allows(rules, "ai.chat.read")) list.push({ id: "down", label: "Ask what is down", hint: "Assistant", icon: Sparkles, words: "ask assistant what is down", run: go("/ai/chat?prompt=what%20is%20down%3F") });
    list.push({ id: "theme", label: "Switch between light and dark", hint: "Action", icon: Moon, words: "theme light dark", run: onToggleTheme });
    list.push({ id: "sign-out", label: "Sign out", hint: "Action", icon: LogOut, words: "sign out log out logout", run: onSignOut });
    for (const system of entities.data?.systems ?? []) {
      list.push({ id: system.id, label: system.name, hint: "System", icon: Boxes, words: `${system.name} ${system.description ?? ""}`, run: go(`/catalog/system/${system.id}`) });
    }
    return list;
  }, [rules, entities.data, navigate, onSignOut, onToggleTheme]);

  const shown = useMemo(() => {
    const records = query.trim().length > 1 ? found.items.map(({ type, id, title, active }): Command => ({ id: `${type.type}/${id}`, label: title, hint: active === false ? `${type.noun}, over` : type.noun, icon: FileText, words: title, run: () => void navigate(type.href(id)) })) : [];
    return rank([...commands, ...records], query, (command) => command.words).slice(0, 30);
  }, [commands, query, found.items, navigate]);
  const index = Math.min(active, Math.max(0, shown.length - 1));
  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run();
  };

  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search aria-hidden size={18} className="text-ink-3" />
        <input
          role="combobox"
          aria-label="Search systems, pages and actions"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={shown[index] ? `${listId}-${index}` : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder="Search systems, pages and actions"
          className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setActive(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              const next = (index + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length);
              setActive(next);
              document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: "nearest" });
            } else if (event.key === "Enter") {
              event.preventDefault();
              run(shown[index]);
            }
          }}
        />
        <kbd className="rounded border border-line px-1.5 py-0.5 text-xs text-ink-3">Esc</kbd>
      </div>
      <div id={listId} role="listbox" aria-label="Results" className="overflow-y-auto p-1.5">
        {shown.map((command, i) => {
          const Icon = command.icon;
          return (
            // The input keeps the focus and drives the list; the pointer is a second way.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events
            <div
              key={command.id}
              id={`${listId}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === index}
              onClick={() => run(command)}
              onPointerMove={() => setActive(i)}
              className={clsx("flex min-h-9 cursor-pointer items-center gap-3 rounded-[6px] px-3 py-1.5", i === index && "bg-accent-soft")}
            >
              <Icon aria-hidden size={16} className="shrink-0 text-ink-3" />
              <bdi className="min-w-0 flex-1 truncate">{command.label}</bdi>
              <span className="text-sm text-ink-3">{command.hint}</span>
              {i === index ? <CornerDownLeft aria-hidden size={14} className="text-ink-3" /> : null}
            </div>
          );
        })}
      </div>
      {shown.length === 0 ? (
        <p role="status" className="px-4 pb-5 text-center text-ink-2">
          Nothing found for “{query}”.
        </p>
      ) : null}
    </>
  );
}
