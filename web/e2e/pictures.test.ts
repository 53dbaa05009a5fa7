import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { admin, baseUrl, launch, openPage, outputDir, rest, say, setTheme } from "./support";

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
    const check = await rest<{ id: string }>(page, "POST", "healthcheck/createAndAssign", {
      name: `${name} answers`,
      strategyId: "healthcheck-http.http",
      config: {},
      intervalSeconds: 1,
      collectors: [{ collectorId: "healthcheck-http.request", config: { url: `http://127.0.0.1:${port}/${name.toLowerCase().replaceAll(" ", "-")}${path}` }, assertions: [{ field: "statusCode", operator: "lessThan", value: 400 }] }],
      systemIds: [id],
    });
    // This one shall stay degraded while the others become unhealthy.
    if (name === "Product search") {
      const stateThresholds = { mode: "consecutive", healthy: { minSuccessCount: 1 }, degraded: { minFailureCount: 2 }, unhealthy: { minFailureCount: 100 } };
      await rest(page, "POST", "healthcheck/associateSystem", { systemId: id, body: { configurationId: check.id, stateThresholds } });
    }
  }
  type Issues = { systems: { systemName: string; signals: { tone: string; since?: string }[] }[]; healthySystems: number };
  const state = async () => {
    const issues = await rest<Issues>(page, "GET", "system/getIssues");
    return [`${issues.healthySystems} healthy`, ...issues.systems.map((system) => `${system.systemName} ${system.signals[0]?.tone ?? ""}`).sort()].join(", ");
  };
  await expect.poll(state, { timeout: 60_000 }).toBe("8 healthy");
  for (const { name } of services.filter((each) => each.status !== 200)) failing.add(name.toLowerCase().replaceAll(" ", "-"));
  await expect.poll(state, { timeout: 60_000 }).toBe("5 healthy, Invoice archive error, Payments API error, Product search warn");

  const earlier = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 20_000).toISOString();
  await page.route("**/rest/system/getIssues", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as Issues;
    for (const system of body.systems) for (const signal of system.signals) if (signal.since) signal.since = earlier(ago[system.systemName] ?? 5);
    await route.fulfill({ response, json: body });
  });
  await page.route("**/rest/system/getRecentActivity**", async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { items: { at: string; title: string; to?: string }[] };
    const items = body.items
      .filter((item) => item.title in ago)
      .map((item) => ({ ...item, at: earlier((ago[item.title] ?? 5) + (item.to === "unhealthy" || item.title === "Product search" ? 0 : 1)) }))
      .sort((a, b) => b.at.localeCompare(a.at));
    await route.fulfill({ response, json: { ...body, items } });
  });
  await page.goto(baseUrl);
  await page.getByRole("heading", { name: "3 systems need attention" }).waitFor();
  await page.getByRole("region", { name: "Recent activity" }).waitFor();
  await setTheme(page, "light");
  await page.screenshot({ path: `${outputDir}picture-dashboard.png` });

  await page.goto(`${baseUrl}/ai/chat`);
  await say(page, "what is down?");
  await say(page, "change interval of check Payments API answers to 10 seconds");
  await page.getByRole("button", { name: "Apply change" }).first().waitFor();
  await page.screenshot({ path: `${outputDir}picture-assistant.png` });
  await browser.close();
  server.close();
});
