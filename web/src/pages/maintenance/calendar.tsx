import { clsx } from "clsx";
import { CalendarClock, ChevronLeft, ChevronRight, CircleCheck, CircleSlash, Plus, Repeat, Wrench, type LucideIcon } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { Link, useSearchParams } from "react-router";
import { useCan } from "@/app/session";
import { SystemFilter } from "@/pages/catalog/system-filter";
import { isolate } from "@/ui/bidi";
import { Button, LinkButton } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/feedback";
import { Page } from "@/ui/page";
import { addDays, localZone, startOfDay, timeText, wallAt, wholeMinute, windowText } from "@/ui/zone";
import { calendarLimit, useSpan, type Maintenance } from "./api";
import { SeriesMark, StatusBadge } from "./badges";
import { addMonths, blocksOf, clockChange, dayByKey, lanesOf, monthOf, onDay, weekOf, type Piece } from "./calendar-days";
import { ViewSwitch } from "./view-switch";
import { ZoneNote } from "./window";
import { namesLine, statusLabel } from "./words";

type View = "month" | "week";
type Entry = { id: string; start: number; end: number; maintenance: Maintenance };

function dayName(date: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" }).format(new Date(`${date}T00:00:00Z`));
}

const longDay = (date: string) => dayName(date, { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/** The day that weeks begin with where the reader lives: 1 is Monday, 7 Sunday. */
function firstWeekday(): number {
  const locale = new Intl.Locale(navigator.language) as Intl.Locale & { getWeekInfo?: () => { firstDay: number }; weekInfo?: { firstDay: number } };
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1;
}

const looks: Record<string, { icon: LucideIcon; chip: string }> = {
  scheduled: { icon: CalendarClock, chip: "border-maintenance bg-maintenance-soft text-maintenance-ink" },
  in_progress: { icon: Wrench, chip: "border-maintenance-ink bg-maintenance-ink text-surface font-medium" },
  completed: { icon: CircleCheck, chip: "border-healthy bg-raised text-ink-2" },
  cancelled: { icon: CircleSlash, chip: "border-line-strong bg-raised text-ink-3 line-through" },
};

/** Maintenances in a calendar of the reader's zone: a month or a week, and the chosen day in full. */
export function Component() {
  const can = useCan();
  const manage = can("maintenance.maintenance.manage");
  const zone = localZone();
  const now = useNow();
  const today = wallAt(now.getTime(), zone).date;
  const firstDay = useMemo(firstWeekday, []);
  const [params, setParams] = useSearchParams();
  const view: View = params.get("view") === "week" ? "week" : "month";
  const given = params.get("day") ?? "";
  const day = isDay(given) ? given : today;
  const system = params.get("system") ?? "";
  const set = (changes: Record<string, string>) =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        for (const [key, value] of Object.entries(changes)) {
          if (value === "") next.delete(key);
          else next.set(key, value);
        }
        return next;
      },
      { replace: true, preventScrollReset: true },
    );

  const weeks = useMemo(() => (view === "week" ? [weekOf(day, firstDay)] : monthOf(day, firstDay)), [view, day, firstDay]);
  const first = weeks[0]?.[0] ?? day;
  const last = weeks.at(-1)?.[6] ?? day;
  const from = startOfDay(first, zone);
  const to = startOfDay(addDays(last, 1), zone);
  const found = useSpan(from, to, system || undefined);
  const entries = useMemo(
    (): Entry[] => (found.data?.maintenances ?? []).map((maintenance) => ({ id: maintenance.id, start: Date.parse(maintenance.startAt), end: Date.parse(maintenance.endAt), maintenance })),
    [found.data],
  );
  const byDay = useMemo(() => new Map(weeks.flat().map((date) => [date, onDay(entries, date, zone)])), [weeks, entries, zone]);

  const agenda = useRef<HTMLHeadingElement>(null);
  const grid = useRef<HTMLTableElement>(null);
  // A key moves the focus to a day that may only be drawn after it was pressed.
  const follow = useRef(false);
  useEffect(() => {
    if (!follow.current) return;
    follow.current = false;
    grid.current?.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus();
  }, [day, view]);
  const step = (by: 1 | -1) => set({ day: view === "week" ? addDays(day, 7 * by) : addMonths(day, by) });
  const openDay = (date: string) => {
    set({ day: date });
    agenda.current?.focus();
  };
  const onKey = (event: React.KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      // On a link inside of a day the key belongs to the link.
      if (event.target instanceof HTMLElement && event.target.dataset.day === undefined) return;
      event.preventDefault();
      agenda.current?.focus();
      return;
    }
    const next = dayByKey(event.key, event.shiftKey, day, firstDay);
    if (next === undefined) return;
    event.preventDefault();
    follow.current = true;
    set({ day: next });
  };

  const title = view === "week" ? `${dayName(first, { day: "numeric", month: "short" })} to ${dayName(last, { day: "numeric", month: "short", year: "numeric" })}` : dayName(day, { month: "long", year: "numeric" });
  const cell = { day, today, byDay, onKey, onPick: (date: string) => set({ day: date }) };
  return (
    <Page
      title="Calendar of maintenances"
      description={<ZoneNote at={from} />}
      actions={
        <>
          <ViewSwitch view="calendar" system={system} />
          {manage ? (
            <LinkButton look="primary" to={`/maintenance/new?date=${day}${system ? `&systemId=${system}` : ""}`} icon={<Plus aria-hidden size={16} />}>
              Plan a maintenance
            </LinkButton>
          ) : null}
        </>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <div className="flex items-center gap-1">
          <Button aria-label={view === "week" ? "Week before" : "Month before"} icon={<ChevronLeft aria-hidden size={16} />} className="px-2.5!" onClick={() => step(-1)} />
          <Button aria-label={view === "week" ? "Week after" : "Month after"} icon={<ChevronRight aria-hidden size={16} />} className="px-2.5!" onClick={() => step(1)} />
          <Button onClick={() => set({ day: "" })}>Today</Button>
        </div>
        <h2 aria-live="polite" className="mr-auto ml-1 text-lg font-semibold">
          {title}
        </h2>
        {can("catalog.system.read") ? <SystemFilter value={system} onChange={(value) => set({ system: value })} /> : null}
        <div role="group" aria-label="View" className="flex">
          {(["month", "week"] as const).map((each) => (
            <Button key={each} aria-pressed={view === each} className={clsx(each === "month" ? "rounded-r-none!" : "-ml-px rounded-l-none!", view === each && "bg-accent-soft! text-accent-ink!")} onClick={() => set({ view: each === "month" ? "" : each })}>
              {each === "month" ? "Month" : "Week"}
            </Button>
          ))}
        </div>
      </div>
      {found.isError ? (
        <div className="mb-4">
          <ErrorState title={found.data ? "The calendar could not be refreshed and may be out of date" : "The maintenances could not be loaded"} error={found.error} onRetry={() => void found.refetch()} />
        </div>
      ) : null}
      {found.data?.more ? <p className="mb-3 rounded-[8px] bg-degraded-soft px-4 py-2.5 text-degraded-ink">Only the first {calendarLimit} windows are shown. Choose a system or a week to see all of it.</p> : null}
      <div className="hidden md:block">
        {view === "month" ? <Month weeks={weeks} label={title} grid={grid} busy={found.isPending || found.isPlaceholderData} onMore={openDay} {...cell} /> : <Week days={weeks[0] ?? []} label={title} grid={grid} busy={found.isPending || found.isPlaceholderData} now={now} {...cell} />}
        <section aria-label={longDay(day)} className="mt-5">
          <h2 ref={agenda} tabIndex={-1} className="mb-2 text-lg font-semibold outline-none">
            {longDay(day)}
          </h2>
          {found.isPending ? <SkeletonRows rows={2} /> : null}
          {found.data ? <DayList pieces={byDay.get(day) ?? []} date={day} /> : null}
        </section>
      </div>
      <div className="md:hidden">{found.isPending ? <SkeletonRows rows={5} /> : <Agenda days={weeks.flat().filter((date) => view === "week" || date.slice(0, 7) === day.slice(0, 7))} byDay={byDay} today={today} />}</div>
    </Page>
  );
}

