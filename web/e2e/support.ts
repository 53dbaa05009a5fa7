import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";

/** Address of a freshly started server without users, given by whoever starts it. */
export const baseUrl = (() => {
  const url = process.env.CHECKSTACK_E2E_URL;
  if (!url) throw new Error("CHECKSTACK_E2E_URL is not set: start a fresh server and give its address.");
  return url.replace(/\/$/, "");
})();

export const outputDir = fileURLToPath(new URL("./output/", import.meta.url));
mkdirSync(outputDir, { recursive: true });

export const admin = { name: "Ada Lovelace", email: "ada@example.com", password: "Correct-Horse-9" };

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHECKSTACK_E2E_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
}

/** Something to watch, which can be told to fail. */
export async function startTarget(): Promise<{ url: string; server: Server; setHealthy: (healthy: boolean) => void }> {
  let healthy = true;
  const server = createServer((_, response) => {
    response.writeHead(healthy ? 200 : 503, { "content-type": "application/json" });
    response.end(JSON.stringify({ status: healthy ? "ok" : "down" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/health`, server, setHealthy: (next) => (healthy = next) };
}

/** How somebody looks at a page: the size of their window and where their clocks are. */
export type Viewer = { width?: number; height?: number; timezoneId?: string };

/** Opens a page and collects everything the browser complains about. */
export async function openPage(browser: Browser, options: Viewer = {}): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: options.width ?? 1280, height: options.height ?? 860 }, reducedMotion: "reduce", timezoneId: options.timezoneId ?? "Europe/Berlin", locale: "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const text = message.text();
    // Refused requests are part of the story.
    if (text.startsWith("Failed to load resource")) return;
    complaints.push(text);
  });
  return { page, complaints };
}

/** Waits until nothing on the page is a placeholder any more. */
export async function loaded(page: Page) {
  await page.waitForFunction(() => document.querySelector('[role="status"][aria-label="Loading"], [aria-busy="true"]') === null);
}

/** Does something that starts a turn of the assistant and waits for the turn's end. */
export async function turn(page: Page, action: () => Promise<void>) {
  const answer = page.waitForResponse((response) => new URL(response.url()).pathname === "/api/ai/chat");
  await action();
  await answer;
  // Stop is there from before the request until the page has read the answer's
  // end. The response itself may never finish: after an error the page leaves it.
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
}

/** Types into the assistant and waits for the end of its turn. */
export async function say(page: Page, text: string) {
  await turn(page, async () => {
    const box = page.getByLabel("Message to the assistant");
    await box.fill(text);
    await box.press("Enter");
  });
}

/** Signs in as the administrator, by the form that the present page shows. */
export async function signIn(page: Page, person: { email: string; password: string } = admin) {
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Creates the administrator on a server that has nobody yet. */
export async function ensureAdmin() {
  const config = (await (await fetch(`${baseUrl}/api/config`)).json()) as { needsOnboarding: boolean };
  if (!config.needsOnboarding) return;
  const answer = await fetch(`${baseUrl}/api/auth/onboarding`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(admin) });
  if (!answer.ok) throw new Error(`onboarding: ${answer.status} ${await answer.text()}`);
}

/** Opens a page of someone who is signed in already. */
export async function openSignedIn(browser: Browser, options: Viewer = {}, person: { email: string; password: string } = admin) {
  const opened = await openPage(browser, options);
  const answer = await opened.page.request.post(`${baseUrl}/api/auth/login`, { data: { email: person.email, password: person.password } });
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`);
  return opened;
}

/** Calls an operation as the person of the page. */
export async function rest<T>(page: Page, method: "GET" | "POST" | "PATCH" | "DELETE", path: string, data?: unknown): Promise<T> {
  const answer = await page.request.fetch(`${baseUrl}/rest/${path}`, { method, ...(data === undefined ? {} : { data }) });
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  return (await answer.json()) as T;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type AxeResult = { violations: { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] }[] };

/** Runs axe on the page as it is and returns what it found, one line each. */
async function violations(page: Page, rules: "all" | "contrast"): Promise<string[]> {
  // Evaluated through the debugger, so that the page's policy stays as it is.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  const only = rules === "contrast" ? ", runOnly: ['color-contrast']" : "";
  const result = (await page.evaluate(`axe.run(document, { resultTypes: ['violations']${only} })`)) as AxeResult;
  return result.violations.map((violation) => `${violation.id}: ${violation.help}\n    ${violation.nodes.map((node) => `${node.target.join(" ")} ${node.failureSummary ?? ""}`).join("\n    ")}`);
}

export async function setTheme(page: Page, theme: "light" | "dark") {
  await page.evaluate((value) => {
    localStorage.setItem("checkstack.theme", value);
    document.documentElement.dataset.theme = value;
  }, theme);
}

/** Names the second run, on the other database, where the interface is the same and needs no second look. */
export const seenBefore = process.env.CHECKSTACK_E2E_NAME === "postgres";

/** Checks the page in both themes and takes a picture of each; returns what axe found. */
export async function inspect(page: Page, name: string): Promise<string[]> {
  if (seenBefore) return [];
  const found: string[] = [];
  // Themes differ in colours only, so the second look is at those.
  for (const [theme, rules] of [
    ["dark", "contrast"],
    ["light", "all"],
  ] as const) {
    await setTheme(page, theme);
    // Colours fade for a moment; neither the picture nor the contrast check should see that.
    await page.waitForFunction(() => document.getAnimations().every((animation) => animation.playState !== "running"));
    await page.screenshot({ path: `${outputDir}${name}-${theme}.png` });
    found.push(...(await violations(page, rules)).map((violation) => `${name}, ${theme}: ${violation}`));
  }
  return found;
}

/** Names elements that stick out to the right of the window. */
export function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= window.innerWidth) return [];
    return Array.from(document.querySelectorAll("main *"))
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
      .slice(0, 5)
      .map((element) => `${element.tagName.toLowerCase()}.${element.className.toString().slice(0, 60)}`);
  });
}
