import type { Server } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admin, baseUrl, inspect, launch, loaded, openPage, outputDir, overflowing, say, seenBefore, signIn, startTarget, turn } from "./support";

// One story on one fresh server: every test goes on where the one before ended.

let browser: Browser;
let page: Page;
let complaints: string[];
let target: { url: string; server: Server; setHealthy: (healthy: boolean) => void };
let systemPath = "";
let checkPath = "";

const system = "Payments API";

beforeAll(async () => {
  browser = await launch();
  target = await startTarget();
  ({ page, complaints } = await openPage(browser));
});

afterAll(async () => {
  await browser.close();
  target.server.close();
});

const visible = (text: string | RegExp) => page.getByText(text).first().waitFor();
const heading = (name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();

/** Waits for the state in the header of the system page. */
const stateOfSystem = (word: string, timeout: number) => page.locator("main header").first().getByText(word, { exact: true }).waitFor({ timeout });

/** The interface does not depend on the database: what was seen once is skipped the second time. */
const lookOnce = test.skipIf(seenBefore);

test("the first visit shows the sign-up form, which names what a password needs", async () => {
  await page.goto(baseUrl);
  await heading("Create the first administrator");
  expect(page.url()).toBe(`${baseUrl}/auth/onboarding`);
  expect(await inspect(page, "onboarding")).toEqual([]);
  await page.getByLabel("Your name").fill(admin.name);
  await page.getByLabel("Email").fill(admin.email);
  await page.getByLabel("Password").fill("onlylowercase");
  await page.keyboard.press("Enter");
  await visible("Add an uppercase letter and a number.");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("password");
  await page.getByLabel("Password").fill(admin.password);
  await page.keyboard.press("Enter");
  await heading("Nothing is watched yet");
});

test("a second visit shows login, signing out and in works", async () => {
  await page.getByRole("button", { name: `Account of ${admin.name}` }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading("Sign in");
  await page.goto(`${baseUrl}/catalog`);
  await heading("Sign in");
  expect(await inspect(page, "login")).toEqual([]);
  await page.getByLabel("Email").fill(admin.email);
  await page.getByLabel("Password").fill("Wrong-Password-1");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await signIn(page);
  await heading("Catalog");
  expect(page.url()).toBe(`${baseUrl}/catalog`);
});

test("the empty dashboard offers the first steps and hands an address to the assistant", async () => {
  await page.goto(baseUrl);
  await heading("Nothing is watched yet");
  expect(await inspect(page, "dashboard-empty")).toEqual([]);
  await page.getByLabel("URL to watch").fill("not an address");
  await page.keyboard.press("Enter");
  await visible("Enter a full address, such as https://example.com/health.");
  await page.getByLabel("URL to watch").fill(target.url);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/ai\/chat/);
  expect(await page.getByLabel("Message to the assistant").inputValue()).toBe(`monitor ${target.url} every 60 seconds as "${new URL(target.url).host}"`);
  expect(await inspect(page, "assistant-empty")).toEqual([]);
});

test("declining a proposal leaves nothing behind", async () => {
  await say(page, `monitor ${target.url} every 1 second as "${system}"`);
  const card = page.getByRole("region", { name: /^Create/ }).first();
  await card.waitFor();
  await card.getByText("needs your approval").waitFor();
  expect(await inspect(page, "assistant-card")).toEqual([]);
  const declines = page.getByRole("button", { name: "Decline" });
  while ((await declines.count()) > 0) {
    await turn(page, () => declines.first().click());
  }
  await visible("You declined; nothing was changed.");
  expect(await card.getByRole("button", { name: "Apply change" }).count()).toBe(0);
  await page.goto(`${baseUrl}/catalog`);
  await visible("The catalog is empty");
});

test("applying creates the system and the check, and a reload shows the decided cards", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  await say(page, `monitor ${target.url} every 1 second as "${system}"`);
  await page.getByRole("button", { name: "Apply change" }).first().waitFor();
  for (let i = 0; i < 4 && (await page.getByRole("button", { name: "Apply change" }).count()) > 0; i++) {
    await turn(page, () => page.getByRole("button", { name: "Apply change" }).first().click());
    await page.getByText(/^You applied/).nth(i).waitFor();
  }
  await page.screenshot({ path: `${outputDir}assistant-applied.png` });
  // A long conversation scrolls in its own list; the page around it does not.
  expect(await page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight)).toBe(0);
  const applied = await page.getByText("Applied", { exact: true }).count();
  expect(applied).toBeGreaterThan(0);
  await page.reload();
  await page.getByText("Applied", { exact: true }).first().waitFor();
  expect(await page.getByText("Applied", { exact: true }).count()).toBe(applied);
  expect(await page.getByRole("button", { name: "Apply change" }).count()).toBe(0);
  expect(await inspect(page, "assistant-applied")).toEqual([]);
});

