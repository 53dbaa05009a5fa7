import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { baseUrl, ensureAdmin, inspect, launch, loaded, openSignedIn, outputDir, overflowing, rest } from "./support";

// What programs propose, decided by people in the inbox, and found again in the
// audit log.

type Proposal = { toolCallId: string; summary: string };
type System = { id: string; name: string; description: string | null };

let browser: Browser;
let page: Page;
let complaints: string[];
/** Somebody who may change the catalog, but not look at the calls of others. */
let colleague: Page;
let key = "";
let ledger = "";

const colleagueAccount = { name: "Grace Hopper", email: "catalog-keeper@example.com", password: "Changes-Things-1" };

beforeAll(async () => {
  browser = await launch();
  await ensureAdmin();
  ({ page, complaints } = await openSignedIn(browser));
  // What earlier stories left undecided is not part of this one.
  const { approvals } = await rest<{ approvals: Proposal[] }>(page, "GET", "ai/listApprovals");
  for (const { toolCallId } of approvals) await rest(page, "POST", "ai/rejectCall", { toolCallId });
  ledger = (await rest<System>(page, "POST", "catalog/createSystem", { name: "General ledger", description: "Books" })).id;
  ({ key } = await rest<{ key: string }>(page, "POST", "auth/createApplication", { name: "Release pipeline", description: "Deploys", roleIds: ["admin"] }));
  const { id: role } = await rest<{ id: string }>(page, "POST", "auth/createRole", { name: "Catalog keepers", accessRules: ["catalog.system.manage"] });
  await rest(page, "POST", "auth/createCredentialUser", { ...colleagueAccount, roleIds: [role] });
  ({ page: colleague } = await openSignedIn(browser, {}, colleagueAccount));
});

afterAll(() => browser.close());

/** Asks for a change with the application's key, as a program would. */
async function propose(toolName: string, input: unknown): Promise<Proposal> {
  const answer = await fetch(`${baseUrl}/rest/ai/proposeTool`, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${key}` }, body: JSON.stringify({ toolName, input }) });
  if (!answer.ok) throw new Error(`proposing: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Proposal;
}

const cardOf = (text: string, on = page) => on.getByRole("article").filter({ hasText: text });
const navBadge = (on = page) => on.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /^Approvals/ });
const systems = async () => (await rest<{ systems: System[] }>(page, "GET", "catalog/getSystems")).systems;
const nameOfFocus = (on = page) => on.evaluate(() => document.activeElement?.textContent ?? "");
/** Changes reach open pages within a second, on an idle machine; this one may be busy. */
const soon = { timeout: 10_000 };

async function onPhone(name: string, on = page) {
  await on.setViewportSize({ width: 390, height: 844 });
  await on.screenshot({ path: `${outputDir}${name}-390.png`, fullPage: true });
  const wide = await overflowing(on);
  await on.setViewportSize({ width: 1280, height: 860 });
  return wide.map((element) => `${name}: ${element}`);
}

test("an empty inbox says so", async () => {
  await page.goto(`${baseUrl}/approvals`);
  await page.getByText("Nothing waits for you.").waitFor();
  await page.getByText("Nothing to decide").waitFor();
  expect(await navBadge().textContent()).toBe("Approvals");
  expect(await inspect(page, "approvals-empty")).toEqual([]);
});

test("what a program proposes arrives live, with a count in the navigation, and can be applied", async () => {
  await propose("catalog.updateSystem", { id: ledger, description: "Books of the whole company" });
  const card = cardOf("General ledger");
  await card.waitFor(soon);
  await page.getByText("One change waits for your decision.").waitFor();
  await expect.poll(() => navBadge().textContent(), soon).toBe("Approvals1 waiting");
  expect(await card.textContent()).toContain("Release pipeline (application) asked over the API");
  await card.getByText(/expires in/).waitFor();
  await card.getByText("Books of the whole company").waitFor();
  expect(await inspect(page, "approvals-one")).toEqual([]);
  expect(await onPhone("approvals-one")).toEqual([]);

  await card.getByRole("button", { name: "Apply change" }).click();
  await card.getByText("You applied this change.").waitFor();
  await card.getByText("Applied", { exact: true }).waitFor();
  expect(await card.getByRole("button", { name: "Apply change" }).count()).toBe(0);
  await expect.poll(() => navBadge().textContent(), soon).toBe("Approvals");
  expect((await systems()).find((system) => system.id === ledger)?.description).toBe("Books of the whole company");
});

