export type SnippetName = "claude-code" | "claude" | "cursor" | "vscode" | "codex" | "local";

export type Snippet = {
  name: SnippetName;
  label: string;
  /** What to do, before and after the text to copy. */
  intro: string;
  text: string;
  outro?: string;
  /** How the client says who it is before it asks a person; a local program does not ask. */
  introduces?: "document" | "registration";
};

const pretty = (value: unknown) => JSON.stringify(value, null, 2);

/** How the common clients are told about this installation. endpoint is the MCP address, base the public one. */
export function snippets(endpoint: string, base: string): Snippet[] {
  return [
    {
      name: "claude-code",
      label: "Claude Code",
      introduces: "document",
      intro: "Run this once, then type /mcp in Claude Code and choose checkstack to sign in.",
      text: `claude mcp add --transport http checkstack ${endpoint}`,
      outro: "With --scope user behind “add” it is there in every project.",
    },
    {
      name: "claude",
      label: "Claude",
      introduces: "document",
      intro: "In Claude open Settings, Connectors, Add custom connector, and paste this address. Checkstack must be reachable from the internet for it.",
      text: endpoint,
    },
    {
      name: "cursor",
      label: "Cursor",
      introduces: "registration",
      intro: "Put this into .cursor/mcp.json of a project, or ~/.cursor/mcp.json for all of them. Cursor then offers to sign in.",
      text: pretty({ mcpServers: { checkstack: { url: endpoint } } }),
    },
    {
      name: "vscode",
      label: "VS Code",
      introduces: "document",
      intro: "Put this into .vscode/mcp.json, or run the command “MCP: Add Server”, choose HTTP and give the address. VS Code then offers to sign in.",
      text: pretty({ servers: { checkstack: { type: "http", url: endpoint } } }),
    },
    {
      name: "codex",
      label: "Codex",
      introduces: "document",
      intro: "Put this into ~/.codex/config.toml.",
      text: `[mcp_servers.checkstack]\nurl = ${JSON.stringify(endpoint)}`,
      outro: "Then sign in with: codex mcp login checkstack",
    },
    {
      name: "local",
      label: "Local program",
      intro: "For clients that only start programs: the checkstack binary passes everything on. It needs the key of an application, whose roles decide what it may do.",
      text: pretty({ mcpServers: { checkstack: { command: "checkstack", args: ["mcp", "--url", base], env: { CHECKSTACK_KEY: "ck_…" } } } }),
      outro: "Make the key under Applications and put it in place of ck_….",
    },
  ];
}

/** Whether a client cannot connect while clients may not register themselves. */
export const mustRegister = (snippet: Snippet, settings: { allowClientMetadataDocuments: boolean }) => snippet.introduces === "registration" || (snippet.introduces === "document" && !settings.allowClientMetadataDocuments);

/** The redirect addresses as typed, one a line. */
export function readLines(text: string): string[] {
  return text
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
