import { expect, test } from "vitest";
import { mustRegister, readLines, snippets } from "./snippets";

const all = snippets("https://status.example.com/api/ai/mcp", "https://status.example.com");
const textOf = (name: string) => all.find((each) => each.name === name)?.text ?? "";

test("every client is told the endpoint in its own form", () => {
  expect(textOf("claude-code")).toBe("claude mcp add --transport http checkstack https://status.example.com/api/ai/mcp");
  expect(JSON.parse(textOf("cursor"))).toEqual({ mcpServers: { checkstack: { url: "https://status.example.com/api/ai/mcp" } } });
  expect(JSON.parse(textOf("vscode"))).toEqual({ servers: { checkstack: { type: "http", url: "https://status.example.com/api/ai/mcp" } } });
  expect(textOf("codex")).toBe('[mcp_servers.checkstack]\nurl = "https://status.example.com/api/ai/mcp"');
});

test("the local program is given the public address and no real key", () => {
  expect(JSON.parse(textOf("local"))).toEqual({ mcpServers: { checkstack: { command: "checkstack", args: ["mcp", "--url", "https://status.example.com"], env: { CHECKSTACK_KEY: "ck_…" } } } });
});

test("which clients must register themselves depends on whether documents are read", () => {
  const names = (allowClientMetadataDocuments: boolean) => all.filter((each) => mustRegister(each, { allowClientMetadataDocuments })).map((each) => each.name);
  expect(names(true)).toEqual(["cursor"]);
  expect(names(false)).toEqual(["claude-code", "claude", "cursor", "vscode", "codex"]);
});

test("addresses are read one a line, blanks aside", () => {
  expect(readLines(" https://a.example/cb \n\nhttp://127.0.0.1/cb\r\n")).toEqual(["https://a.example/cb", "http://127.0.0.1/cb"]);
});
