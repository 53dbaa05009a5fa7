import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { admin, baseUrl, launch, openPage, outputDir, rest, say, setTheme, turn } from "./support";

// Pictures for the documentation: a real server with real checks, of which
// three find something. Only how long ago things changed is made up, so that
// nobody has to wait an hour for a picture.

type Service = { name: string; description: string; path: string; status: number };

const services: Service[] = [
  { name: "Payments API", description: "Takes card payments for shop and app", path: "/health", status: 503 },
  { name: "Product search", description: "Full-text search of the shop", path: "/ready", status: 500 },
  { name: "Invoice archive", description: "PDF invoices of the last ten years", path: "/status", status: 404 },
  { name: "Web shop", description: "What customers see", path: "/", status: 200 },
  { name: "Customer accounts", description: "Sign-in and addresses", path: "/healthz", status: 200 },
  { name: "Order queue", description: "Hands orders to the warehouse", path: "/health", status: 200 },
  { name: "Mail gateway", description: "Order confirmations and newsletters", path: "/ping", status: 200 },
  { name: "Image service", description: "Scales and caches product pictures", path: "/health", status: 200 },
];

/** How long ago each system in trouble turned, in minutes. */
const ago: Record<string, number> = { "Payments API": 11, "Product search": 34, "Invoice archive": 190 };

test("dashboard and assistant", async () => {
  const failing = new Set<string>();
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? "").split("/")[1] ?? "");
    const service = services.find((each) => each.name.toLowerCase().replaceAll(" ", "-") === name);
    // Answers take as long as their name says, so that latencies differ.
    setTimeout(() => response.writeHead(failing.has(name) ? (service?.status ?? 500) : 200).end(), 5 + name.length * 3);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await launch();
  const { page } = await openPage(browser, { width: 1280, height: 800 });
  const onboarding = await page.request.post(`${baseUrl}/api/auth/onboarding`, { data: admin });
  expect(onboarding.ok()).toBe(true);
  for (const { name, description, path } of services) {
    const { id } = await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name, description });
    await rest(page, "POST", "healthcheck/createAndAssign", {
      name: `${name} answers`,
      strategyId: "healthcheck-http.http",
      config: {},
      intervalSeconds: 1,
      collectors: [{ collectorId: "healthcheck-http.request", config: { url: `http://127.0.0.1:${port}/${name.toLowerCase().replaceAll(" ", "-")}${path}` }, assertions: [{ field: "statusCode", operator: "lessThan", value: 400 }] }],
      systemIds: [id],
    });
  }
  const state = async () => {
    const issues = await rest<{ systems: { systemName: string; signals: { tone: string }[] }[]; healthySystems: number }>(page, "GET", "system/getIssues");
    return [issues.healthySystems, ...issues.systems.filter((system) => system.signals[0]?.tone === "error").map((system) => system.systemName)].join(" ");
  };
  await expect.poll(state, { timeout: 60_000 }).toBe("8");
  failing.add("payments-api").add("invoice-archive");
  await expect.poll(state, { timeout: 60_000 }).toBe("6 Invoice archive Payments API");
  failing.add("product-search");
  // Two failures in a row make it degraded; the picture is taken before the fifth.
  await expect
    .poll(async () => (await rest<{ systems: { signals: { tone: string }[] }[] }>(page, "GET", "system/getIssues")).systems.filter((system) => system.signals[0]?.tone === "warn").length, { timeout: 60_000, interval: 100 })
    .toBe(1);
  const { configurations } = await rest<{ configurations: { id: string; name: string }[] }>(page, "GET", "healthcheck/getConfigurations");
  for (const each of configurations.filter((each) => each.name.startsWith("Product search"))) await rest(page, "POST", "healthcheck/pauseConfiguration", { id: each.id }).catch(() => undefined);

  const earlier = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 20_000).toISOString();
  await page.route("**/rest/system/getIssues", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { systems: { systemName: string; signals: { since?: string }[] }[] };
    for (const system of body.systems) for (const signal of system.signals) if (signal.since) signal.since = earlier(ago[system.systemName] ?? 5);
    await route.fulfill({ response, json: body });
  });
  await page.route("**/rest/system/getRecentActivity**", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { items: { at: string; systemName: string; to: string }[] };
    const items = body.items.filter((item) => item.systemName in ago).map((item) => ({ ...item, at: earlier((ago[item.systemName] ?? 5) + { unhealthy: 0, degraded: 1 }[item.to as "unhealthy" | "degraded"]!) }));
    items.sort((a, b) => b.at.localeCompare(a.at));
    await route.fulfill({ response, json: { items: items.filter((item) => !item.at.startsWith("I")) } });
  });
  await page.goto(baseUrl);
  await page.getByRole("heading", { name: "3 systems need attention" }).waitFor();
  await page.getByRole("region", { name: "Recent activity" }).waitFor();
  await setTheme(page, "light");
  await page.screenshot({ path: `${outputDir}picture-dashboard.png` });

  await page.goto(`${baseUrl}/ai/chat`);
  await say(page, "what is down?");
  await say(page, 'monitor https://shop.example.com/checkout every 30 seconds as "Checkout"');
  await page.getByRole("button", { name: "Apply change" }).first().waitFor();
  await turn(page, () => page.getByRole("button", { name: "Apply change" }).first().click());
  await page.screenshot({ path: `${outputDir}picture-assistant.png` });
  await browser.close();
  server.close();
});
