import { createHash, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admin, baseUrl, ensureAdmin, inspect, launch, loaded, openPage, openSignedIn, outputDir, overflowing, rest, signIn } from "./support";

// An outside agent is let in: the settings, the question to the person, the
// code at the agent's own listener, its calls, and the end of its access.

let browser: Browser;
let page: Page;
let complaints: string[];
let listener: Server;
let callback = "";
const answers: URL[] = [];

beforeAll(async () => {
  browser = await launch();
  await ensureAdmin();
  ({ page, complaints } = await openSignedIn(browser));
  listener = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname === "/callback") answers.push(url);
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Agent</title><p>You may close this page.");
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  callback = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
});

afterAll(async () => {
  await browser.close();
  listener.close();
});

async function onPhone(name: string, on = page) {
  await on.setViewportSize({ width: 390, height: 844 });
  await on.screenshot({ path: `${outputDir}${name}-390.png`, fullPage: true });
  const wide = await overflowing(on);
  await on.setViewportSize({ width: 1280, height: 860 });
  return wide.map((element) => `${name}: ${element}`);
}

type Client = { id: string; secret?: string };
type Begun = { url: string; verifier: string; state: string };

/** What an agent does before it opens the browser. */
function begin(client: Client, scope: string): Begun {
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(8).toString("hex");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: client.id,
    redirect_uri: callback,
    scope,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${baseUrl}/api/ai/mcp`,
  });
  return { url: `${baseUrl}/api/auth/oauth2/authorize?${query.toString()}`, verifier, state };
}

/** What it does with the code; gives the access token. */
async function redeem(client: Client, begun: Begun, answer: URL): Promise<string> {
  expect(answer.searchParams.get("state")).toBe(begun.state);
  expect(answer.searchParams.get("iss")).toBe(baseUrl);
  const body = new URLSearchParams({ grant_type: "authorization_code", code: answer.searchParams.get("code") ?? "", redirect_uri: callback, client_id: client.id, code_verifier: begun.verifier });
  const response = await fetch(`${baseUrl}/api/auth/oauth2/token`, { method: "POST", body });
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token;
}

function mcp(token: string, method: string, params: object = {}) {
  return fetch(`${baseUrl}/api/ai/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

const settingsUrl = `${baseUrl}/settings/outside-agents`;
let desk: Client;
let token = "";

test("access is off at first, and an administrator turns it on", async () => {
  await page.goto(settingsUrl);
  const on = page.getByRole("switch", { name: "Outside agents can connect" });
  await on.waitFor();
  expect(await on.getAttribute("aria-checked")).toBe("false");
  expect(await page.getByRole("switch", { name: "Clients may propose changes" }).isDisabled()).toBe(true);
  await page.getByText("nothing can connect while access is off", { exact: false }).waitFor();
  await on.focus();
  await page.keyboard.press("Space");
  await expect.poll(() => on.getAttribute("aria-checked")).toBe("true");
  await page.getByText("No clients yet").waitFor();
  const proposals = page.getByRole("switch", { name: "Clients may propose changes" });
  await expect.poll(() => proposals.isDisabled()).toBe(false);
  if ((await proposals.getAttribute("aria-checked")) === "false") await proposals.click();
  await expect.poll(() => proposals.getAttribute("aria-checked")).toBe("true");
  expect(await page.getByLabel("Address for MCP clients").textContent()).toBe(`${baseUrl}/api/ai/mcp`);
  await page.getByRole("tab", { name: "Codex" }).click();
  expect(new URL(page.url()).searchParams.get("client")).toBe("codex");
  expect(await page.getByRole("region", { name: "Text for Codex" }).textContent()).toContain(`url = "${baseUrl}/api/ai/mcp"`);
  // Codex shows a document; where those are off it has to register, which is off too.
  expect(await page.getByRole("note").count()).toBe(0);
  const documents = page.getByRole("switch", { name: "Clients may show a metadata document" });
  await documents.click();
  await page.getByRole("note").getByText("Codex registers itself before it asks you, and that is off", { exact: false }).waitFor();
  expect(await onPhone("agents-note")).toEqual([]);
  await documents.click();
  await expect.poll(() => page.getByRole("note").count()).toBe(0);
  await page.getByRole("tab", { name: "Cursor" }).click();
  await page.getByRole("note").getByText("Cursor registers itself", { exact: false }).waitFor();
  await page.getByRole("tab", { name: "Codex" }).click();
  await page.reload();
  await page.getByRole("region", { name: "Text for Codex" }).waitFor();
  await loaded(page);
  expect(await inspect(page, "agents-settings")).toEqual([]);
  expect(await onPhone("agents-settings")).toEqual([]);
});

test("a client is added by hand; faults are told at the field; its secret is shown once", async () => {
  await page.getByRole("button", { name: "Add a client" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Release desk");
  await dialog.getByLabel("Redirect addresses").fill("javascript:alert(1)");
  await dialog.getByRole("button", { name: "Add client" }).click();
  await dialog.getByRole("alert").getByText(/must begin with https|must be an absolute address/).waitFor();
  expect(await dialog.getByLabel("Redirect addresses").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("Redirect addresses").fill("https://desk.example.com/callback");
  await dialog.getByLabel("Secret").selectOption("client_secret_basic");
  await dialog.getByRole("button", { name: "Add client" }).click();
  const made = page.getByRole("dialog", { name: "Release desk added" });
  expect((await made.getByLabel("Client secret").textContent())?.length).toBeGreaterThan(20);
  expect(await inspect(page, "agents-secret")).toEqual([]);
  await made.getByRole("button", { name: "I have stored the secret" }).click();
  await page.getByRole("row").filter({ hasText: "Release desk" }).getByText("added here").waitFor();
  await page.getByRole("row").filter({ hasText: "Release desk" }).getByText("never").waitFor();
});

test("a signed-out person signs in first, then is asked, and allows", async () => {
  const { client } = await rest<{ client: Client }>(page, "POST", "auth/createOAuthClient", { name: "Desk agent", redirectUris: [callback] });
  desk = client;
  const begun = begin(desk, "checkstack:write");
  const { page: person, complaints: other } = await openPage(browser);
  await person.goto(begun.url);
  await person.waitForURL(/\/auth\/login\?next=/);
  await person.getByText("An outside agent asks for access. Sign in first", { exact: false }).waitFor();
  expect(await inspect(person, "consent-login")).toEqual([]);
  // Who has no account yet loses nothing by making one.
  await person.getByRole("link", { name: "Create one" }).click();
  await person.getByRole("heading", { name: "Create your account" }).waitFor();
  await person.getByRole("link", { name: "Sign in" }).click();
  await signIn(person);
  await person.getByRole("heading", { name: "Let Desk agent in?" }).waitFor();
  expect(await person.getByRole("navigation").count()).toBe(0);
  await person.getByText(`It wants to act for you, ${admin.name}`, { exact: false }).waitFor();
  await person.getByText("a program on this computer").waitFor();
  await person.getByText("a client that an administrator of this installation added").waitFor();
  await person.getByText("each change becomes a proposal", { exact: false }).waitFor();
  await person.getByText("Catalog", { exact: true }).click();
  await person.getByText("catalog.system.manage").waitFor();
  expect(await inspect(person, "consent")).toEqual([]);
  expect(await onPhone("consent", person)).toEqual([]);
  // By keyboard: the safe answer comes first.
  await person.getByRole("button", { name: "Deny" }).focus();
  await person.keyboard.press("Tab");
  expect(await person.evaluate(() => document.activeElement?.textContent)).toBe("Allow");
  await person.keyboard.press("Enter");
  await person.waitForURL(/127\.0\.0\.1:\d+\/callback/);
  await person.getByText("You may close this page.").waitFor();
  expect(answers).toHaveLength(1);
  token = await redeem(desk, begun, answers[0] as URL);
  const tools = await mcp(token, "tools/list");
  expect(tools.status).toBe(200);
  expect(await tools.text()).toContain("catalog_createSystem");
  expect(other).toEqual([]);
  await person.goto(new URL(begun.url).origin);
  await person.context().close();
});

test("what the agent proposes waits in the inbox, and its answer links there", async () => {
  const answer = await (await mcp(token, "tools/call", { name: "catalog_createSystem", arguments: { name: "Proposed from outside" } })).text();
  const link = /\/approvals\?call=[0-9a-f-]{36}/.exec(answer)?.[0];
  expect(link).toBeTruthy();
  await page.goto(`${baseUrl}${link ?? ""}`);
  const card = page.getByRole("article").filter({ hasText: "Proposed from outside" });
  await card.getByText("asked through an outside agent", { exact: false }).waitFor();
  await card.getByRole("button", { name: "Apply change" }).click();
  await card.getByText("You applied this change.").waitFor();
  const { systems } = await rest<{ systems: { name: string }[] }>(page, "GET", "catalog/getSystems");
  expect(systems.map((system) => system.name)).toContain("Proposed from outside");
});

test("deny takes no code to the agent, and a decided request has ended", async () => {
  const begun = begin(desk, "checkstack:read");
  await page.goto(begun.url);
  await page.getByRole("heading", { name: "Let Desk agent in?" }).waitFor();
  await page.getByText("You allowed as much before.", { exact: false }).waitFor();
  const asked = page.url();
  await page.getByRole("button", { name: "Deny" }).click();
  await page.waitForURL(/127\.0\.0\.1:\d+\/callback/);
  await expect.poll(() => answers.length).toBe(2);
  expect(answers[1]?.searchParams.get("error")).toBe("access_denied");
  expect(answers[1]?.searchParams.get("code")).toBe(null);
  await page.goto(asked);
  await page.getByRole("heading", { name: "This request has ended" }).waitFor();
  expect(await inspect(page, "consent-ended")).toEqual([]);
  await page.goto(`${baseUrl}/auth/oauth-consent`);
  await page.getByRole("heading", { name: "This request has ended" }).waitFor();
});

test("a client that registered itself is shown as not verified, and a person without rights sees what is missing", async () => {
  await rest(page, "POST", "auth/setMcpOAuthSettings", { allowDynamicClientRegistration: true });
  const registered = await fetch(`${baseUrl}/api/auth/oauth2/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Totally Official Client", redirect_uris: [callback], token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"] }),
  });
  expect(registered.status).toBe(201);
  const { client_id: id } = (await registered.json()) as { client_id: string };
  const account = { name: "Barbara Liskov", email: "agent-reader@example.com", password: "Reads-Only-2" };
  await rest(page, "POST", "auth/createCredentialUser", { ...account, roleIds: ["users"] });
  // A newcomer is asked right after signing up.
  const { page: newcomer } = await openPage(browser);
  await newcomer.goto(begin({ id }, "catalog.system.read").url);
  await newcomer.getByRole("link", { name: "Create one" }).click();
  await newcomer.getByLabel("Your name").fill("Grace Hopper");
  await newcomer.getByLabel("Email").fill("agent-newcomer@example.com");
  await newcomer.getByLabel("Password").fill("Comes-Later-3");
  await newcomer.getByRole("button", { name: "Create account" }).click();
  await newcomer.getByText("It wants to act for you, Grace Hopper", { exact: false }).waitFor();
  await newcomer.context().close();
  const { page: person } = await openSignedIn(browser, {}, account);
  await person.goto(begin({ id }, "auth.users.manage catalog.system.read").url);
  await person.getByText("Nobody has verified its name").waitFor();
  await person.getByText("It also asks for", { exact: false }).waitFor();
  expect(await person.getByText("auth.users.manage").count()).toBe(0);
  expect(await inspect(person, "consent-dynamic")).toEqual([]);
  // A failing server is told, and the question stays.
  await person.route("**/api/auth/oauth2/consent", (route) => (route.request().method() === "POST" ? route.fulfill({ status: 500, json: { code: "internal", message: "The database is away." } }) : route.continue()));
  await person.getByRole("button", { name: "Allow" }).click();
  await person.getByRole("alert").getByText("The database is away.").waitFor();
  // Somebody else at the same browser is asked the same.
  await person.getByRole("button", { name: "Use another account" }).click();
  await person.waitForURL(/\/auth\/login\?next=/);
  await signIn(person);
  await person.getByRole("heading", { name: "Let Totally Official Client in?" }).waitFor();
  await person.getByText(`It wants to act for you, ${admin.name}`, { exact: false }).waitFor();
  await person.context().close();
});

test("the profile lists who was let in, and disconnecting ends it at once", async () => {
  await page.goto(`${baseUrl}/settings/profile`);
  const list = page.getByRole("region", { name: "Connected agents" });
  await list.getByText("Desk agent").first().waitFor();
  await list.getByText(/everything you may read and change/).waitFor();
  expect(await inspect(page, "profile-connected")).toEqual([]);
  expect(await onPhone("profile-connected")).toEqual([]);
  expect((await mcp(token, "tools/list")).status).toBe(200);
  await list.getByRole("button", { name: "Disconnect Desk agent" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Disconnect" }).click();
  await list.getByText("You have let no outside agent in.").waitFor();
  expect((await mcp(token, "tools/list")).status).toBe(401);
});

test("a client is removed, and access is switched off only after a question", async () => {
  await page.goto(settingsUrl);
  await page.getByRole("row").filter({ hasText: "Totally Official Client" }).getByText("registered itself").waitFor();
  const row = page.getByRole("row").filter({ hasText: "Release desk" });
  await row.getByRole("button", { name: "Actions for Release desk" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove client" }).click();
  await row.waitFor({ state: "detached" });
  expect(await inspect(page, "agents-clients")).toEqual([]);
  expect(await onPhone("agents-clients")).toEqual([]);
  const on = page.getByRole("switch", { name: "Outside agents can connect" });
  await on.click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  expect(await on.getAttribute("aria-checked")).toBe("true");
  await on.click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Switch off access" }).click();
  await expect.poll(() => on.getAttribute("aria-checked")).toBe("false");
  expect((await fetch(begin(desk, "checkstack:read").url)).status).toBe(404);
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