test("a destructive change offers the safe answer first, and declining changes nothing", async () => {
  await propose("catalog.deleteSystem", { id: ledger });
  const card = cardOf("Delete system \"General ledger\"");
  await card.waitFor(soon);
  const buttons = await card.getByRole("button", { name: /Decline|Delete system/ }).allTextContents();
  expect(buttons).toEqual(["Decline", "Delete system"]);
  // By the keyboard alone: the link to the card, what it shows, then the safe answer.
  await card.getByRole("link", { name: /^Link to/ }).focus();
  for (let i = 0; i < 8 && (await nameOfFocus()) !== "Decline"; i++) await page.keyboard.press("Tab");
  expect(await nameOfFocus()).toBe("Decline");
  expect(await inspect(page, "approvals-destructive")).toEqual([]);
  await page.keyboard.press("Enter");
  await card.getByText("You declined; nothing was changed.").waitFor();
  expect((await systems()).map((system) => system.id)).toContain(ledger);
});

test("an apply that is refused says why, with the fields, and the card can be decided again", async () => {
  await propose("catalog.createSystem", { name: "Refused system" });
  const card = cardOf("Refused system");
  await card.waitFor(soon);
  const refusal = { code: "invalid", message: "Invalid input", issues: [{ path: "name", message: "is reserved" }, { path: "", message: "the catalog is full" }] };
  await page.route("**/rest/ai/approveCall", (route) => route.fulfill({ status: 400, json: refusal }), { times: 1 });
  await card.getByRole("button", { name: "Apply change" }).click();
  await card.getByRole("alert").getByText("Invalid input name: is reserved; the catalog is full").waitFor();
  await card.getByRole("button", { name: "Decline" }).click();
  await card.getByText("You declined; nothing was changed.").waitFor();
});

test("a decline in a chat holds at once; one that is refused puts the card back with the reason", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  const field = page.getByRole("textbox", { name: "Message to the assistant" });
  await field.fill("create a system called Half decided");
  await field.press("Enter");
  const card = page.getByRole("region", { name: "Create system" });
  const decline = card.getByRole("button", { name: "Decline" });
  await decline.waitFor();
  await page.route("**/rest/ai/declineTool", (route) => route.fulfill({ status: 503, json: { code: "unavailable", message: "The database cannot be reached" } }), { times: 1 });
  await decline.click();
  await card.getByRole("alert").getByText("The database cannot be reached").waitFor();
  expect(await card.getByText("You declined").count()).toBe(0);
  // The server hears of the decision even when the assistant never does.
  await page.route("**/api/ai/chat", (route) => route.fulfill({ status: 400, json: { code: "invalid", message: "names no connection", error: "names no connection" } }), { times: 1 });
  await decline.click();
  await card.getByText("You declined; nothing was changed.").waitFor();
  await page.getByText("names no connection").waitFor();
  await page.reload();
  await page.getByRole("region", { name: "Create system" }).getByText("Declined", { exact: true }).waitFor();

  // What waits in a chat that is put away waits no more.
  await page.goto(`${baseUrl}/ai/chat`);
  await field.fill("create a system called Put away");
  await field.press("Enter");
  await decline.waitFor();
  const { conversations } = await rest<{ conversations: { id: string }[] }>(page, "GET", "ai/listConversations");
  await rest(page, "POST", "ai/archiveConversation", { id: conversations[0]?.id });
  await card.getByText("Declined", { exact: true }).waitFor(soon);
  expect((await rest<{ approvals: Proposal[] }>(page, "GET", "ai/listApprovals")).approvals).toEqual([]);
});

test("the palette's question comes into a new chat that is open already, beside what is typed", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  const field = page.getByRole("textbox", { name: "Message to the assistant" });
  const ask = async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("ask what is down");
    await page.getByRole("option", { name: /Ask what is down/ }).waitFor();
    await page.keyboard.press("Enter");
  };
  await field.waitFor();
  await ask();
  await expect.poll(() => field.inputValue()).toBe("what is down?");
  await expect.poll(() => field.evaluate((element) => document.activeElement === element)).toBe(true);
  await field.fill("");
  await ask();
  await expect.poll(() => field.inputValue()).toBe("what is down?");
  await field.fill("Half a thought");
  await ask();
  await expect.poll(() => field.inputValue()).toBe("Half a thought\n\nwhat is down?");
  await page.goto(`${baseUrl}/approvals`);
});

