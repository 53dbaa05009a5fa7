import { clsx } from "clsx";
import { Keyboard, LogOut, Menu as MenuIcon, Monitor, Moon, PanelLeft, Search, Sun, UserRound, WifiOff } from "lucide-react";
import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Link, NavLink, Navigate, Outlet, ScrollRestoration, useLocation, useNavigate } from "react-router";
import { logout } from "@/api/auth";
import { IconButton } from "@/ui/button";
import { Dialog, Sheet } from "@/ui/dialog";
import { ErrorState, toastError } from "@/ui/feedback";
import { MentionTypes } from "@/ui/mention-scope";
import { Menu, MenuItem, MenuLabel, MenuRadio, MenuSeparator } from "@/ui/menu";
import { allows } from "./access";
import { useBadges } from "./badges";
import { mentionTypes } from "./mentions";
import { navEntries, visibleNav } from "./nav";
import { CommandPalette } from "./palette";
import { useBootstrap, useReplaceSession, useSession, useSessionQuery } from "./session";
import { useShortcuts } from "./shortcuts";
import { useLive, useOnline, useSignals } from "./signals";
import { Boundary } from "./slot";
import { useTheme } from "./theme";

export function Logo({ compact = false }: { compact?: boolean }) {
  return (
    <span className="inline-flex items-center gap-2.5 text-[15px] font-semibold tracking-[-0.01em]">
      <svg aria-hidden viewBox="0 0 32 32" className="size-6 shrink-0">
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <path d="M8 11h16M8 21h7" stroke="#a5b4fc" strokeWidth="2.6" strokeLinecap="round" />
        <path d="M9 16.2l4.6 4.4L24 10.4" fill="none" stroke="#fff" strokeWidth="3.2" strokeLinecap="round" strokeLinejoin="round" />
      </svg>
      <span className={compact ? "sr-only" : ""}>Checkstack</span>
    </span>
  );
}

/** Lets signed-in people through; sends the others where they must go first. */
export function Shell() {
  const session = useSessionQuery();
  const bootstrap = useBootstrap();
  const location = useLocation();
  const wasSignedIn = useRef(false);
  useEffect(() => {
    if (session.data) wasSignedIn.current = session.data.authenticated;
  }, [session.data]);
  if (session.isPending || bootstrap.isPending) return <Frame />;
  const error = session.error ?? bootstrap.error;
  if (!session.data || !bootstrap.data) {
    return (
      <main className="mx-auto max-w-[620px] px-4 pt-24">
        <h1 className="mb-4">
          <Logo />
        </h1>
        <ErrorState
          title="Checkstack cannot be reached"
          error={error}
          onRetry={() => {
            void session.refetch();
            void bootstrap.refetch();
          }}
        />
      </main>
    );
  }
  if (!session.data.authenticated) {
    if (bootstrap.data.needsOnboarding) return <Navigate to="/auth/onboarding" replace />;
    const here = location.pathname + location.search;
    return <Navigate to={here === "/" ? "/auth/login" : `/auth/login?next=${encodeURIComponent(here)}`} state={{ ended: wasSignedIn.current && session.data.left !== true }} replace />;
  }
  return <SignedIn />;
}

/** The empty frame that paints before anything is known. */
function Frame() {
  return (
    <div className="flex min-h-dvh" aria-busy="true">
      <div className="hidden w-[228px] shrink-0 border-r border-line bg-surface px-4 py-4 md:block">
        <Logo />
      </div>
      <div className="h-14 flex-1 border-b border-line bg-surface" />
    </div>
  );
}

const collapsedKey = "checkstack.sidebar";