function isDay(text: string): boolean {
  return /^(19[7-9]\d|20\d\d|21\d\d)-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}

type GridProps = {
  label: string;
  grid: React.RefObject<HTMLTableElement | null>;
  busy: boolean;
  day: string;
  today: string;
  byDay: ReadonlyMap<string, Piece<Entry>[]>;
  onKey: (event: React.KeyboardEvent) => void;
  onPick: (date: string) => void;
};

/** What a day's cell is called: the date, what happens on it, and what clocks do. */
function cellName(date: string, today: string, pieces: readonly unknown[], zone: string): string {
  const change = clockChange(date, zone);
  const parts = [longDay(date), date === today ? "today" : "", pieces.length === 0 ? "no maintenance" : pieces.length === 1 ? "1 maintenance" : `${pieces.length} maintenances`, change === 0 ? "" : change > 0 ? "clocks go forward" : "clocks go back"];
  return parts.filter(Boolean).join(", ");
}

function WeekdayRow({ days, corner = false, children }: { days: readonly string[]; corner?: boolean; children?: (date: string) => React.ReactNode }) {
  return (
    <thead>
      <tr>
        {corner ? <td className="w-12 border-b border-line" /> : null}
        {days.map((date) => (
          <th key={date} scope="col" abbr={dayName(date, { weekday: "long" })} className="border-b border-line px-2 py-2 text-left text-sm font-medium text-ink-3">
            {children ? children(date) : dayName(date, { weekday: "short" })}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** How many windows a day of the month shows; the day's list has all. */
const lines = 3;

function Month({ weeks, label, grid, busy, day, today, byDay, onKey, onPick, onMore }: GridProps & { weeks: string[][]; onMore: (date: string) => void }) {
  const zone = localZone();
  return (
    // A table of days with the keys of a grid, as the ARIA practices have it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role
    <table ref={grid} role="grid" aria-label={`${label}, in ${zone}`} aria-busy={busy || undefined} className="card w-full table-fixed border-separate border-spacing-0 overflow-hidden">
      <WeekdayRow days={weeks[0] ?? []} />
      <tbody>
        {weeks.map((week, row) => {
          const pieces = week.map((date) => byDay.get(date) ?? []);
          const lanes = lanesOf(pieces);
          return (
            <tr key={week[0]}>
              {week.map((date, column) => {
                const own = pieces[column] ?? [];
                const shown = Array.from({ length: lines }, (_, lane) => own.find(({ span }) => lanes.get(span.id) === lane));
                const hidden = own.filter(({ span }) => (lanes.get(span.id) ?? 0) >= lines).length;
                return (
                  // Arrow keys move between days; Enter leads to the list of the day.
                  <td
                    key={date}
                    role="gridcell"
                    data-day={date}
                    tabIndex={date === day ? 0 : -1}
                    aria-selected={date === day}
                    aria-current={date === today ? "date" : undefined}
                    onKeyDown={onKey}
                    onClick={() => onPick(date)}
                    className={clsx(
                      "h-[112px] cursor-pointer border-line p-0 align-top focus-visible:outline-offset-[-2px]!",
                      row > 0 && "border-t",
                      column > 0 && "border-l",
                      date.slice(0, 7) === day.slice(0, 7) ? "" : "bg-bg",
                      date === day && "shadow-[inset_0_0_0_2px_var(--c-accent)]",
                    )}
                  >
                    <span className="sr-only">{cellName(date, today, own, zone)}</span>
                    <div aria-hidden className={clsx("flex items-center gap-1 px-2 pt-1.5 pb-1 text-sm", date.slice(0, 7) === day.slice(0, 7) ? "text-ink" : "text-ink-3")}>
                      <span className={clsx(date === today && "-ml-1 inline-flex min-w-6 justify-center rounded-full bg-accent px-1.5 font-semibold text-white")}>{Number(date.slice(8))}</span>
                      <ClockNote date={date} zone={zone} />
                    </div>
                    <div className="grid gap-0.5 pb-1">
                      {shown.map((piece, lane) => (piece ? <Chip key={piece.span.id} piece={piece} atStart={column === 0} zone={zone} /> : lane < own.length ? <span key={lane} className="h-[22px]" /> : null))}
                      {hidden > 0 ? (
                        <button
                          type="button"
                          tabIndex={-1}
                          className="mx-1 rounded-[4px] px-1.5 text-left text-xs text-ink-2 hover:bg-raised"
                          onClick={(event) => {
                            event.stopPropagation();
                            onMore(date);
                          }}
                        >
                          {hidden} more
                        </button>
                      ) : null}
                    </div>
                  </td>
                );
              })}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function ClockNote({ date, zone }: { date: string; zone: string }) {
  const change = clockChange(date, zone);
  if (change === 0) return null;
  return <span className="truncate text-xs text-degraded-ink">{change > 0 ? "clocks forward" : "clocks back"}</span>;
}

/** What goes without saying for those who see the calendar. */
function restOfName({ span }: Piece<Entry>, zone: string): string {
  const { maintenance } = span;
  return `, ${statusLabel(maintenance.status).toLowerCase()}, ${windowText(span.start, span.end, zone)}${maintenance.seriesId ? ", part of a series" : ""}`;
}

const fullName = (piece: Piece<Entry>, zone: string) => `${isolate(piece.span.maintenance.title)}${restOfName(piece, zone)}`;

function Chip({ piece, atStart, zone }: { piece: Piece<Entry>; atStart: boolean; zone: string }) {
  const { maintenance } = piece.span;
  const look = looks[maintenance.status];
  const Icon = look?.icon ?? CalendarClock;
  return (
    <Link
      to={`/maintenance/${maintenance.id}`}
      tabIndex={-1}
      title={fullName(piece, zone)}
      onClick={(event) => event.stopPropagation()}
      className={clsx(
        "flex h-[22px] min-w-0 items-center gap-1 px-1.5 text-xs hover:brightness-95",
        look?.chip,
        piece.continues ? "pl-1" : "ml-1 rounded-l-[4px] border-l-3",
        piece.goesOn ? "" : "mr-1 rounded-r-[4px]",
      )}
    >
      {piece.continues && !atStart ? (
        <span className="sr-only">{maintenance.title}</span>
      ) : (
        <>
          <Icon aria-hidden size={12} className="shrink-0" />
          {piece.continues ? null : <span className="shrink-0">{timeText(wholeMinute(piece.span.start), zone)}</span>}
          <bdi className="min-w-0 truncate">{maintenance.title}</bdi>
          {maintenance.seriesId ? <Repeat aria-hidden size={11} className="ml-auto shrink-0" /> : null}
        </>
      )}
      <span className="sr-only">{restOfName(piece, zone)}</span>
    </Link>
  );
}

const hourPx = 26;

function Week({ days, label, grid, busy, day, today, byDay, onKey, onPick, now }: GridProps & { days: string[]; now: Date }) {
  const zone = localZone();
  const nowWall = wallAt(now.getTime(), zone).time.split(":").map(Number);
  const nowMinutes = (nowWall[0] ?? 0) * 60 + (nowWall[1] ?? 0);
  return (
    // A table of days with the keys of a grid, as the ARIA practices have it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role
    <table ref={grid} role="grid" aria-label={`${label}, in ${zone}`} aria-busy={busy || undefined} className="card w-full table-fixed border-separate border-spacing-0 overflow-hidden">
      <WeekdayRow days={days} corner>
        {(date) => (
          <>
            <span className={clsx(date === today && "font-semibold text-accent-ink")}>{dayName(date, { weekday: "short", day: "numeric" })}</span> <ClockNote date={date} zone={zone} />
          </>
        )}
      </WeekdayRow>
      <tbody>
        <tr>
          <td aria-hidden className="p-0 align-top">
            <div className="relative" style={{ height: hourPx * 24 }}>
              {Array.from({ length: 23 }, (_, i) => (
                <span key={i} className="absolute right-1.5 -translate-y-1/2 text-xs text-ink-3" style={{ top: (i + 1) * hourPx }}>
                  {String(i + 1).padStart(2, "0")}:00
                </span>
              ))}
            </div>
          </td>
          {days.map((date) => {
            const own = byDay.get(date) ?? [];
            return (
              <td
                key={date}
                role="gridcell"
                data-day={date}
                tabIndex={date === day ? 0 : -1}
                aria-selected={date === day}
                aria-current={date === today ? "date" : undefined}
                onKeyDown={onKey}
                onClick={() => onPick(date)}
                className={clsx("cursor-pointer border-l border-line p-0 align-top focus-visible:outline-offset-[-2px]!", date === day && "shadow-[inset_0_0_0_2px_var(--c-accent)]")}
              >
                <span className="sr-only">{cellName(date, today, own, zone)}</span>
                <div className="relative" style={{ height: hourPx * 24, backgroundImage: `repeating-linear-gradient(to bottom, transparent 0 ${hourPx - 1}px, var(--c-line) ${hourPx - 1}px ${hourPx}px)` }}>
                  {blocksOf(own, date, zone).map((block) => {
                    const { maintenance } = block.span;
                    const look = looks[maintenance.status];
                    const Icon = look?.icon ?? CalendarClock;
                    return (
                      <Link
                        key={block.span.id}
                        to={`/maintenance/${maintenance.id}`}
                        tabIndex={-1}
                        title={fullName(block, zone)}
                        onClick={(event) => event.stopPropagation()}
                        className={clsx("absolute overflow-hidden border-l-3 px-1 py-px text-xs leading-[15px] shadow-[0_0_0_1px_var(--c-surface)]", look?.chip, block.continues ? "" : "rounded-t-[4px]", block.goesOn ? "" : "rounded-b-[4px]")}
                        style={{ top: (block.top / 60) * hourPx, height: ((block.bottom - block.top) / 60) * hourPx, left: `calc(${(block.column / block.columns) * 100}% + 2px)`, width: `calc(${100 / block.columns}% - 4px)` }}
                      >
                        <span className="flex items-center gap-1">
                          <Icon aria-hidden size={11} className="shrink-0" />
                          {block.continues ? null : timeText(wholeMinute(block.span.start), zone)}
                          {maintenance.seriesId ? <Repeat aria-hidden size={10} className="shrink-0" /> : null}
                        </span>
                        <bdi className="block wrap-anywhere">{maintenance.title}</bdi>
                        <span className="sr-only">{restOfName(block, zone)}</span>
                      </Link>
                    );
                  })}
                  {date === today ? <span aria-hidden className="pointer-events-none absolute inset-x-0 border-t-2 border-danger" style={{ top: (nowMinutes / 60) * hourPx }} /> : null}
                </div>
              </td>
            );
          })}
        </tr>
      </tbody>
    </table>
  );
}

/** The windows of one day, each in full. */
function DayList({ pieces, date }: { pieces: readonly Piece<Entry>[]; date: string }) {
  const zone = localZone();
  const change = clockChange(date, zone);
  return (
    <>
      {change === 0 ? null : (
        <p className="mb-2 rounded-[8px] bg-degraded-soft px-3 py-2 text-sm text-degraded-ink">
          Clocks go {change > 0 ? "forward" : "back"} by {Math.abs(change)} min on this day.
        </p>
      )}
      {pieces.length === 0 ? (
        <p className="card px-4 py-5 text-center text-ink-2">No maintenance on this day.</p>
      ) : (
        <ul className="card divide-y divide-line">
          {pieces.map((piece) => {
            const { maintenance } = piece.span;
            return (
              <li key={maintenance.id} className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 py-2.5">
                <div className="min-w-0 flex-1 basis-[220px]">
                  <Link to={`/maintenance/${maintenance.id}`} className="line-clamp-3 font-medium wrap-anywhere text-ink hover:underline">
                    <bdi>{maintenance.title}</bdi>
                  </Link>
                  <p className="line-clamp-2 text-sm wrap-anywhere text-ink-3">{namesLine((maintenance.systems ?? []).map((each) => isolate(each.name)))}</p>
                </div>
                {maintenance.seriesId ? <SeriesMark className="min-h-5" /> : null}
                <StatusBadge status={maintenance.status} />
                <span className="basis-full text-ink-2 sm:basis-auto">{windowText(piece.span.start, piece.span.end, zone)}</span>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

/** On a phone: the days on which something happens, one below the other. */
function Agenda({ days, byDay, today }: { days: readonly string[]; byDay: ReadonlyMap<string, Piece<Entry>[]>; today: string }) {
  const busy = days.filter((date) => (byDay.get(date)?.length ?? 0) > 0);
  if (busy.length === 0) return <EmptyState title="Nothing in this time">No maintenance is planned here, and none took place.</EmptyState>;
  return busy.map((date) => (
    <section key={date} aria-label={longDay(date)} className="mb-4">
      <h3 className="mb-1.5 font-semibold">
        {longDay(date)}
        {date === today ? <span className="ml-2 text-sm font-normal text-accent-ink">today</span> : null}
      </h3>
      <DayList pieces={byDay.get(date) ?? []} date={date} />
    </section>
  ));
}
