// The official MCP client with its OAuth provider, as a program on a person's
// computer: it listens on a loopback address for the answer and opens the
// person's browser, a real one. A test reads one JSON line per step, and says
// when the permission has been taken back.
//
//   node mcp-client.mjs <generation, 1 or 2> <MCP address> <account, JSON> <answers, as Deny,Allow> [metadata document]
//
// There are two generations of the client. The second checks who issued the
// answer (RFC 9207) and speaks revision 2026-07-28.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import * as second from "@modelcontextprotocol/client";
import * as auth from "@modelcontextprotocol/sdk/client/auth.js";
import * as index from "@modelcontextprotocol/sdk/client/index.js";
import * as http from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openPerson } from "./mcp-person.mjs";

const [generation, url, account, answers, clientMetadataUrl] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = generation === "2" ? second : { ...auth, ...index, ...http };
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (step) => process.stdout.write(JSON.stringify(step) + "\n");

let landed;
const listener = createServer((request, response) => {
  const at = new URL(request.url, "http://127.0.0.1");
  response.writeHead(200, { "content-type": "text/html" });
  response.end("<!doctype html><link rel=icon href=data:,><title>Agent</title><p>You may close this page.");
  if (at.pathname === "/callback") landed = at.searchParams;
});
await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
const redirectUrl = `http://127.0.0.1:${listener.address().port}/callback`;

let begun;
/** Keeps everything in memory. */
const provider = {
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: { client_name: "Test client", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
  clientInformation: () => provider.client,
  saveClientInformation: (client) => void (provider.client = client),
  tokens: () => provider.kept,
  saveTokens: (tokens) => void (provider.kept = tokens),
  redirectToAuthorization: (to) => void (begun = String(to)),
  saveCodeVerifier: (verifier) => void (provider.verifier = verifier),
  codeVerifier: () => provider.verifier,
  saveDiscoveryState: (state) => void (provider.discovery = state),
  discoveryState: () => provider.discovery,
};

const person = await openPerson(JSON.parse(account));
const intentions = answers.split(",");

/** Connects, asking the person as often as the server asks for it. */
async function connect() {
  const client = new Client({ name: "test-client", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
    provider.version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || intentions.length === 0) throw error;
    const answer = intentions.shift();
    const seen = await person.decide(begun, answer);
    say({ step: "asked", answer, ...seen, error: landed.get("error") ?? "", iss: landed.get("iss"), hasCode: landed.has("code") });
    if (landed.has("code")) await transport.finishAuth(generation === "2" ? landed : landed.get("code"));
    return connect();
  }
}

try {
  let client = await connect();
  say({ step: "connected", client: provider.client?.client_id, scope: provider.kept.scope, version: provider.version });
  const { tools } = await client.listTools();
  say({ step: "listed", tools: tools.map((tool) => tool.name) });
  const issues = await client.callTool({ name: "system_issues", arguments: {} });
  say({ step: "called", isError: issues.isError ?? false, text: issues.content[0].text });

  // An access token that is no good any more: the client must refresh by itself.
  const before = provider.kept.refresh_token;
  provider.kept = { ...provider.kept, access_token: "cko_stale" };
  client = await connect();
  await client.callTool({ name: "system_issues", arguments: {} });
  say({ step: "refreshed", rotated: provider.kept.refresh_token !== before });

  await lines.next(); // meanwhile the person takes the permission back
  try {
    await client.callTool({ name: "system_issues", arguments: {} });
    say({ step: "revoked", served: true });
  } catch (error) {
    say({ step: "revoked", served: false, text: String(error) });
  }
  say({ step: "ended", complaints: person.complaints });
} catch (error) {
  say({ step: "failed", text: String(error?.stack ?? error) });
}
await person.close();
process.exit(0);
