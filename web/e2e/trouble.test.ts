import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admin, baseUrl, inspect, launch, loaded, openSignedIn, outputDir, overflowing, rest, signIn } from "./support";

// A slow or failing server, a lost line, a lot of data and hostile names.

let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
  ({ page, complaints } = await openSignedIn(browser));
});

afterAll(() => browser.close());

const heading = (name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();
const failure = (route: Route) =>
  route.fulfill({ status: 503, headers: { "x-correlation-id": "c0ffee-42" }, contentType: "application/json", body: JSON.stringify({ code: "unavailable", message: "The database does not answer." }) });

test("a slow server shows the shape of what comes, then the data", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/rest/catalog/getEntities", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${baseUrl}/catalog`);
  await heading("Catalog");
  await page.getByRole("status", { name: "Loading" }).waitFor();
  expect(await inspect(page, "catalog-loading")).toEqual([]);
  release();
  await page.getByRole("searchbox").waitFor();
  await page.unroute("**/rest/catalog/getEntities");
});

test("a failing server is told with its words and correlation id, and trying again works", async () => {
  // Without live updates: one would refresh the view before the button can.
  await page.route("**/api/events", (route) => route.abort());
  await page.route("**/rest/system/getIssues", failure);
  await page.goto(baseUrl);
  const alert = page.getByRole("alert");
  await alert.getByText("The database does not answer.").waitFor();
  await alert.getByText("c0ffee-42").waitFor();
  await alert.getByRole("button", { name: "Copy correlation id" }).waitFor();
  expect(await inspect(page, "dashboard-error")).toEqual([]);
  await page.unroute("**/rest/system/getIssues");
  await alert.getByRole("button", { name: "Try again" }).click();
  await alert.waitFor({ state: "detached" });
  await heading(/needs? attention|healthy/);
  await page.unroute("**/api/events");
});

test("every list has an error state, and one failing block leaves the others standing", async () => {
  const found: string[] = [];
  for (const [path, pattern, title] of [
    ["/catalog", "**/rest/catalog/getEntities", "The catalog could not be loaded"],
    ["/healthcheck/config", "**/rest/healthcheck/getConfigurations", "The health checks could not be loaded"],
    ["/settings/users", "**/rest/auth/getUsers", "The users could not be loaded"],
    ["/settings/roles", "**/rest/auth/getRoles", "The roles could not be loaded"],
    ["/settings/applications", "**/rest/auth/getApplications", "The applications could not be loaded"],
    ["/settings/connections", "**/rest/ai/listConnections", "The connections could not be loaded"],
    ["/ai/chat", "**/rest/ai/listConversations", "The conversations could not be loaded"],
  ] as const) {
    // Refused, not failed: that is shown at once instead of being tried again.
    await page.route(pattern, (route) => route.fulfill({ status: 403, contentType: "application/json", body: JSON.stringify({ code: "forbidden", message: "Not now." }) }));
    await page.goto(baseUrl + path);
    await page.getByRole("alert").getByText(title).waitFor();
    if (path === "/ai/chat") await page.getByLabel("Message to the assistant").waitFor();
    found.push(...(await overflowing(page)));
    await page.unroute(pattern);
  }
  expect(found).toEqual([]);
});

test("live updates come back by themselves, asking less and less often", async () => {
  const tries: number[] = [];
  await page.route("**/api/events", (route) => {
    tries.push(Date.now());
    return route.abort();
  });
  await page.goto(baseUrl);
  await page.getByText("Live updates paused").waitFor();
  expect(await inspect(page, "dashboard-paused")).toEqual([]);
  await expect.poll(() => tries.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
  const [first = 0, second = 0, third = 0] = tries;
  expect(third - second).toBeGreaterThan(second - first);
  await page.unroute("**/api/events");
  // What was missed meanwhile is asked for again.
  const asked = page.waitForRequest((request) => request.url().includes("/rest/system/getIssues"));
  await page.getByText("Live updates paused").waitFor({ state: "detached" });
  await asked;
});

test("a lost network is said, and so is its return", async () => {
  await page.context().setOffline(true);
  await page.getByText("You are offline").waitFor();
  await page.context().setOffline(false);
  await page.getByText("You are offline").waitFor({ state: "detached" });
});

test("a session that ends meanwhile leads to sign-in and back to the same place", async () => {
  await page.goto(`${baseUrl}/healthcheck/config?q=pay`);
  await heading("Health checks");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "Users" }).click();
  await heading("Sign in");
  await page.getByText("Your session ended. Sign in to go on where you were.").waitFor();
  expect(await inspect(page, "login-ended")).toEqual([]);
  await signIn(page);
  await heading("Users");
  expect(new URL(page.url()).pathname).toBe("/settings/users");
});

