const phrases: Record<string, [running: string, done: string]> = {
  "system.issues": ["Looking for trouble", "Looked for trouble"],
  "healthcheck.status": ["Reading health", "Read health"],
  "healthcheck.propose": ["Preparing a health check", "Prepared a health check"],
  "ai.probeUrl": ["Trying the address", "Tried the address"],
  "ai.searchDocs": ["Searching the documentation", "Searched the documentation"],
  "ai.getDoc": ["Reading the documentation", "Read the documentation"],
  "ai.listDocs": ["Looking through the documentation", "Looked through the documentation"],
  "ai.searchMemory": ["Looking through what was noted", "Looked through what was noted"],
  "ai.askOperator": ["Asking you", "Asked you"],
  "incident.list": ["Checking incidents", "Checked incidents"],
  "incident.get": ["Reading the incident", "Read the incident"],
  "incident.addUpdate": ["Updating the incident", "Updating the incident"],
  "maintenance.list": ["Checking maintenances", "Checked maintenances"],
  "maintenance.get": ["Reading the maintenance", "Read the maintenance"],
  "maintenance.addUpdate": ["Updating the maintenance", "Updating the maintenance"],
};

const verbs: Record<string, [running: string, done: string]> = {
  list: ["Checking", "Checked"],
  get: ["Reading", "Read"],
  search: ["Searching", "Searched"],
  propose: ["Preparing", "Prepared"],
  test: ["Testing", "Tested"],
  run: ["Running", "Ran"],
  create: ["Creating", "Creating"],
  add: ["Updating", "Updating"],
  update: ["Updating", "Updating"],
  transition: ["Updating", "Updating"],
  close: ["Closing", "Closing"],
  save: ["Saving", "Saving"],
  skip: ["Skipping", "Skipping"],
  delete: ["Deleting", "Deleting"],
  remove: ["Updating", "Updating"],
  resolve: ["Resolving", "Resolving"],
  notify: ["Notifying", "Notifying"],
};

function words(name: string): string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[\s_-]+/);
}

/** What a tool call does, for people: "Checking systems". Dots and underscores are equal. */
export function toolLabel(toolName: string, running: boolean): string {
  const dotted = toolName.includes(".") ? toolName : toolName.replace("_", ".");
  const known = phrases[dotted];
  if (known) return known[running ? 0 : 1];
  const [plugin = "", action = ""] = dotted.split(".");
  const [verb = "", ...rest] = words(action === "" ? plugin : action);
  const pair = verbs[verb];
  const object = rest.length > 0 ? rest.join(" ") : plugin.toLowerCase();
  if (!pair) {
    const text = [verb, ...rest].join(" ");
    return text === "" ? "Using a tool" : text.charAt(0).toUpperCase() + text.slice(1);
  }
  return `${pair[running ? 0 : 1]} ${object}`;
}

const titles: Record<string, string> = {
  "incident.addUpdate": "Add incident update",
  "incident.create": "Open incident",
  "maintenance.addUpdate": "Add maintenance update",
  "maintenance.create": "Schedule maintenance",
};

/** The heading of a card: "Create system". */
export function actionTitle(toolName: string): string {
  const dotted = toolName.includes(".") ? toolName : toolName.replace("_", ".");
  const known = titles[dotted];
  if (known) return known;
  const [plugin = "", action = ""] = dotted.split(".");
  const parts = words(action === "" ? plugin : action);
  if (parts[0] === "propose") parts.splice(0, 1, "create");
  const text = parts.length === 1 ? `${parts[0] ?? ""} ${plugin === "healthcheck" ? "health check" : plugin}` : parts.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
