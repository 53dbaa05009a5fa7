// The official MCP client with its OAuth provider, driven over standard input
// and output by a test that plays the person: it prints one JSON line per step,
// and gets the code, then the word to go on, as lines.
import { createInterface } from "node:readline";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, redirectUrl, clientMetadataUrl] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => (await lines.next()).value;
const say = (step) => process.stdout.write(JSON.stringify(step) + "\n");

/** Keeps everything in memory; the "browser" is whoever reads our output. */
const provider = {
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: { client_name: "Test client", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
  clientInformation: () => provider.client,
  saveClientInformation: (client) => void (provider.client = client),
  tokens: () => provider.kept,
  saveTokens: (tokens) => void (provider.kept = tokens),
  redirectToAuthorization: (to) => say({ step: "authorize", to: String(to) }),
  saveCodeVerifier: (verifier) => void (provider.verifier = verifier),
  codeVerifier: () => provider.verifier,
};

async function connect() {
  const client = new Client({ name: "test-client", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(await read());
    return connect();
  }
}

try {
  let client = await connect();
  say({ step: "connected", client: provider.client?.client_id, scope: provider.kept.scope });
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

  await read(); // meanwhile the person takes the permission back
  try {
    await client.callTool({ name: "system_issues", arguments: {} });
    say({ step: "revoked", served: true });
  } catch (error) {
    say({ step: "revoked", served: false, text: String(error) });
  }
} catch (error) {
  say({ step: "failed", text: String(error?.stack ?? error) });
}
process.exit(0);