test("the system page shows state, chart and runs, and updates by itself", async () => {
  await page.goto(`${baseUrl}/catalog`);
  await page.getByRole("link", { name: new RegExp(system) }).click();
  await heading(system);
  systemPath = new URL(page.url()).pathname;
  await stateOfSystem("Healthy", 30_000);
  await page.getByRole("img", { name: /^Availability of/ }).waitFor();
  await page.getByRole("img", { name: /^Latency of/ }).waitFor({ timeout: 30_000 });
  const runs = page.getByRole("region", { name: "Recent runs" }).getByRole("listitem");
  await runs.nth(1).waitFor({ timeout: 30_000 });
  expect(await inspect(page, "system")).toEqual([]);
});

test("when the endpoint fails the system turns unhealthy without a reload", async () => {
  target.setHealthy(false);
  await stateOfSystem("Unhealthy", 60_000);
  await visible(/503/);
  await page.screenshot({ path: `${outputDir}system-unhealthy.png`, fullPage: true });
  await page.getByRole("link", { name: "Dashboard" }).click();
  await heading("1 system needs attention");
  await page.getByRole("list", { name: "Needs attention" }).getByText(system).first().waitFor();
  expect(await inspect(page, "dashboard-trouble")).toEqual([]);
});

test("a failed run tells which assertion or answer failed", async () => {
  await page.goto(baseUrl + systemPath);
  await page.getByRole("region", { name: "Recent runs" }).getByRole("link").first().click();
  await page.getByRole("region", { name: "Run", exact: true }).waitFor();
  await visible(/503/);
  expect(await inspect(page, "run-history")).toEqual([]);
});

test("the assistant answers what is down, with reason and since when", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  await say(page, "what is down?");
  const answer = page.getByRole("region", { name: "Conversation" }).locator(".prose").last();
  await answer.getByText(new RegExp(system)).first().waitFor();
  expect(await answer.innerText()).toMatch(/503[\s\S]*since|since[\s\S]*503/i);
  expect(await inspect(page, "assistant-down")).toEqual([]);
});

test("a destructive change is marked, and declining it changes nothing", async () => {
  await say(page, `delete system "${system}"`);
  const card = page.getByRole("region", { name: /^Delete/ }).last();
  await card.getByText("cannot be undone").waitFor();
  expect(await inspect(page, "assistant-destructive")).toEqual([]);
  await turn(page, () => card.getByRole("button", { name: "Decline" }).click());
  await page.goto(baseUrl + systemPath);
  await heading(system);
});

test("a form does not undo what was changed elsewhere while it was open", async () => {
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Description").fill("Typed before the change elsewhere was seen");
  const patch = (data: object) =>
    page.evaluate(
      async ([id, changes]) => {
        const answer = await fetch("/rest/catalog/updateSystem", { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify({ id, data: changes }) });
        return answer.status;
      },
      [systemPath.split("/").at(-1), data] as const,
    );
  expect(await patch({ name: "Renamed elsewhere" })).toBe(200);
  // The page behind the form has the new name and version by now.
  await page.locator("main").getByText("Renamed elsewhere").first().waitFor();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("dialog").getByText(/changed by someone else/).waitFor();
  expect(await page.getByLabel("Description").inputValue()).toBe("Typed before the change elsewhere was seen");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await heading("Renamed elsewhere");
  expect(await patch({ name: system })).toBe(200);
  await heading(system);
});

