import { incidentMentions } from "@/pages/incident/mentions";
import { maintenanceMentions } from "@/pages/maintenance/mentions";
import type { MentionType } from "@/ui/mentions";

/** Every kind of record that operator text can mention. A domain adds its own. */
export const mentionTypes: MentionType[] = [incidentMentions, maintenanceMentions];
