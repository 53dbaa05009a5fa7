import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startModel, type FakeModel } from "./model";
import { baseUrl, inspect, launch, openSignedIn, rest, say, turn } from "./support";

// The assistant with a language model, on the server that the newcomer left.

let browser: Browser;
let page: Page;
let complaints: string[];
let model: FakeModel;

beforeAll(async () => {
  browser = await launch();
  model = await startModel();
  ({ page, complaints } = await openSignedIn(browser));
});

afterAll(async () => {
  await browser.close();
  model.close();
});

const box = () => page.getByLabel("Message to the assistant");
const conversation = () => page.getByRole("region", { name: "Conversation" });

/** A promise that the test opens by hand. */
function gate() {
  let open: () => void = () => undefined;
  return { opened: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
}

async function pick(label: string, option: RegExp) {
  await page.getByRole("button", { name: label }).click();
  await page.getByRole("menuitemradio", { name: option }).click();
}

test("a connection is added with key, models and a spend cap, and tested", async () => {
  await page.goto(`${baseUrl}/settings/connections`);
  await page.getByRole("button", { name: "New connection" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name", { exact: false }).first().fill("Our gateway");
  await form.getByLabel("Base URL").fill(model.baseUrl);
  await form.getByLabel("API key").fill("sk-canary-4711");
  await form.getByLabel("Default model").fill("fake-small");
  await form.getByRole("button", { name: "Add model" }).click();
  await page.keyboard.type("fake-large");
  await form.getByText("Limits and model family").click();
  await form.getByLabel("Tokens", { exact: true }).fill("200000");
  await form.getByRole("button", { name: "Add connection" }).click();
  await form.getByRole("link", { name: /windowMinutes: is needed too/ }).click();
  await page.keyboard.type("60");
  await form.getByLabel("Context window, in tokens").fill("32000");
  await form.getByLabel("Model family").selectOption("openai");
  await form.getByRole("button", { name: "Test", exact: true }).click();
  await form.getByText(/fake-small|reach|models?/i).first().waitFor();
  expect(await inspect(page, "connection-form")).toEqual([]);
  await form.getByRole("button", { name: "Add connection" }).click();
  await form.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /Our gateway/ });
  await row.getByText("200,000 tokens per 1 h").waitFor();
  await row.getByText("32,000 tokens of context").waitFor();
  await row.getByText("and 1 more").waitFor();
  expect(await inspect(page, "connections-list")).toEqual([]);
  expect(await page.content()).not.toContain("sk-canary-4711");

  // What was stored comes back, and emptying the cap removes it.
  await page.getByRole("button", { name: "Actions for Our gateway" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  expect(await form.getByLabel("Further model 1").inputValue()).toBe("fake-large");
  await form.getByLabel("Tokens", { exact: true }).fill("");
  await form.getByLabel("Within, in minutes").fill("");
  await form.getByRole("button", { name: "Save changes" }).click();
  await form.waitFor({ state: "detached" });
  await row.getByText("No cap").waitFor();
});

test("one of several models is picked, and its answer streams in", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  await pick("Model", /Our gateway.*fake-large/s);
  const rest = gate();
  model.next(async ({ say: text }) => {
    text("All **three** sys");
    await rest.opened;
    text("tems look fine.");
  });
  await turn(page, async () => {
    await box().fill("How are we?");
    await box().press("Enter");
    // The first part shows while the rest has not been sent yet.
    await conversation().getByText("All three sys", { exact: true }).waitFor();
    rest.open();
  });
  await conversation().getByText("All three systems look fine.").waitFor();
  expect(await conversation().locator("strong").innerText()).toBe("three");
  expect(model.requests.at(-1)).toEqual({ model: "fake-large", authorization: "Bearer sk-canary-4711" });
});

test("stopping keeps what arrived, also after a reload", async () => {
  let hungUp = false;
  model.next(async ({ say: text, closed }) => {
    text("The first half");
    await closed;
    hungUp = true;
  });
  await box().fill("Tell me a long story");
  await box().press("Enter");
  await conversation().getByText("The first half").waitFor();
  const focusBefore = await page.evaluate(() => document.activeElement?.tagName);
  expect(focusBefore).toBe("TEXTAREA");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await conversation().getByText("The first half").waitFor();
  await expect.poll(() => hungUp, { timeout: 20_000 }).toBe(true);
  await expect
    .poll(
      async () => {
        await page.reload();
        await conversation().getByText("Tell me a long story").waitFor();
        return conversation().getByText("The first half").count();
      },
      { timeout: 30_000 },
    )
    .toBe(1);
  await conversation().getByText("Stopped before it was complete.").waitFor();
});

test("reloading while an answer streams loses neither question nor what arrived", async () => {
  model.next(async ({ say: text, closed }) => {
    text("Half of an answer");
    await closed;
  });
  await box().fill("And once more");
  await box().press("Enter");
  await conversation().getByText("Half of an answer").waitFor();
  await expect
    .poll(
      async () => {
        await page.reload();
        await conversation().getByText("And once more").waitFor();
        return conversation().getByText("Half of an answer").count();
      },
      { timeout: 30_000 },
    )
    .toBe(1);
  model.next(({ say: text }) => text("Here I am again."));
  await say(page, "Are you there?");
  await conversation().getByText("Here I am again.").waitFor();
});

test("a failing model is shown with its own words, which can be copied, and the chat goes on", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  model.next({ status: 401, body: { error: { message: "This key has expired, ask Grace." } } });
  await say(page, "Hello?");
  const alert = page.getByRole("alert");
  await alert.getByText(/This key has expired, ask Grace\./).waitFor();
  expect(await inspect(page, "assistant-error")).toEqual([]);
  await alert.getByRole("button", { name: /Copy/ }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("This key has expired");
  model.next(({ say: text }) => text("Better now."));
  await say(page, "And now?");
  await conversation().getByText("Better now.").waitFor();
  expect(await alert.count()).toBe(0);
});

test("foreign text cannot act: no markup, no images, no odd links", async () => {
  model.next(({ say: text }) => text('<img src="https://evil.example/x.png"><script>window.hacked = true</script> ![pixel](https://evil.example/p.png) [click](javascript:alert(1)) [site](https://ok.example/)'));
  await say(page, "Show me something");
  await conversation().getByRole("link", { name: "site" }).waitFor();
  expect(await conversation().locator("img").count()).toBe(0);
  expect(await conversation().locator('a[href^="javascript"]').count()).toBe(0);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test("a model's change waits as a card, and two tabs agree about it", async () => {
  model.next(({ call }) => call("catalog_createSystem", { name: "Billing" }));
  model.next(({ say: text }) => text("I wait for your decision."));
  await say(page, "Add a system Billing");
  const card = page.getByRole("region", { name: "Create system" }).last();
  await card.getByRole("button", { name: "Apply change" }).waitFor();

  const other = await page.context().newPage();
  await other.goto(page.url());
  const twin = other.getByRole("region", { name: "Create system" }).last();
  model.next(({ say: text }) => text("Billing exists now."));
  await turn(other, () => twin.getByRole("button", { name: "Apply change" }).click());
  await twin.getByText("Applied", { exact: true }).waitFor();
  // The first tab hears of it without being touched.
  await card.getByText("Applied", { exact: true }).waitFor();
  expect(await card.getByRole("button", { name: "Apply change" }).count()).toBe(0);
  await other.close();
});

test("in the other mode a harmless change is applied at once, a destructive one still asks", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  await pick("Model", /Built-in assistant/);
  await pick("Permission mode", /Apply by itself/);
  await say(page, "create system Ledger with description invoices and payments");
  const applied = page.getByRole("region", { name: "Create system" });
  await applied.getByText("Applied", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Apply change" }).count()).toBe(0);
  expect(await inspect(page, "assistant-auto")).toEqual([]);
  // The mode belongs to the conversation and outlives the page.
  await page.reload();
  await page.getByRole("button", { name: "Permission mode: Apply by itself" }).waitFor();

  await say(page, 'delete system "Ledger"');
  const card = page.getByRole("region", { name: "Delete system" });
  await card.getByText("cannot be undone").waitFor();
  // The message field was empty and had the focus, so the safe answer gets it.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Decline");
  await turn(page, () => page.keyboard.press("Enter"));
  await card.getByText("You declined; nothing was changed.").waitFor();
});

test("a destructive card leaves the focus alone while someone types", async () => {
  const held = gate();
  await page.route("**/api/ai/chat", async (route) => {
    await held.opened;
    await route.continue();
  });
  await turn(page, async () => {
    await box().fill('delete system "Ledger"');
    await box().press("Enter");
    await box().fill("Wait, ");
    held.open();
    await page.getByRole("region", { name: "Delete system" }).nth(1).waitFor();
  });
  await page.unroute("**/api/ai/chat");
  await page.keyboard.type("not yet");
  expect(await box().inputValue()).toBe("Wait, not yet");
  await box().fill("");
  await turn(page, () => page.getByRole("region", { name: "Delete system" }).last().getByRole("button", { name: "Delete system" }).click());
  const { systems } = await rest<{ systems: { name: string }[] }>(page, "GET", "catalog/getSystems");
  expect(systems.map((system) => system.name)).not.toContain("Ledger");
});

test("a change that has to wait for another says so until that one is applied", async () => {
  await page.goto(`${baseUrl}/ai/chat`);
  await say(page, 'monitor http://127.0.0.1:9/ every 1 hour as "Not yet there"');
  const check = page.getByRole("region", { name: "Create health check" });
  await check.getByText(/does not exist yet/).waitFor();
  expect(await inspect(page, "assistant-blocked")).toEqual([]);
  await check.getByRole("button", { name: "Apply change" }).click();
  await check.getByRole("alert").getByText(/does not exist yet/).waitFor();
  await turn(page, () => page.getByRole("region", { name: "Create system" }).getByRole("button", { name: "Apply change" }).click());
  await turn(page, () => check.getByRole("button", { name: "Apply change" }).click());
  await check.getByText("Applied", { exact: true }).waitFor();
  const { systems } = await rest<{ systems: { id: string; name: string }[] }>(page, "GET", "catalog/getSystems");
  const { configurations } = await rest<{ configurations: { id: string; name: string; systemIds: string[] }[] }>(page, "GET", "healthcheck/getConfigurations");
  for (const system of systems.filter((each) => each.name === "Not yet there")) {
    for (const each of configurations.filter((each) => each.systemIds.includes(system.id))) await rest(page, "DELETE", "healthcheck/deleteConfiguration", { id: each.id });
    await rest(page, "DELETE", "catalog/deleteSystem", { id: system.id });
  }
});

test("a chat can be deleted from the list, and its address says so", async () => {
  const address = page.url();
  const list = page.getByRole("navigation", { name: "Conversations" });
  const count = await list.getByRole("listitem").count();
  const remove = list.getByRole("listitem").filter({ has: page.locator('[aria-current="page"]') }).getByRole("button");
  await remove.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete chat", exact: true }).last().click();
  await page.waitForURL(`${baseUrl}/ai/chat`);
  await expect.poll(() => list.getByRole("listitem").count()).toBe(count - 1);
  await page.goto(address);
  await page.getByText("This chat was deleted. It can be read here, but not continued.").waitFor();
  await conversation().getByText(/Not yet there/).first().waitFor();
  expect(await page.getByLabel("Message to the assistant").count()).toBe(0);
  expect(await inspect(page, "assistant-archived")).toEqual([]);
  await page.goto(`${baseUrl}/ai/chat/01900000-0000-7000-8000-000000000000`);
  await page.getByText("This chat is gone").waitFor();
  expect(await inspect(page, "assistant-gone")).toEqual([]);
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