function SignedIn() {
  useSignals();
  const navigate = useNavigate();
  const location = useLocation();
  const replaceSession = useReplaceSession();
  const [theme, setTheme] = useTheme();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [sheet, setSheet] = useState(false);
  const [collapsed, setCollapsed] = useState(() => localStorage.getItem(collapsedKey) === "collapsed");
  const main = useRef<HTMLElement>(null);

  const signOut = async () => {
    try {
      await logout();
      replaceSession(undefined);
      await navigate("/auth/login", { replace: true });
    } catch (error) {
      toastError(error);
    }
  };
  const toggleTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  const { rules } = useSession();
  const readable = useMemo(() => mentionTypes.filter((type) => allows(rules, type.rule)), [rules]);

  useShortcuts({
    palette: () => setPalette((open) => !open),
    help: () => setHelp(true),
    go: (key) => {
      const entry = visibleNav(rules)
        .flatMap((group) => group.entries)
        .find((each) => each.shortcut === key);
      if (entry) void navigate(entry.to);
    },
  });

  // A new page starts at its beginning also for the keyboard, but not when only
  // a part of the page changed its address.
  const path = location.pathname.startsWith("/ai/chat") ? "/ai/chat" : location.pathname;
  const previous = useRef(path);
  useEffect(() => {
    if (previous.current === path) return;
    previous.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);

  const fullHeight = location.pathname.startsWith("/ai/chat");

  return (
    <div className={clsx("flex", fullHeight ? "h-dvh" : "min-h-dvh")}>
      <a href="#main" className="sr-only rounded-[8px] bg-accent px-4 py-2 text-white focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-60">
        Skip to content
      </a>
      <aside className={clsx("sticky top-0 hidden h-dvh shrink-0 flex-col border-r border-line bg-surface md:flex", collapsed ? "w-[60px]" : "w-[228px]")}>
        <Link to="/" className={clsx("flex h-14 items-center text-ink", collapsed ? "justify-center" : "px-4")}>
          <Logo compact={collapsed} />
        </Link>
        <Navigation compact={collapsed} />
        <div className={clsx("border-t border-line p-2", collapsed && "flex justify-center")}>
          <IconButton
            label={collapsed ? "Expand sidebar" : "Collapse sidebar"}
            aria-expanded={!collapsed}
            onClick={() => {
              localStorage.setItem(collapsedKey, collapsed ? "open" : "collapsed");
              setCollapsed(!collapsed);
            }}
          >
            <PanelLeft aria-hidden size={17} />
          </IconButton>
        </div>
      </aside>
      <Sheet open={sheet} onOpenChange={setSheet} title="Navigation">
        <div className="flex h-14 items-center px-4">
          <Logo />
        </div>
        <Navigation onNavigate={() => setSheet(false)} />
      </Sheet>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="sticky top-0 z-20 flex h-14 shrink-0 items-center gap-2 border-b border-line bg-surface px-3 md:px-5">
          <IconButton label="Open navigation" className="md:hidden" onClick={() => setSheet(true)}>
            <MenuIcon aria-hidden size={20} />
          </IconButton>
          <button
            type="button"
            onClick={() => setPalette(true)}
            className="flex h-9 min-w-0 flex-1 items-center gap-2.5 rounded-[8px] border border-line bg-bg px-3 text-left text-ink-3 hover:border-line-strong sm:max-w-[340px]"
          >
            <Search aria-hidden size={16} className="shrink-0" />
            <span className="min-w-0 flex-1 truncate">Search</span>
            <kbd className="hidden rounded border border-line bg-surface px-1.5 text-xs sm:inline">{isMac() ? "⌘ K" : "Ctrl K"}</kbd>
          </button>
          <div className="ml-auto flex items-center gap-1">
            <LiveNote />
            <Menu
              trigger={
                <button type="button" aria-label="Theme" title="Theme" className="inline-flex size-9 items-center justify-center rounded-[8px] text-ink-2 hover:bg-raised hover:text-ink">
                  {theme === "system" ? <Monitor aria-hidden size={17} /> : theme === "dark" ? <Moon aria-hidden size={17} /> : <Sun aria-hidden size={17} />}
                </button>
              }
            >
              <MenuRadio
                value={theme}
                onChange={setTheme}
                options={[
                  { value: "light", label: "Light" },
                  { value: "dark", label: "Dark" },
                  { value: "system", label: "As the system" },
                ]}
              />
            </Menu>
            <UserMenu onSignOut={() => void signOut()} onHelp={() => setHelp(true)} />
          </div>
        </header>
        <main id="main" ref={main} tabIndex={-1} className={clsx("min-w-0 flex-1", fullHeight && "flex min-h-0 flex-col")}>
          <Boundary key={path} title="This page failed">
            <MentionTypes value={readable}>
              <Suspense fallback={null}>
                <Outlet />
              </Suspense>
            </MentionTypes>
          </Boundary>
        </main>
      </div>
      <CommandPalette open={palette} onOpenChange={setPalette} onSignOut={() => void signOut()} onToggleTheme={toggleTheme} />
      <KeysDialog open={help} onOpenChange={setHelp} />
      <ScrollRestoration />
    </div>
  );
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}

function Navigation({ compact = false, onNavigate }: { compact?: boolean; onNavigate?: () => void }) {
  const { rules } = useSession();
  const badges = useBadges();
  const { pathname } = useLocation();
  return (
    <nav aria-label="Main" className="flex-1 overflow-y-auto px-2 pb-4">
      {visibleNav(rules).map(({ group, entries }) => (
        <div key={group} className="mt-3 first:mt-1">
          {compact ? null : <p className="px-2.5 pb-1 text-xs font-medium text-ink-3">{group}</p>}
          <ul aria-label={group}>
            {entries.map((entry) => {
              const Icon = entry.icon;
              return (
                <li key={entry.to}>
                  <NavLink
                    to={entry.to}
                    end={entry.to === "/"}
                    onClick={onNavigate}
                    {...(compact ? { title: entry.label } : {})}
                    className={({ isActive }) =>
                      clsx(
                        "relative flex min-h-8.5 items-center gap-2.5 rounded-[8px] px-2.5 no-underline transition-colors duration-120",
                        compact && "justify-center",
                        isActive || (entry.under !== undefined && pathname.startsWith(`${entry.under}/`)) ? "bg-accent-soft font-medium text-accent-ink" : "text-ink-2 hover:bg-raised hover:text-ink",
                      )
                    }
                  >
                    <Icon aria-hidden size={17} className="shrink-0" />
                    <span className={compact ? "sr-only" : "truncate"}>{entry.label}</span>
                    {entry.badge ? <Count of={badges[entry.badge] ?? 0} compact={compact} /> : null}
                  </NavLink>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** How many things wait for this person; nothing when none do. */
function Count({ of: count, compact }: { of: number; compact: boolean }) {
  if (count === 0) return null;
  return (
    <span className={clsx("rounded-full bg-accent text-center text-xs font-semibold text-white", compact ? "absolute top-0.5 right-0.5 min-w-4 px-1" : "ml-auto min-w-5 px-1.5 py-px")}>
      {count > 99 ? "99+" : count}
      <span className="sr-only"> waiting</span>
    </span>
  );
}

/** Tells that the machine has no network, or that live updates do not arrive. */
function LiveNote() {
  const live = useLive();
  const online = useOnline();
  return (
    <span role="status">
      {!online ? (
        <span className="inline-flex items-center gap-1.5 rounded-full bg-unhealthy-soft px-2.5 py-1 text-xs font-medium text-unhealthy-ink" title="This device has no network connection. What you see may be old.">
          <WifiOff aria-hidden size={14} />
          <span className="sr-only sm:not-sr-only">You are offline</span>
        </span>
      ) : live ? null : (
        <span className="inline-flex items-center gap-1.5 rounded-full bg-degraded-soft px-2.5 py-1 text-xs font-medium text-degraded-ink" title="The connection for live updates was lost. Trying again.">
          <WifiOff aria-hidden size={14} />
          <span className="sr-only sm:not-sr-only">Live updates paused</span>
        </span>
      )}
    </span>
  );
}

function UserMenu({ onSignOut, onHelp }: { onSignOut: () => void; onHelp: () => void }) {
  const { user } = useSession();
  const navigate = useNavigate();
  const name = user?.name ?? "";
  return (
    <Menu
      trigger={
        <button type="button" aria-label={`Account of ${name}`} title={name} className="ml-1 inline-flex size-9 items-center justify-center rounded-full">
          <span aria-hidden className="inline-flex size-8 items-center justify-center rounded-full bg-accent-soft text-sm font-semibold text-accent-ink">
            {name.trim().charAt(0).toUpperCase() || "?"}
          </span>
        </button>
      }
    >
      <MenuLabel>
        <span className="block font-medium text-ink">{name}</span>
        <span className="block break-all">{user?.email}</span>
      </MenuLabel>
      <MenuSeparator />
      <MenuItem icon={<UserRound aria-hidden size={16} />} onSelect={() => void navigate("/settings/profile")}>
        Your profile
      </MenuItem>
      <MenuItem icon={<Keyboard aria-hidden size={16} />} onSelect={onHelp}>
        Keyboard shortcuts
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden size={16} />} onSelect={onSignOut}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

function KeysDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const { rules } = useSession();
  const allowed = new Set(visibleNav(rules).flatMap((group) => group.entries.map((entry) => entry.to)));
  const rows: [string[], string][] = [
    [[isMac() ? "⌘" : "Ctrl", "K"], "Search and actions"],
    ...navEntries.flatMap((entry): [string[], string][] => (entry.shortcut && allowed.has(entry.to) ? [[["g", entry.shortcut], `Go to ${entry.label.toLowerCase()}`]] : [])),
    [["?"], "This list"],
    [["Esc"], "Close what is open"],
  ];
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5">
        {rows.map(([keys, what]) => (
          <div key={what} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd key={key} className="min-w-6 rounded border border-line-strong/60 bg-raised px-1.5 py-0.5 text-center text-sm">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