test("signing out on purpose is not a session that ended", async () => {
  await page.getByRole("button", { name: `Account of ${admin.name}` }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading("Sign in");
  expect(await page.getByText("Your session ended").count()).toBe(0);
});

test("too many attempts name the wait, and another account is not held up", async () => {
  await page.route("**/api/auth/login", (route) =>
    route.fulfill({ status: 429, headers: { "retry-after": "125" }, contentType: "application/json", body: JSON.stringify({ code: "too_many_requests", message: "Too many attempts. Try again in 3 minutes." }) }),
  );
  await signIn(page);
  await page.getByRole("alert").getByText("Too many attempts. Try again in 3 minutes.").waitFor();
  const wait = page.getByRole("button", { name: /^Wait 2:0/ });
  await wait.waitFor();
  expect(await wait.isDisabled()).toBe(true);
  expect(await inspect(page, "login-throttled")).toEqual([]);
  await page.unroute("**/api/auth/login");
  await page.getByLabel("Email").fill("");
  await signIn(page);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
});

test("a thousand systems stay readable: what is laid out is bounded, search finds the rest", async () => {
  const groups = Array.from({ length: 20 }, (_, i) => ({ id: `g${i}`, name: `Group ${i}`, description: null, metadata: {}, systemIds: [], createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z", version: 1 }));
  const systems = Array.from({ length: 1000 }, (_, i) => ({ id: `s${i}`, name: `Service ${i}`, description: `Number ${i}`, metadata: {}, links: [], groupIds: i % 2 ? [`g${i % 20}`] : [], createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z", version: 1 }));
  const statuses = Object.fromEntries(systems.map(({ id }, i) => [id, { status: i % 97 === 0 ? "unhealthy" : "healthy", since: null, evaluatedAt: "2026-01-01T00:00:00Z", checkStatuses: [] }]));
  const asks: number[] = [];
  await page.route("**/rest/catalog/getEntities", (route) => route.fulfill({ json: { systems, groups } }));
  await page.route("**/rest/healthcheck/getBulkSystemHealthStatus", (route) => {
    asks.push(((route.request().postDataJSON() as { systemIds: string[] }).systemIds).length);
    return route.fulfill({ json: { statuses } });
  });
  await page.goto(`${baseUrl}/catalog`);
  await page.getByText("1000 systems in 20 groups").waitFor();
  const rows = page.getByRole("main").getByRole("listitem");
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThanOrEqual(150);
  expect(asks[0]).toBeLessThanOrEqual(500);
  await page.getByRole("searchbox").pressSequentially("service 99");
  await page.getByRole("link", { name: "Service 999" }).waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("service 99");
  expect(new URL(page.url()).searchParams.get("q")).toBe("service 99");
  await page.screenshot({ path: `${outputDir}catalog-many.png` });
  await page.unroute("**/rest/catalog/getEntities");
  await page.unroute("**/rest/healthcheck/getBulkSystemHealthStatus");
});

test("five hundred systems in trouble, and long lists come in pages", async () => {
  const trouble = Array.from({ length: 500 }, (_, i) => ({ systemId: `s${i}`, systemName: `Service ${i}`, signals: [{ source: "healthcheck", tone: "error", label: "Check failing", detail: "503 from /health", since: "2026-01-01T00:00:00Z" }] }));
  await page.route("**/rest/system/getIssues", (route) => route.fulfill({ json: { systems: trouble, totalSystems: 500, watchedSystems: 500, healthySystems: 0, pendingSystems: 0, totalSignals: 500, checkedSources: ["healthcheck"], inaccessibleSources: [], failedSources: [], lastRunAt: "2026-01-01T00:00:00Z" } }));
  await page.goto(baseUrl);
  await heading("500 systems need attention");
  const list = page.getByRole("list", { name: "Needs attention" });
  expect(await list.locator("> li").count()).toBe(50);
  await page.getByRole("button", { name: "Show 50 more of 450 systems" }).click();
  await expect.poll(() => list.locator("> li").count()).toBe(100);
  await page.unroute("**/rest/system/getIssues");

  const users = Array.from({ length: 120 }, (_, i) => ({ id: `u${i}`, name: `Person ${String(i).padStart(3, "0")}`, email: `p${i}@example.com`, roles: ["users"], createdAt: "2026-01-01T00:00:00Z" }));
  await page.route("**/rest/auth/getUsers", (route) => route.fulfill({ json: { users } }));
  await page.goto(`${baseUrl}/settings/users`);
  await page.getByText("1 to 50 of 120").waitFor();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByText("Person 050").waitFor();
  await page.getByRole("searchbox").fill("person 11");
  await page.getByText("Person 119").waitFor();
  await page.unroute("**/rest/auth/getUsers");
});

test("hostile names and endless texts neither break out nor break the layout", async () => {
  const names = [
    `${"W".repeat(199)}!`,
    `"Quoted" <b>bold</b> **stars** \`code\` & [link](https://evil.example)`,
    "فواتير (Invoices) 2026",
    "支払いシステム 🔥 العربية",
  ];
  const ids: string[] = [];
  for (const name of names) {
    ids.push((await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name, description: `${"All work and no play. ".repeat(440)}${"x".repeat(300)}`, metadata: { [`key-${"k".repeat(60)}`]: "v".repeat(400) } })).id);
  }
  const wide: string[] = [];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 860 });
    for (const path of ["/catalog", ...ids.map((id) => `/catalog/system/${id}`)]) {
      await page.goto(baseUrl + path);
      await page.getByRole("main").getByRole("heading").first().waitFor();
      await loaded(page);
      wide.push(...(await overflowing(page)).map((element) => `${width} ${path}: ${element}`));
      await page.screenshot({ path: `${outputDir}hostile-${width}-${ids.indexOf(path.slice("/catalog/system/".length))}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  expect(wide).toEqual([]);
  await page.goto(`${baseUrl}/catalog/system/${ids[1]}`);
  await page.getByRole("heading", { level: 1, name: names[1] ?? "", exact: true }).waitFor();
  expect(await page.getByRole("main").locator("b").count()).toBe(0);
  for (const id of ids) await rest(page, "DELETE", "catalog/deleteSystem", { id });
});

test("runs are walked with the arrow keys, and a run that is gone is said to be", async () => {
  const { configurations } = await rest<{ configurations: { id: string; intervalSeconds: number; systemIds: string[] }[] }>(page, "GET", "healthcheck/getConfigurations");
  const [check] = configurations.filter((each) => each.systemIds.length > 0).sort((a, b) => a.intervalSeconds - b.intervalSeconds);
  if (!check) throw new Error("no assigned check");
  const base = `${baseUrl}/healthcheck/history/${check.systemIds[0]}/${check.id}`;
  await page.goto(base);
  const list = page.getByRole("list", { name: "Runs" });
  await list.getByRole("link").nth(2).waitFor();
  // New runs would move the rows under the keys.
  await rest(page, "POST", "healthcheck/pauseConfiguration", { id: check.id });
  await page.reload();
  await list.getByRole("link").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  expect(await list.getByRole("link").nth(1).evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`${check.id}/[0-9a-f-]{36}`));
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByRole("tab", { name: /Assertions/ }).click();
  await page.waitForURL(/tab=assertions/);
  await page.reload();
  await run.getByRole("tab", { name: /Assertions/, selected: true }).waitFor();
  expect(await inspect(page, "run-assertions")).toEqual([]);
  await run.getByRole("tab", { name: "Raw" }).click();
  await run.getByRole("region", { name: "Raw data" }).waitFor();
  await page.goto(`${base}/01900000-0000-7000-8000-000000000000`);
  await page.getByText("This run is gone").waitFor();
  await page.getByText("Runs are kept for 7 days, or until").waitFor();
  expect(await inspect(page, "run-gone")).toEqual([]);
  await page.getByRole("link", { name: "Show the runs that are kept" }).click();
  await page.getByText("Choose a run to see what it found.").waitFor();
  await rest(page, "POST", "healthcheck/resumeConfiguration", { id: check.id });
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