test("a decision that came elsewhere is shown where the card is open, as far as the reader may know", async () => {
  await colleague.goto(`${baseUrl}/approvals`);
  await propose("catalog.createSystem", { name: "Shipping labels" });
  await cardOf("Shipping labels").waitFor(soon);
  await cardOf("Shipping labels", colleague).waitFor(soon);
  await cardOf("Shipping labels", colleague).getByRole("button", { name: "Apply change" }).click();
  await cardOf("Shipping labels", colleague).getByText("You applied this change.").waitFor();
  // The administrator may read the log, so the name of the other person is told.
  await cardOf("Shipping labels").getByText("Grace Hopper applied this change.").waitFor(soon);

  await propose("catalog.createSystem", { name: "Returns desk" });
  await cardOf("Returns desk", colleague).waitFor(soon);
  await cardOf("Returns desk").getByRole("button", { name: "Decline" }).click();
  await cardOf("Returns desk", colleague).getByText(/no longer waits for you/).waitFor(soon);
  expect((await systems()).map((system) => system.name)).toContain("Shipping labels");
  expect((await systems()).map((system) => system.name)).not.toContain("Returns desk");
});

test("FC-057: a change that the world has overtaken is out of date, and says how", async () => {
  const { id } = await rest<System>(page, "POST", "catalog/createSystem", { name: "Short lived" });
  await propose("catalog.updateSystem", { id, description: "Never to be seen" });
  const card = cardOf("Short lived");
  await card.waitFor(soon);
  await rest(page, "DELETE", "catalog/deleteSystem", { id });
  await card.getByRole("button", { name: "Apply change" }).click();
  await card.getByText("Out of date", { exact: true }).waitFor();
  expect(await card.getByRole("alert").textContent()).toMatch(/not found|does not exist|deleted/);
  for (const name of ["Apply change", "Decline"]) expect(await card.getByRole("button", { name }).count()).toBe(0);

  const { id: other } = await rest<System>(page, "POST", "catalog/createSystem", { name: "Time sheets" });
  await propose("catalog.updateSystem", { id: other, description: "Hours" });
  const sheets = cardOf("Time sheets");
  await sheets.waitFor(soon);
  await rest(page, "PATCH", "catalog/updateSystem", { id: other, data: { description: "Days" } });
  await sheets.getByRole("button", { name: "Apply change" }).click();
  await sheets.getByText('is now "Days"').waitFor();
  expect(await inspect(page, "approvals-outdated")).toEqual([]);
  expect(await navBadge().textContent()).toBe("Approvals");
  // Whoever comes later sees why it does not wait any more.
  await colleague.goto(`${baseUrl}/approvals`);
  await cardOf("Time sheets", colleague).getByText("Out of date", { exact: true }).waitFor();
  expect(await cardOf("Time sheets", colleague).getByRole("button", { name: "Apply change" }).count()).toBe(0);
  await page.getByRole("button", { name: "Hide what is decided" }).click();
  await page.getByText("Nothing to decide").waitFor();
});

test("a link leads to one proposal, and one that is too old says so", async () => {
  await propose("catalog.createSystem", { name: "First of two" });
  const second = await propose("catalog.createSystem", { name: "Second of two" });
  const { page: other } = await openSignedIn(browser);
  await other.clock.install();
  await other.goto(`${baseUrl}/approvals?call=${second.toolCallId}`);
  await cardOf("Second of two", other).waitFor();
  await expect.poll(() => other.evaluate(() => document.activeElement?.closest("article")?.textContent ?? ""), soon).toContain("Second of two");
  await other.clock.fastForward("00:11:00");
  await other.clock.fastForward("24:00:00");
  await cardOf("Second of two", other).getByText("Expired", { exact: true }).waitFor();
  expect(await cardOf("Second of two", other).getByRole("button", { name: "Apply change" }).count()).toBe(0);
  await other.context().close();

  await page.goto(`${baseUrl}/approvals?call=01900000-0000-7000-8000-000000000000`);
  await page.getByText("This proposal is not in your inbox").waitFor();
  await page.goto(`${baseUrl}/approvals?door=mcp`);
  await page.getByText("Nothing came that way").waitFor();
});

