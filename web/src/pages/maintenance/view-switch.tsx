import { CalendarDays, List } from "lucide-react";
import { LinkButton } from "@/ui/button";

/** The same windows as a list or in a calendar. */
export function ViewSwitch({ view, system }: { view: "list" | "calendar"; system: string }) {
  const search = system ? `?system=${system}` : "";
  return view === "list" ? (
    <LinkButton to={`/maintenance/calendar${search}`} icon={<CalendarDays aria-hidden size={16} />}>
      Calendar
    </LinkButton>
  ) : (
    <LinkButton to={`/maintenance/config${search}`} icon={<List aria-hidden size={16} />}>
      List
    </LinkButton>
  );
}