test("the check form is built from the schema, tests for real and reports every fault", async () => {
  await page.goto(`${baseUrl}/healthcheck/config/new`);
  await heading("New health check");
  await page.getByLabel("URL").first().waitFor();
  await page.getByRole("button", { name: "Create health check" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("name: is required").waitFor();
  await alert.getByText(/url: is required/).click();
  expect(await page.evaluate(() => document.activeElement?.id ?? "")).toMatch(/url/);
  await page.getByLabel("Name", { exact: false }).first().fill("Payments answers");
  await page.getByLabel("URL").first().fill(target.url);
  await page.getByRole("button", { name: "Add assertion" }).click();
  expect(await inspect(page, "check-form")).toEqual([]);
  await page.getByRole("button", { name: "Remove assertion 2" }).click();
  await page.getByRole("button", { name: "Test now" }).click();
  await heading("Test result");
  await visible(/503/);
  await page.getByText("Unhealthy", { exact: true }).first().waitFor();
  await page.screenshot({ path: `${outputDir}check-form-test.png`, fullPage: true });
  await page.getByLabel(system).check();
  await page.getByRole("button", { name: "Create health check" }).click();
  await heading(system);
  await page.getByRole("article", { name: "Payments answers" }).waitFor();
  await page.goto(`${baseUrl}/healthcheck/config`);
  const row = page.getByRole("row", { name: /Payments answers/ });
  await row.getByRole("link", { name: "Payments answers" }).waitFor();
  expect(await inspect(page, "checks")).toEqual([]);
  await row.getByRole("link", { name: "Payments answers" }).click();
  await heading("Payments answers");
  checkPath = new URL(page.url()).pathname;
});

test("leaving a changed form asks first", async () => {
  await page.getByLabel("Name", { exact: false }).first().fill("Changed");
  await page.getByRole("link", { name: "Dashboard" }).click();
  await heading("Leave without saving?");
  await page.getByRole("button", { name: "Cancel" }).last().click();
  expect(new URL(page.url()).pathname).toBe(checkPath);
  await page.getByRole("link", { name: "Dashboard" }).click();
  await page.getByRole("button", { name: "Discard changes" }).click();
  await heading(/needs? attention|healthy|Dashboard/i);
});

test("recovery shows on the dashboard by itself", async () => {
  target.setHealthy(true);
  await heading("All systems healthy");
  expect(await inspect(page, "dashboard-healthy")).toEqual([]);
}, 120_000);

test("an application's key is shown once and opens the REST API", async () => {
  await page.goto(`${baseUrl}/settings/applications`);
  await page.getByRole("button", { name: "Create an application" }).click();
  await page.getByLabel("Name", { exact: false }).fill("Deploy script");
  await page.getByLabel(/^Users/).check();
  await page.getByRole("button", { name: "Create application" }).click();
  await heading("Key of Deploy script");
  expect(await inspect(page, "application-key")).toEqual([]);
  const key = await page.getByRole("dialog").locator("code").innerText();
  expect(key).toMatch(/^ck_/);
  await page.getByRole("button", { name: "I have stored the key" }).click();
  const answer = await fetch(`${baseUrl}/rest/catalog/getSystems`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(await answer.json())).toContain(system);
  await page.reload();
  await page.getByText("Deploy script").first().waitFor();
  expect(await page.content()).not.toContain(key);
});

lookOnce("every other page is accessible in light and dark", async () => {
  const pages: [string, string, string | RegExp][] = [
    ["/catalog", "catalog", "Catalog"],
    ["/catalog?action=create", "system-form", "New system"],
    ["/settings/connections", "connections", "Connections"],
    ["/settings/users", "users", "Users"],
    ["/settings/roles", "roles", "Roles"],
    ["/settings/applications", "applications", "Applications"],
    ["/settings/registration", "registration", "Registration"],
    ["/settings/profile", "profile", "Your profile"],
    ["/nowhere", "not-found", "Page not found"],
    [checkPath, "check-edit", "Payments answers"],
  ];
  const found: string[] = [];
  for (const [path, name, title] of pages) {
    await page.goto(baseUrl + path);
    await heading(title);
    await loaded(page);
    found.push(...(await inspect(page, name)));
  }
  expect(found).toEqual([]);
});

lookOnce("everything can be reached with the keyboard alone", async () => {
  await page.goto(baseUrl);
  await heading(/./);
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");

  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await heading("Catalog");
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL(/\/ai\/chat/);
  // The assistant's field has the focus, so letters belong to it.
  await page.getByLabel("Message to the assistant").waitFor();
  await page.keyboard.type("g d");
  expect(await page.getByLabel("Message to the assistant").inputValue()).toBe("g d");

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  expect((await inspect(page, "palette")).filter((line) => !line.includes("aria-hidden-focus"))).toEqual([]);
  await page.keyboard.type("payments");
  await page.getByRole("option", { name: /Payments API/ }).waitFor();
  await page.keyboard.press("Enter");
  await heading(system);

  await page.keyboard.press("Shift+?");
  await heading("Keyboard shortcuts");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  const edit = page.getByRole("button", { name: "Edit", exact: true });
  await edit.focus();
  await page.keyboard.press("Enter");
  await heading(`Edit ${system}`);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Edit");

  const more = page.getByRole("button", { name: `More actions for ${system}` });
  await more.focus();
  await page.keyboard.press("Enter");
  // The focus moves into the menu, and in it, a moment after the key.
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "menuitem");
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.activeElement?.textContent === "Delete system");
  await page.keyboard.press("Enter");
  await heading(new RegExp(`Delete the system .${system}`));
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Cancel");
  await page.keyboard.press("Escape");
});