test("two hundred changes with foreign texts neither stick out nor hide the one in the address", async () => {
  const call = (n: number) => ({
    toolCallId: `01900000-0000-7000-8000-${String(n).padStart(12, "0")}`,
    toolName: n % 5 === 0 ? "catalog.deleteSystem" : "catalog.updateSystem",
    effect: n % 5 === 0 ? "destructive" : "mutate",
    status: "proposed",
    transport: n % 2 === 0 ? "mcp" : "automation",
    argsHash: "0",
    mine: false,
    requestedBy: { kind: "user", id: "u", name: n === 1 ? "W".repeat(90) : "\u202eelor nimda" },
    createdAt: new Date(Date.now() - n * 60_000).toISOString(),
    expiresAt: new Date(Date.now() + (n + 1) * 600_000).toISOString(),
    summary: n === 1 ? "x".repeat(300) : `Change number ${n} \u05e9\u05dc\u05d5\u05dd`,
    diff: [{ path: "description", before: "<b>old</b>", after: n === 1 ? "y".repeat(2000) : "new" }],
    blocked: n === 2 ? "z".repeat(200) : undefined,
  });
  await page.route("**/rest/ai/listApprovals", (route) => route.fulfill({ json: { approvals: Array.from({ length: 200 }, (_, i) => call(i + 1)) } }));
  await page.goto(`${baseUrl}/approvals?call=${call(120).toolCallId}`);
  await page.getByText("The 200 most urgent changes wait for your decision.").waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("article")?.textContent ?? ""), soon).toContain("Change number 120");
  expect(await navBadge().textContent()).toBe("Approvals99+ waiting");
  await page.goto(`${baseUrl}/approvals`);
  await page.getByRole("article").first().waitFor();
  expect(await inspect(page, "approvals-many")).toEqual([]);
  expect(await onPhone("approvals-many")).toEqual([]);
  await page.getByRole("button", { name: "Show 20 more of 180 changes" }).click();
  await expect.poll(() => page.getByRole("article").count()).toBe(40);
  await page.unroute("**/rest/ai/listApprovals");
});

test("when the server fails, the inbox says so and can be asked again", async () => {
  await page.route("**/rest/ai/listApprovals", (route) => route.fulfill({ status: 500, json: { code: "internal", message: "The database is away." } }));
  await page.goto(`${baseUrl}/approvals`);
  await page.getByText("The approvals could not be loaded").waitFor();
  await page.unroute("**/rest/ai/listApprovals");
  await page.getByRole("button", { name: "Try again" }).click();
  await cardOf("First of two").waitFor();
  await cardOf("First of two").getByRole("button", { name: "Decline" }).click();
  await cardOf("Second of two").getByRole("button", { name: "Decline" }).click();
  await page.getByText("Nothing waits for you.").waitFor();
});

test("the audit log tells every call, filters by address, and opens one with its change", async () => {
  await page.goto(`${baseUrl}/audit`);
  await page.getByRole("row").filter({ hasText: "Returns desk" }).waitFor();
  await loaded(page);
  expect(await inspect(page, "audit")).toEqual([]);
  expect(await onPhone("audit")).toEqual([]);
  await page.getByLabel("Outcome").selectOption({ label: "Applied" });
  await expect.poll(() => page.getByRole("row").filter({ hasText: "Returns desk" }).count()).toBe(0);
  expect(new URL(page.url()).searchParams.get("status")).toBe("applied");
  await page.getByLabel("Tool", { exact: true }).selectOption("catalog.updateSystem");
  const row = page.getByRole("row").filter({ hasText: "General ledger" });
  await row.getByRole("button").first().focus();
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog");
  await panel.getByRole("cell", { name: /Books of the whole company/ }).waitFor();
  await panel.getByText("Release pipeline").waitFor();
  await panel.getByText("Ada Lovelace").waitFor();
  expect(new URL(page.url()).searchParams.get("call")).toBeTruthy();
  expect(await inspect(page, "audit-call")).toEqual([]);
  await page.reload();
  await page.getByRole("dialog").getByRole("cell", { name: /Books of the whole company/ }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => new URL(page.url()).searchParams.get("call")).toBe(null);

  // Without the audit rule there are one's own calls only, and the page says so.
  await colleague.goto(`${baseUrl}/audit`);
  await colleague.getByText(/You see your own calls/).waitFor();
  await colleague.getByText("No calls yet").waitFor();
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
