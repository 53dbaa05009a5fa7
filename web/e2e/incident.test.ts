import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { baseUrl, ensureAdmin, inspect, launch, loaded, openSignedIn, outputDir, overflowing, rest } from "./support";

// One incident from its opening to its end, as the people around it see it.

type Incident = { id: string; title: string; status: string; severity: string; version: number };
type Detail = Incident & { updates: { message: string; audience: string; createdByName: string | null }[]; links: { label: string }[] };

let browser: Browser;
let page: Page;
let complaints: string[];
/** Somebody with an account who may read incidents and manage nothing. */
let reader: Page;
let payments = "";
let search = "";
let incidentPath = "";

const title = "Payments fail with 503";
const readerAccount = { name: "Edsger Dijkstra", email: "edsger@example.com", password: "Reads-Only-1" };

beforeAll(async () => {
  browser = await launch();
  await ensureAdmin();
  ({ page, complaints } = await openSignedIn(browser));
  payments = (await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Card processing" })).id;
  search = (await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Product search" })).id;
  await rest(page, "POST", "auth/createCredentialUser", { ...readerAccount, roleIds: ["users"] });
  ({ page: reader } = await openSignedIn(browser, {}, readerAccount));
});

afterAll(() => browser.close());

const heading = (name: string | RegExp, on = page) => on.getByRole("heading", { name }).first().waitFor();
const idOf = (path: string) => path.split("/")[2] ?? "";
const create = (data: object) => rest<Incident>(page, "POST", "incident/createIncident", { severity: "minor", systemIds: [search], ...data });
const focused = (on = page) => on.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");

/** Changes reach other browsers within a second. */
const second = { timeout: 1000 };

/** Looks at a page on a phone too: nothing may stick out. */
async function onPhone(name: string, on = page) {
  await on.setViewportSize({ width: 390, height: 844 });
  await on.screenshot({ path: `${outputDir}${name}-390.png`, fullPage: true });
  const wide = await overflowing(on);
  await on.setViewportSize({ width: 1280, height: 860 });
  return wide.map((element) => `${name}: ${element}`);
}

test("without incidents the list says so and what they are for", async () => {
  await page.goto(`${baseUrl}/incident/config`);
  await page.getByText("No open incidents").waitFor();
  await page.getByRole("tab", { name: "Resolved" }).click();
  await page.getByText("No resolved incidents yet").waitFor();
  expect(new URL(page.url()).searchParams.get("tab")).toBe("resolved");
  await page.getByRole("tab", { name: /^Active/ }).click();
  await page.getByText("No open incidents").waitFor();
  expect(await inspect(page, "incidents-empty")).toEqual([]);
});

test("an incident is opened with the keyboard alone", async () => {
  await reader.goto(`${baseUrl}/incident/config`);
  await reader.getByText("No open incidents").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /Search systems/ }).waitFor();
  await page.keyboard.type("open an inc");
  await page.keyboard.press("Enter");
  await heading("Open an incident");

  // Sent too early it names what is missing and leads there.
  await page.getByLabel("Title").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Title: is required").waitFor();
  await page.getByRole("link", { name: /Systems: At least one/ }).press("Enter");
  await page.keyboard.type("card proc");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Chosen systems" }).getByText("Card processing").waitFor();
  await page.keyboard.type("zzz");
  await page.getByText("No system fits.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("No system fits.").waitFor({ state: "hidden" });

  await page.getByLabel("Title").focus();
  await page.keyboard.type(title);
  await page.getByRole("radio", { name: /^Major/ }).focus();
  await page.keyboard.press("ArrowUp");
  await page.getByRole("radio", { name: /^Critical/, checked: true }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("Customers see an **error page** <checkout>.");
  await page.keyboard.press("Tab");
  await page.keyboard.type("We are looking at it.");
  await page.keyboard.press("Tab");
  await page.getByLabel("Health of the systems").selectOption({ label: "Unhealthy" });
  expect(await inspect(page, "incident-form")).toEqual([]);
  expect(await onPhone("incident-form")).toEqual([]);
  await page.getByRole("button", { name: "Open incident" }).focus();
  await page.keyboard.press("Enter");
  await heading(title);
  // The open page of somebody else shows it by itself.
  await reader.getByRole("link", { name: title }).waitFor(second);
  incidentPath = new URL(page.url()).pathname;
  expect(incidentPath).toMatch(/^\/incident\/[0-9a-f-]{36}$/);
  await page.getByText("error page", { exact: true }).waitFor();
  await page.getByText("<checkout>").waitFor();
  await page.getByRole("list", { name: "Updates, newest first" }).getByText("We are looking at it.").waitFor();
});

test("the health that it forces is shown and explained on the system's page", async () => {
  await page.goto(`${baseUrl}/catalog/system/${payments}`);
  await heading("Active incidents");
  await page.locator("main header").first().getByText("Unhealthy", { exact: true }).waitFor();
  await page.locator("main header").first().getByText("forced by incident:").waitFor();
  await page.locator("main header").first().getByRole("link", { name: title }).waitFor();
  expect(await inspect(page, "system-incident")).toEqual([]);
  expect(await onPhone("system-incident")).toEqual([]);
  await page.getByRole("link", { name: "All incidents" }).press("Enter");
  await heading("Incidents of Card processing");
  await page.getByRole("link", { name: title }).waitFor();
  expect(await inspect(page, "incidents-of-system")).toEqual([]);
  await page.goBack();
  await page.getByRole("region", { name: "Active incidents" }).getByRole("link", { name: title }).press("Enter");
  await heading(title);
});

test("an update changes the status, mentions another incident and reaches another browser within a second", async () => {
  const other = await create({ title: "Search is slow [again]" });
  await reader.goto(baseUrl + incidentPath);
  await heading(title, reader);
  await loaded(reader);
  await page.goto(baseUrl + incidentPath);
  const box = page.getByRole("textbox", { name: /^Update/ });
  await box.focus();
  await page.keyboard.type("Same cause as #sear");
  await page.getByRole("option", { name: /Search is slow/ }).waitFor();
  expect(await inspect(page, "incident-mention")).toEqual([]);
  await page.keyboard.press("Enter");
  expect(await box.inputValue()).toBe(`Same cause as [Search is slow \\[again\\]](checkstack:incident/${other.id}) `);
  await page.keyboard.type("perhaps. Issue #");
  const list = page.getByRole("listbox", { name: "Records to mention" });
  await list.waitFor();
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await page.keyboard.type("12");
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Identified" });
  await page.getByRole("button", { name: "Add update" }).press("Enter");
  await page.getByRole("list", { name: "Updates, newest first" }).getByText("perhaps. Issue #12").waitFor();
  await reader.getByRole("list", { name: "Updates, newest first" }).getByText("perhaps. Issue #12").waitFor(second);
  await reader.locator("main header").first().getByText("Identified").waitFor();
  expect(await box.inputValue()).toBe("");

  const link = page.getByRole("list", { name: "Updates, newest first" }).getByRole("link", { name: "Search is slow [again]" });
  expect(await link.getAttribute("href")).toBe(`/incident/${other.id}`);
  await page.getByRole("region", { name: "Referenced items" }).getByRole("link", { name: "Search is slow [again]" }).waitFor();
  // What was deleted is a plain label again, and nothing says that it was deleted.
  await rest(page, "DELETE", "incident/deleteIncident", { id: other.id });
  await page.getByRole("region", { name: "Referenced items" }).waitFor({ state: "detached" });
  await page.getByRole("list", { name: "Updates, newest first" }).getByText("Search is slow [again]").waitFor();
  expect(await link.count()).toBe(0);
});

test("each audience sees its updates, and only managers see who wrote them", async () => {
  for (const [message, audience] of [
    ["Only for us: the certificate ran out", "Internal"],
    ["For colleagues: use the other checkout", "Signed in"],
  ] as const) {
    await page.getByRole("textbox", { name: /^Update/ }).fill(message);
    await page.getByLabel("Who may read it").selectOption({ label: audience });
    await page.getByRole("button", { name: "Add update" }).click();
    await page.getByRole("list", { name: "Updates, newest first" }).getByText(message).waitFor();
  }
  expect(await inspect(page, "incident")).toEqual([]);
  expect(await onPhone("incident")).toEqual([]);

  await reader.getByText("For colleagues: use the other checkout").waitFor(second);
  expect(await reader.getByText("Only for us").count()).toBe(0);
  expect(await reader.getByText("Ada Lovelace").count()).toBe(0);
  expect(await reader.getByRole("form").count()).toBe(0);
  expect(await reader.getByRole("button", { name: "Resolve incident" }).count()).toBe(0);
  await reader.goto(`${baseUrl}${incidentPath}/edit`);
  await reader.getByText("You do not have access to this page").waitFor();

  const guest = await fetch(`${baseUrl}/rest/incident/getIncident?id=${idOf(incidentPath)}`);
  expect(guest.status).toBe(200);
  const seen = (await guest.json()) as Detail;
  expect(seen.updates.map((update) => update.audience)).not.toContain("internal");
  expect(seen.updates.map((update) => update.audience)).not.toContain("logged-in");
  expect(JSON.stringify(seen)).not.toContain("Ada Lovelace");
  expect(seen.updates).toHaveLength(2);
});

test("links are kept at once and lead to web pages only", async () => {
  await page.getByRole("button", { name: "Add link" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Add a link" });
  await dialog.getByLabel("Label").fill("Call <b>");
  await dialog.getByLabel("URL").fill("javascript:alert(1)");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("URL").fill("https://meet.example.com/x?a=1&b=2");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  const link = page.getByRole("region", { name: "Links" }).getByRole("link", { name: /Call <b>/ });
  expect(await link.getAttribute("href")).toBe("https://meet.example.com/x?a=1&b=2");
  await page.reload();
  await link.waitFor();
  await page.getByRole("button", { name: "Remove link Call <b>" }).click();
  await link.waitFor({ state: "detached" });
});

test("text that was not posted yet is not lost by leaving", async () => {
  await page.getByRole("textbox", { name: /^Update/ }).fill("half a thought");
  await page.getByRole("link", { name: "Dashboard" }).click();
  await heading("Leave without saving?");
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  expect(await page.getByRole("textbox", { name: /^Update/ }).inputValue()).toBe("half a thought");
  await page.getByRole("textbox", { name: /^Update/ }).fill("");
});

test("a form shows what somebody else saved meanwhile, and loses nothing that was typed", async () => {
  await page.getByRole("link", { name: "Edit", exact: true }).press("Enter");
  await heading("Edit incident");
  await page.getByLabel("Title").fill("Payments fail with 503 and 504");
  await page.getByRole("radio", { name: /^Minor/ }).check();
  await rest(page, "PATCH", "incident/updateIncident", { id: idOf(incidentPath), severity: "major", description: "The certificate ran out." });
  await page.getByRole("button", { name: "Save changes" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText(/Somebody changed this incident/).waitFor();
  await alert.getByText("The certificate ran out.").waitFor();
  expect(await page.getByLabel("Title").inputValue()).toBe("Payments fail with 503 and 504");
  expect(await inspect(page, "incident-conflict")).toEqual([]);
  expect(await onPhone("incident-conflict")).toEqual([]);
  await page.getByRole("button", { name: "Keep my version of what both changed" }).press("Enter");
  expect(await page.getByLabel("Description").inputValue()).toBe("The certificate ran out.");
  await page.getByRole("button", { name: "Save changes" }).click();
  await heading("Payments fail with 503 and 504");
  const stored = await rest<Detail & { description: string }>(page, "GET", `incident/getIncident?id=${idOf(incidentPath)}`);
  expect(stored).toMatchObject({ title: "Payments fail with 503 and 504", severity: "minor", description: "The certificate ran out." });
});

test("a change of status that was decided on an old state is refused, and the text stays", async () => {
  await page.getByRole("textbox", { name: /^Update/ }).fill("We watch it now.");
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Monitoring" });
  await rest(page, "POST", "incident/addUpdate", { incidentId: idOf(incidentPath), message: "A fix is on its way.", statusChange: "fixing" });
  await page.getByText("it is now “Fixing”").waitFor();
  await page.getByRole("button", { name: "Add update" }).click();
  await page.getByRole("form", { name: "Add an update" }).getByRole("alert").getByText(/your text is still here/).waitFor();
  expect(await page.getByRole("textbox", { name: /^Update/ }).inputValue()).toBe("We watch it now.");
  expect(await inspect(page, "incident-moved")).toEqual([]);
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Monitoring" });
  await page.getByRole("button", { name: "Add update" }).click();
  await page.getByRole("list", { name: "Updates, newest first" }).getByText("We watch it now.").waitFor();
  await page.locator("main header").first().getByText("Monitoring").waitFor();
});

test("resolving ends it everywhere, and an update opens it again", async () => {
  await page.getByRole("button", { name: "Resolve incident" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Resolve this incident" });
  await dialog.getByLabel("Message").fill("A new certificate is in place.");
  expect(await inspect(page, "incident-resolve")).toEqual([]);
  await dialog.getByRole("button", { name: "Resolve incident" }).press("Enter");
  await page.getByText(/^resolved/).waitFor();
  await page.getByRole("list", { name: "Updates, newest first" }).getByText("A new certificate is in place.").waitFor();
  expect(await page.getByRole("button", { name: "Resolve incident" }).count()).toBe(0);
  expect(await inspect(page, "incident-resolved")).toEqual([]);
  const health = await rest<{ status: string }>(page, "GET", `healthcheck/getSystemHealthStatus?systemId=${payments}`);
  expect(health.status).toBe("unknown");
  await page.getByRole("textbox", { name: /^Update/ }).fill("It is back.");
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Investigating" });
  await page.getByRole("button", { name: "Add update" }).click();
  await page.getByRole("button", { name: "Resolve incident" }).waitFor();
});

test("several are resolved at once, and what was left out is named with its reason", async () => {
  const ids: string[] = [];
  for (const name of ["Bulk one", "Bulk two", "Bulk three"]) ids.push((await create({ title: name, severity: "major" })).id);
  await reader.goto(`${baseUrl}/incident/config`);
  await reader.getByRole("link", { name: "Bulk three" }).waitFor();
  expect(await reader.getByRole("checkbox").count()).toBe(0);
  await page.goto(`${baseUrl}/incident/config?q=bulk`);
  await page.getByRole("checkbox", { name: "Choose Bulk one" }).waitFor();
  await page.getByRole("checkbox", { name: "Choose all of active incidents" }).press("Space");
  await page.getByText("3 chosen").waitFor();
  expect(await inspect(page, "incidents-bulk")).toEqual([]);
  expect(await onPhone("incidents-bulk")).toEqual([]);
  await page.getByRole("region", { name: "Actions for the chosen" }).getByRole("button", { name: "Resolve" }).press("Enter");
  await heading("Resolve 3 incidents?");
  // Somebody is faster with one of them.
  await page.route("**/rest/incident/bulkResolveIncidents", async (route: Route) => {
    await rest(page, "POST", "incident/resolveIncident", { id: ids[0] });
    await route.continue();
  });
  await page.getByRole("alertdialog").getByRole("button", { name: "Resolve 3 incidents" }).press("Enter");
  await page.getByText("2 resolved, 1 skipped").waitFor();
  expect(await page.getByText("2 resolved, 1 skipped").locator("xpath=../..").innerText()).toContain("Bulk one");
  await page.unroute("**/rest/incident/bulkResolveIncidents");
  expect(await inspect(page, "incidents-report")).toEqual([]);
  await page.getByRole("tab", { name: "Resolved" }).click();
  await page.getByRole("link", { name: "Bulk two" }).waitFor();
  expect(await inspect(page, "incidents-resolved")).toEqual([]);
  await page.getByRole("checkbox", { name: "Choose all of resolved incidents" }).check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await heading("Delete 3 incidents?");
  await page.getByRole("button", { name: "Delete 3 incidents" }).click();
  await page.getByText("3 deleted").waitFor();
  await page.getByText("Nothing matches").waitFor();
});

test("filters live in the address, and a long list comes in pages", async () => {
  await page.goto(`${baseUrl}/incident/config`);
  await page.getByLabel("Severity").selectOption({ label: "Minor" });
  await page.getByRole("combobox", { name: "System" }).selectOption({ label: "Card processing" });
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Investigating" });
  await page.getByRole("link", { name: "Payments fail with 503 and 504" }).waitFor();
  const address = page.url();
  await page.getByLabel("Severity").selectOption({ label: "Critical" });
  await page.getByText("Nothing matches").waitFor();
  await page.goto(address);
  await page.getByRole("link", { name: "Payments fail with 503 and 504" }).waitFor();
  expect(await page.getByLabel("Severity").inputValue()).toBe("minor");

  const one = (i: number) => ({ id: `01900000-0000-7000-8000-${String(i).padStart(12, "0")}`, title: `Incident ${i}`, description: null, status: "investigating", severity: "minor", suppressNotifications: false, override: null, systemIds: [search], systems: [{ id: search, name: "Product search" }], createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z", resolvedAt: null, version: 1 });
  await page.route("**/rest/incident/listIncidents*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    return route.fulfill({ json: { incidents: Array.from({ length: 50 }, (_, i) => one(from + i)), nextCursor: from < 100 ? String(from + 50) : null, activeCount: 50_000 } });
  });
  await page.goto(`${baseUrl}/incident/config`);
  await page.getByText("50,000").waitFor();
  const rows = page.getByRole("table").getByRole("link");
  await page.getByRole("button", { name: "Show older incidents" }).click();
  await expect.poll(() => rows.count()).toBe(100);
  await page.getByRole("button", { name: "Show older incidents" }).click();
  await expect.poll(() => rows.count()).toBe(150);
  expect(await page.getByRole("button", { name: "Show older incidents" }).count()).toBe(0);
  await page.unroute("**/rest/incident/listIncidents*");
});

test("of five hundred systems the form lays out a few and finds the rest", async () => {
  const systems = Array.from({ length: 500 }, (_, i) => ({ id: `01900000-0000-7000-8000-${String(i).padStart(12, "0")}`, name: `Service ${i}`, description: null, metadata: {}, links: [], groupIds: [], createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z", version: 1 }));
  await page.route("**/rest/catalog/getEntities", (route) => route.fulfill({ json: { systems, groups: [] } }));
  await page.goto(`${baseUrl}/incident/config`);
  await page.getByRole("link", { name: "Open an incident" }).press("Enter");
  const box = page.getByRole("combobox", { name: /^Systems/ });
  await box.focus();
  await page.keyboard.press("ArrowDown");
  const options = page.getByRole("listbox", { name: "Systems" }).getByRole("option");
  await options.first().waitFor();
  expect(await options.count()).toBe(50);
  await page.getByText("450 more. Type to find them.").waitFor();
  await page.keyboard.type("service 49");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("service 499");
  await page.keyboard.press("Enter");
  const chosen = page.getByRole("list", { name: "Chosen systems" });
  expect(await chosen.getByRole("listitem").allInnerTexts()).toEqual(["Service 490", "Service 499"]);
  await page.keyboard.type("serv");
  await options.first().waitFor();
  expect(await inspect(page, "incident-picker")).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await box.fill("");
  await page.keyboard.press("Backspace");
  expect(await chosen.getByRole("listitem").allInnerTexts()).toEqual(["Service 490"]);
  await page.unroute("**/rest/catalog/getEntities");
  await page.goto(`${baseUrl}/incident/config`);
});

test("a slow and a failing server are said, on the list and on the page of one", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/rest/incident/listIncidents*", async (route) => {
    await held;
    await route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "unavailable", message: "The database does not answer." }) });
  });
  await page.goto(`${baseUrl}/incident/config`);
  await page.getByRole("status", { name: "Loading" }).waitFor();
  release();
  await page.getByText("The incidents could not be loaded").waitFor();
  expect(await inspect(page, "incidents-error")).toEqual([]);
  await page.unroute("**/rest/incident/listIncidents*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "Payments fail with 503 and 504" }).waitFor();
  await page.goto(`${baseUrl}/incident/01900000-0000-7000-8000-000000000000`);
  await page.getByText("This incident does not exist").waitFor();
  await page.goto(`${baseUrl}/incident/nonsense`);
  await page.getByText("This incident does not exist").waitFor();
});

test("FC-037: hostile titles and texts run nothing and are shown as text", async () => {
  const hostile = [
    "<img src=x onerror=document.title='owned'>",
    "[a](javascript:document.title='owned')",
    "[a](data:text/html,<script>document.title='owned'</script>)",
    "<svg onload=document.title='owned'>",
    `https://example.com/"onmouseover="document.title='owned'`,
    "<!-- a comment -->",
  ];
  for (const text of ["abc\u202Egnp.exe", "\u2066isolated\u2069", "tab\u0007bell"]) {
    const answer = await page.request.post(`${baseUrl}/rest/incident/createIncident`, { data: { title: text, severity: "minor", systemIds: [search] } });
    expect(answer.status(), JSON.stringify(text)).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain("title");
  }
  const ids: string[] = [];
  for (const text of [...hostile, `${"W".repeat(199)}!`, "شكوى (Payments) 503"]) {
    const { id } = await create({ title: text, description: `${text}\n\n- ${text}\n\n${"x".repeat(400)}`, initialMessage: text });
    ids.push(id);
  }
  const wide: string[] = [];
  for (const [i, id] of ids.entries()) {
    await page.goto(`${baseUrl}/incident/${id}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await loaded(page);
    if (i < hostile.length) expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(hostile[i]);
    expect(await page.title()).not.toBe("owned");
    const main = page.getByRole("main");
    expect(await main.locator("img, script, iframe, [onerror], [onload], [onmouseover]").count()).toBe(0);
    expect(await main.locator('svg[onload], a[href^="javascript:"], a[href^="data:"]').count()).toBe(0);
    // Written HTML is shown, not swallowed.
    if (hostile[i]?.startsWith("<")) expect(await main.locator(".prose").first().innerText()).toContain(hostile[i]);
    wide.push(...(await onPhone(`incident-hostile-${i}`)));
    wide.push(...(await overflowing(page)));
  }
  await page.goto(`${baseUrl}/incident/config`);
  await page.getByRole("link", { name: hostile[0] ?? "", exact: true }).waitFor();
  wide.push(...(await onPhone("incidents-hostile")));
  wide.push(...(await overflowing(page)));
  expect(wide).toEqual([]);
  expect(await inspect(page, "incidents")).toEqual([]);
  for (const id of ids) await rest(page, "DELETE", "incident/deleteIncident", { id });
});

test("the dashboard shows what incidents do to systems, counted, filtered and kept up to date in another browser", async () => {
  await reader.goto(baseUrl);
  await reader.getByRole("heading", { level: 1 }).waitFor();
  await loaded(reader);
  const critical = await create({ title: "Search index is gone", severity: "critical" });
  await reader.getByRole("list", { name: "Needs attention" }).getByRole("link", { name: /Search index is gone/ }).waitFor(second);
  await heading(/systems? needs? attention/, reader);
  const maintenance = (days: number, title: string) => {
    const start = Date.now() + days * 86_400_000;
    return rest<{ id: string }>(page, "POST", "maintenance/createMaintenance", { title, startAt: new Date(start).toISOString(), endAt: new Date(start + 5_400_000).toISOString(), systemIds: [search, payments] });
  };
  await maintenance(9, "Later upgrade");
  await maintenance(2, "Database upgrade");
  const upcoming = reader.getByRole("region", { name: "Upcoming maintenances" });
  await upcoming.getByText("Database upgrade").waitFor({ timeout: 2000 });
  expect((await upcoming.getByRole("link").allInnerTexts()).slice(0, 2)).toEqual(["Database upgrade", "Later upgrade"]);
  expect(await upcoming.innerText()).toMatch(/Next: Database upgrade,[\s\S]* to [\s\S]*UTC\+0[12]:00 · 2 systems/);

  // One critical, one that is only to be watched.
  await rest(page, "PATCH", "incident/updateIncident", { id: idOf(incidentPath), override: null });
  const filters = reader.getByRole("group", { name: "Show only" });
  await filters.getByRole("button", { name: "1 to watch" }).press("Enter");
  await reader.getByRole("list", { name: "Needs attention" }).getByRole("link", { name: "Card processing", exact: true }).waitFor();
  await reader.getByRole("list", { name: "Needs attention" }).getByText("Search index is gone").waitFor({ state: "detached" });
  expect(new URL(reader.url()).searchParams.get("tone")).toBe("info");
  await filters.getByRole("button", { name: "Show all" }).click();
  expect(await inspect(reader, "dashboard-incidents")).toEqual([]);
  expect(await onPhone("dashboard-incidents", reader)).toEqual([]);
  await reader.getByRole("region", { name: "Recent activity" }).getByText("incident opened").first().waitFor();

  // A source that cannot be read is named, and nothing looks healthy because of it.
  await page.route("**/rest/system/getIssues*", async (route) => {
    const answer = await route.fetch();
    const json = (await answer.json()) as Record<string, unknown>;
    await route.fulfill({ response: answer, json: { ...json, systems: [], failedSources: ["incident"] } });
  });
  await page.goto(baseUrl);
  await page.getByText("Could not read incidents. There may be more trouble than shown here.").waitFor();
  await heading("Dashboard");
  expect(await inspect(page, "dashboard-failed-source")).toEqual([]);
  await page.unroute("**/rest/system/getIssues*");
  await rest(page, "DELETE", "incident/deleteIncident", { id: critical.id });
});

test("deleting names the incident, found by its title, and what goes with it", async () => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /Search systems/ }).waitFor();
  await page.keyboard.type("fail with 503");
  await page.getByRole("option", { name: /Payments fail with 503 and 504/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(baseUrl + incidentPath);
  await page.getByRole("button", { name: "More actions for this incident" }).press("Enter");
  await page.getByRole("menuitem", { name: "Delete incident" }).press("Enter");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(/Payments fail with 503 and 504/).waitFor();
  await dialog.getByText(/updates go with it/).waitFor();
  expect(await focused()).toBe("Cancel");
  expect(await inspect(page, "incident-delete")).toEqual([]);
  await reader.goto(baseUrl + incidentPath);
  await heading("Payments fail with 503 and 504", reader);
  await dialog.getByRole("button", { name: "Delete incident" }).press("Enter");
  await page.getByText("No open incidents").waitFor();
  await reader.getByText("This incident does not exist").waitFor({ timeout: 2000 });
  for (const id of [payments, search]) await rest(page, "DELETE", "catalog/deleteSystem", { id });
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