lookOnce("a phone shows every page without sideways scrolling", async () => {
  const storage = await page.context().storageState();
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, storageState: storage, hasTouch: true, reducedMotion: "reduce" });
  const phone = await context.newPage();
  const paths: [string, string][] = [
    ["/", "dashboard"],
    ["/catalog", "catalog"],
    [systemPath, "system"],
    ["/healthcheck/config", "checks"],
    [checkPath, "check-edit"],
    ["/ai/chat", "assistant"],
    ["/settings/users", "users"],
    ["/settings/roles", "roles"],
    ["/settings/applications", "applications"],
    ["/settings/profile", "profile"],
  ];
  const wide: string[] = [];
  for (const [path, name] of paths) {
    await phone.goto(baseUrl + path);
    await phone.getByRole("heading").first().waitFor();
    await loaded(phone);
    await phone.screenshot({ path: `${outputDir}phone-${name}.png`, fullPage: true });
    wide.push(...(await overflowing(phone)).map((element) => `${path}: ${element}`));
  }
  expect(wide).toEqual([]);
  await phone.goto(baseUrl);
  await phone.getByRole("button", { name: "Open navigation" }).click();
  await phone.getByRole("link", { name: "Catalog" }).click();
  await phone.getByRole("heading", { name: "Catalog" }).waitFor();
  await context.close();
});

lookOnce("what a person may not do is not shown", async () => {
  const created = await page.request.post(`${baseUrl}/rest/auth/createCredentialUser`, { data: { name: "Grace Hopper", email: "grace@example.com", password: "Correct-Horse-9" } });
  expect(created.ok()).toBe(true);
  const { page: other } = await openPage(browser);
  await other.goto(baseUrl);
  await other.getByLabel("Email").fill("grace@example.com");
  await other.getByLabel("Password").fill("Correct-Horse-9");
  await other.keyboard.press("Enter");
  await other.getByRole("navigation", { name: "Main" }).waitFor();
  expect(await other.getByRole("link", { name: "Users" }).count()).toBe(0);
  await other.goto(baseUrl + systemPath);
  await other.getByRole("heading", { name: system, level: 1 }).waitFor();
  expect(await other.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
  await other.keyboard.press("Control+k");
  await other.getByRole("option", { name: "Your profile" }).waitFor();
  for (const name of ["Users", "New system", "New health check"]) expect(await other.getByRole("option", { name }).count()).toBe(0);
  await other.goto(`${baseUrl}/settings/users`);
  await other.getByRole("heading", { name: "No access" }).waitFor();
  await other.context().close();
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
