import { Activity, BookOpen, Bot, Boxes, Brain, ClipboardCheck, Coins, KeyRound, LayoutDashboard, Plug, ScrollText, Settings, Shield, Siren, Sparkles, UserRound, Users, Wrench, type LucideIcon } from "lucide-react";
import { allows } from "./access";

export type NavEntry = {
  group: "Workspace" | "Reliability" | "Automation" | "Configuration" | "Documentation";
  label: string;
  to: string;
  /** Pages below this address belong to the entry too. */
  under?: string;
  icon: LucideIcon;
  /** Lower sorts first inside the group. */
  order: number;
  /** Holding any of these shows the entry; an empty list shows it to everyone signed in. */
  rules: string[];
  /** Shows the entry to everyone who may change something, whatever it is. */
  forChangers?: boolean;
  /** Second key after "g". */
  shortcut?: string;
  /** Which count stands behind the label. */
  badge?: "approvals";
};

const groupOrder: NavEntry["group"][] = ["Workspace", "Reliability", "Automation", "Configuration", "Documentation"];

/** Every entry of the sidebar. A feature adds itself here, with the rule its page needs. */
export const navEntries: NavEntry[] = [
  { group: "Workspace", label: "Dashboard", to: "/", icon: LayoutDashboard, order: 0, rules: [], shortcut: "d" },
  { group: "Workspace", label: "Catalog", to: "/catalog", icon: Boxes, order: 10, rules: ["catalog.system.read"], shortcut: "c" },
  { group: "Workspace", label: "Assistant", to: "/ai/chat", icon: Sparkles, order: 20, rules: ["ai.chat.read"], shortcut: "a" },
  { group: "Workspace", label: "Approvals", to: "/approvals", icon: ClipboardCheck, order: 30, rules: ["ai.chat.read"], forChangers: true, shortcut: "p", badge: "approvals" },
  { group: "Reliability", label: "Health checks", to: "/healthcheck/config", icon: Activity, order: 0, rules: ["healthcheck.healthcheck.read"], shortcut: "h" },
  { group: "Reliability", label: "Incidents", to: "/incident/config", under: "/incident", icon: Siren, order: 10, rules: ["incident.incident.read"], shortcut: "i" },
  { group: "Reliability", label: "Maintenances", to: "/maintenance/config", under: "/maintenance", icon: Wrench, order: 20, rules: ["maintenance.maintenance.read"], shortcut: "m" },
  { group: "Configuration", label: "Connections", to: "/settings/connections", icon: Plug, order: 0, rules: ["integration.connection.read"] },
  { group: "Configuration", label: "Assistant spend", to: "/settings/spend", icon: Coins, order: 5, rules: ["integration.connection.manage"] },
  { group: "Configuration", label: "Skills", to: "/ai/skills", icon: BookOpen, order: 3, rules: ["ai.skill.read"] },
  { group: "Configuration", label: "Memories", to: "/ai/memories", icon: Brain, order: 4, rules: ["ai.memory.read"] },
  { group: "Configuration", label: "Users", to: "/settings/users", icon: Users, order: 10, rules: ["auth.users.read"] },
  { group: "Configuration", label: "Roles", to: "/settings/roles", icon: Shield, order: 20, rules: ["auth.roles.read"] },
  { group: "Configuration", label: "Applications", to: "/settings/applications", icon: KeyRound, order: 30, rules: ["auth.applications.manage"] },
  { group: "Configuration", label: "Outside agents", to: "/settings/outside-agents", icon: Bot, order: 35, rules: ["ai.mcp.manage"] },
  { group: "Configuration", label: "Registration", to: "/settings/registration", icon: Settings, order: 40, rules: ["auth.registration.manage"] },
  { group: "Configuration", label: "Audit log", to: "/audit", icon: ScrollText, order: 45, rules: ["ai.chat.read", "ai.audit.read"] },
  { group: "Configuration", label: "Your profile", to: "/settings/profile", icon: UserRound, order: 50, rules: [] },
];

/** The entries a person may use, grouped; a group without entries is absent. */
export function visibleNav(rules: readonly string[], entries: readonly NavEntry[] = navEntries): { group: string; entries: NavEntry[] }[] {
  const changer = rules.some((rule) => !rule.endsWith(".read"));
  return groupOrder.flatMap((group) => {
    const own = entries
      .filter((entry) => entry.group === group && (entry.forChangers === true && changer ? true : entry.rules.length === 0 || entry.rules.some((rule) => allows(rules, rule))))
      .sort((a, b) => a.order - b.order);
    return own.length > 0 ? [{ group, entries: own }] : [];
  });
}
