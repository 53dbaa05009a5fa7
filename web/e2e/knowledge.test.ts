import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startModel, type FakeModel } from "./model";
import { baseUrl, ensureAdmin, inspect, launch, loaded, openSignedIn, outputDir, overflowing, rest, say, turn } from "./support";

// What the assistant knows and costs: skills, memories, and the spend report.

let browser: Browser;
let page: Page;
let complaints: string[];
let model: FakeModel;
/** Somebody with an account and no further rights. */
let reader: Page;

const readerAccount = { name: "Alan Kay", email: "knowledge-reader@example.com", password: "Reads-Only-3" };

beforeAll(async () => {
  browser = await launch();
  await ensureAdmin();
  model = await startModel();
  ({ page, complaints } = await openSignedIn(browser));
  // What earlier stories left is not part of this one.
  const { memories } = await rest<{ memories: { id: string }[] }>(page, "GET", "ai/listMemories");
  const { skills } = await rest<{ skills: { id: string; source: string }[] }>(page, "GET", "ai/listSkills");
  for (const { id } of skills.filter((skill) => skill.source === "user")) await rest(page, "DELETE", "ai/deleteSkill", { id });
  for (const { id } of memories) await rest(page, "DELETE", "ai/deleteMemory", { id });
  await rest(page, "POST", "auth/createCredentialUser", { ...readerAccount, roleIds: ["users"] });
  ({ page: reader } = await openSignedIn(browser, {}, readerAccount));
});

afterAll(async () => {
  await browser.close();
  model.close();
});

/** A promise that the test opens by hand. */
function gate() {
  let open: () => void = () => undefined;
  return { opened: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
}

async function onPhone(name: string, on = page) {
  await on.setViewportSize({ width: 390, height: 844 });
  await on.screenshot({ path: `${outputDir}${name}-390.png`, fullPage: true });
  const wide = await overflowing(on);
  await on.setViewportSize({ width: 1280, height: 860 });
  return wide.map((element) => `${name}: ${element}`);
}

test("a skill is published, read by others, changed and deleted by its author only", async () => {
  await page.goto(`${baseUrl}/ai/skills`);
  await page.getByText("Nobody has published a skill yet").waitFor();
  await page.getByRole("list", { name: "Built in" }).getByRole("listitem").first().waitFor();
  expect(await inspect(page, "skills-empty")).toEqual([]);
  await page.getByRole("button", { name: "New skill" }).click();
  const form = page.getByRole("dialog", { name: "New skill" });
  await form.getByLabel("Name").fill("Shift report");
  await form.getByLabel("What it is good for").fill("Sums up a shift for the next one");
  await form.getByRole("button", { name: "Publish skill" }).click();
  // Neither guidance nor a text to begin with: the fault leads to its field.
  await form.getByRole("alert").getByRole("link", { name: "Guidance: write this, a text to begin with, or both" }).click();
  await page.keyboard.type("Name what changed, then what is open.");
  // What was put right is no longer said to be wrong.
  await expect.poll(() => form.getByRole("alert").count()).toBe(0);
  await form.getByLabel("Tags").fill("shift, report");
  await form.getByRole("button", { name: "Add a field" }).click();
  await form.getByLabel("Key").fill("Open items");
  await form.getByRole("button", { name: "Publish skill" }).click();
  await form.getByRole("link", { name: /^Field 1, key: must be a lower-case letter/ }).click();
  await form.getByLabel("Key").fill("open");
  await form.getByLabel("Meaning").fill("What is not done");
  expect(await inspect(page, "skills-form")).toEqual([]);
  await form.getByRole("button", { name: "Publish skill" }).click();
  const panel = page.getByRole("dialog", { name: "Shift report" });
  await panel.getByText("Name what changed, then what is open.").waitFor();
  expect(await inspect(page, "skills-panel")).toEqual([]);
  const address = page.url();
  expect(new URL(address).searchParams.get("skill")).toBeTruthy();

  await reader.goto(address);
  await reader.getByRole("dialog", { name: "Shift report" }).getByText("What is not done").waitFor();
  expect(await reader.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
  await reader.getByRole("button", { name: "Close" }).click();

  await panel.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Shift report" });
  await edit.getByLabel("Name").fill("Handover");
  await edit.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("dialog", { name: "Handover" }).getByText("Name what changed, then what is open.").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Search skills").fill("no such skill");
  await page.getByText("No skill matches").waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("no such skill");
  await page.getByRole("button", { name: "Clear filters" }).click();
  expect(await inspect(page, "skills")).toEqual([]);
  expect(await onPhone("skills")).toEqual([]);
  await page.getByRole("list", { name: "Published here" }).getByRole("button", { name: /Handover/ }).click();
  await page.getByRole("dialog", { name: "Handover" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete skill" }).click();
  await page.getByText("Nobody has published a skill yet").waitFor();
});

test("a skill that somebody else changed meanwhile is saved without losing either side's words", async () => {
  const { id } = await rest<{ id: string }>(page, "POST", "ai/createSkill", { name: "Night shift", description: "For the night", targets: ["chat"], systemPrompt: "Be quiet.", tags: ["night"] });
  await page.goto(`${baseUrl}/ai/skills?skill=${id}`);
  await page.getByRole("dialog", { name: "Night shift" }).getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Night shift" });
  await edit.getByLabel("What it is good for").fill("For the small hours");
  await edit.getByLabel("Tags").fill("night, quiet");
  await rest(page, "PATCH", "ai/updateSkill", { id, description: "For whoever is awake", systemPrompt: "Whisper.", targets: ["chat", "ai_analyze"] });
  await edit.getByRole("button", { name: "Save changes" }).click();
  const note = edit.getByRole("alert").filter({ hasText: "Somebody changed this skill while you were editing" });
  await note.getByText("For whoever is awake").waitFor();
  await note.getByText("(you changed this too)").waitFor();
  await note.getByText("Whisper.").waitFor();
  await note.getByText("Conversations, Runs without a person").waitFor();
  expect(await edit.getByRole("button", { name: "Save changes" }).isDisabled()).toBe(true);
  expect(await inspect(page, "skills-conflict")).toEqual([]);
  await note.getByRole("button", { name: "Keep my version of what both changed" }).click();
  await expect.poll(() => edit.getByLabel("Guidance").inputValue()).toBe("Whisper.");
  expect(await edit.getByLabel("What it is good for").inputValue()).toBe("For the small hours");
  await edit.getByRole("button", { name: "Save changes" }).click();
  await edit.waitFor({ state: "detached" });
  const stored = await rest<{ description: string; systemPrompt: string; targets: string[]; tags: string[] }>(page, "GET", `ai/getSkill?id=${id}`);
  expect(stored).toMatchObject({ description: "For the small hours", systemPrompt: "Whisper.", targets: ["chat", "ai_analyze"], tags: ["night", "quiet"] });
  await page.getByRole("button", { name: "Close" }).click();
});

test("what was typed into a form is not thrown away without a question", async () => {
  await page.goto(`${baseUrl}/ai/memories`);
  await page.getByRole("link", { name: "Skills", exact: true }).click();
  await page.getByRole("button", { name: "New skill" }).click();
  const form = page.getByRole("dialog", { name: "New skill" });
  const question = page.getByRole("alertdialog", { name: "Close without saving?" });
  // Whoever opens a form can type at once. Nothing typed: nothing to ask.
  await expect.poll(() => form.getByLabel("Name").evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New skill" }).click();
  await form.getByLabel("Name").fill("Half a thought");
  await page.keyboard.press("Escape");
  await question.waitFor();
  expect(await inspect(page, "skills-unsaved")).toEqual([]);
  await question.getByRole("button", { name: "Cancel" }).click();
  await page.mouse.click(8, 8);
  await question.getByRole("button", { name: "Cancel" }).click();
  expect(await form.getByLabel("Name").inputValue()).toBe("Half a thought");
  // Going back in the browser asks as well.
  await page.goBack();
  await page.getByRole("alertdialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click();
  expect(await form.getByLabel("Name").inputValue()).toBe("Half a thought");
  await form.getByRole("button", { name: "Cancel" }).click();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await form.waitFor({ state: "detached" });
});

test("a built-in skill is copied to one's own, and stays as it is", async () => {
  await page.goto(`${baseUrl}/ai/skills`);
  await page.getByRole("list", { name: "Built in" }).getByRole("button", { name: /Severity/ }).click();
  const panel = page.getByRole("dialog");
  const name = await panel.getByRole("heading").first().innerText();
  expect(await panel.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
  await panel.getByRole("button", { name: "Copy to a new skill" }).click();
  const form = page.getByRole("dialog", { name: "New skill" });
  expect(await form.getByLabel("Name").inputValue()).toBe(`Copy of ${name}`);
  // All of it comes along, also the fields of its answer.
  await form.getByRole("group", { name: "Field 2" }).waitFor();
  expect(await form.getByLabel("Values, separated by commas").inputValue()).toContain("critical, high");
  await form.getByLabel("Name").fill("Our severities");
  expect(await inspect(page, "skills-copy")).toEqual([]);
  await form.getByRole("button", { name: "Publish skill" }).click();
  await page.getByRole("dialog", { name: "Our severities" }).getByText(/one of critical, high/).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("list", { name: "Published here" }).getByRole("button", { name: /Our severities/ }).waitFor();
  await page.getByRole("list", { name: "Built in" }).getByRole("button", { name: /Severity/ }).waitFor();
});

test("pages that cannot be loaded say why, and load when asked again", async () => {
  const { id: systemId } = await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Flaky shop" });
  await rest(page, "POST", "ai/saveMemory", { scope: "system", systemId, recallHint: "When the shop flakes", content: "Wait a minute." });
  for (const { path, operation, title, sign } of [
    { path: "/ai/skills", operation: "listSkills", title: "The skills could not be loaded", sign: "Our severities" },
    { path: "/ai/memories", operation: "listMemories", title: "The memories could not be loaded", sign: "Wait a minute." },
  ]) {
    await page.route(`**/rest/ai/${operation}**`, (route) => route.fulfill({ status: 503, json: { code: "UNAVAILABLE", message: "The database is away." } }));
    await page.goto(`${baseUrl}${path}`);
    const alert = page.getByRole("alert").filter({ hasText: title });
    await alert.getByText("The database is away.").waitFor();
    // Neither an empty state nor a list is pretended.
    expect(await page.getByText(/Nobody has published|No memories yet|No memory matches/).count()).toBe(0);
    expect(await inspect(page, `${operation}-failed`)).toEqual([]);
    await page.unroute(`**/rest/ai/${operation}**`);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByText(sign).first().waitFor();
  }
  await rest(page, "DELETE", "catalog/deleteSystem", { id: systemId });
});

test("nobody without the right to memories is shown or asks for any", async () => {
  const account = { name: "Grace Hopper", email: "no-memories@example.com", password: "Recalls-None-4" };
  const { id: role } = await rest<{ id: string }>(page, "POST", "auth/createRole", { name: "Without memory", accessRules: ["ai.chat.read", "ai.skill.read", "catalog.system.read", "catalog.group.read"] });
  await rest(page, "POST", "auth/createCredentialUser", { ...account, roleIds: [role] });
  const { id: remembered } = await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Remembered system" });
  await rest(page, "POST", "ai/saveMemory", { scope: "system", systemId: remembered, recallHint: "When it restarts", content: "It needs two minutes." });
  // The one who may read them finds them with the system, and from there all of them.
  await page.goto(`${baseUrl}/catalog/system/${remembered}`);
  await page.getByRole("list", { name: "Memories about this system" }).getByText("It needs two minutes.").waitFor();
  expect(await inspect(page, "system-memories")).toEqual([]);
  await page.getByRole("button", { name: "More actions for Remembered system" }).click();
  await page.getByRole("menuitem", { name: "Memories about it" }).click();
  await page.getByRole("list", { name: "Memories" }).getByText("When it restarts").waitFor();
  expect(new URL(page.url()).searchParams.get("system")).toBe(remembered);
  await page.goBack();
  await page.getByRole("link", { name: "All memories" }).click();
  await page.getByRole("list", { name: "Memories" }).getByText("When it restarts").waitFor();

  const { page: forgetful, complaints: theirs } = await openSignedIn(browser, {}, account);
  const asked: string[] = [];
  const refused: string[] = [];
  forgetful.on("request", (request) => (/memor/i.test(new URL(request.url()).pathname) && request.url().includes("/rest/") ? asked.push(request.url()) : undefined));
  forgetful.on("response", (response) => (response.status() === 403 ? refused.push(response.url()) : undefined));
  for (const path of ["/", "/ai/chat", "/ai/skills", "/catalog/browse", `/catalog/system/${remembered}`]) {
    await forgetful.goto(`${baseUrl}${path}`);
    await forgetful.getByRole("heading", { level: 1 }).waitFor();
    await loaded(forgetful);
    expect(await forgetful.getByText(/memor|keeps in mind/i).count(), path).toBe(0);
  }
  await forgetful.goto(`${baseUrl}/ai/memories`);
  await forgetful.getByText("You do not have access to this page").waitFor();
  expect({ asked, refused }).toEqual({ asked: [], refused: [] });
  expect(theirs).toEqual([]);
  await forgetful.context().close();
  await rest(page, "DELETE", "catalog/deleteSystem", { id: remembered });
});

test("a memory refuses credentials, and one that changed meanwhile is saved after all", async () => {
  await page.goto(`${baseUrl}/ai/memories`);
  await page.getByText(/looks like a password, key or token is refused/).waitFor();
  await page.getByRole("button", { name: "New memory" }).first().click();
  const form = page.getByRole("dialog", { name: "New memory" });
  await form.getByLabel("When it matters").fill("When the deploy asks for a key");
  await form.getByLabel("What to know then").fill("It is sk-canary0123456789abcdef0123456789");
  await form.getByRole("button", { name: "Save memory" }).click();
  await form.getByRole("alert").getByRole("link", { name: /^What to know then: looks like it holds a key or token/ }).waitFor();
  expect(await form.getByLabel("What to know then").getAttribute("aria-invalid")).toBe("true");
  expect(await inspect(page, "memories-credential")).toEqual([]);
  await form.getByLabel("What to know then").fill("It is in the vault, under deploy.");
  expect(await form.getByLabel("What to know then").getAttribute("aria-invalid")).toBe(null);
  await form.getByRole("button", { name: "Save memory" }).click();
  const list = page.getByRole("list", { name: "Memories" });
  await list.getByText("It is in the vault, under deploy.").waitFor();

  // Nearly the same once more: nothing that is there is overwritten unasked.
  await page.getByRole("button", { name: "New memory" }).first().click();
  await form.getByLabel("When it matters").fill("When a deploy asks for the key");
  await form.getByLabel("What to know then").fill("Ask Grace.");
  await form.getByRole("button", { name: "Save memory" }).click();
  const near = form.getByRole("alert").filter({ hasText: "There is a memory for nearly the same already" });
  await near.getByText("It is in the vault, under deploy.").waitFor();
  expect(await inspect(page, "memories-near")).toEqual([]);
  expect(await rest(page, "GET", "ai/listMemories")).toMatchObject({ total: 1, memories: [{ content: "It is in the vault, under deploy." }] });
  await near.getByRole("button", { name: "Replace that memory" }).click();
  await list.getByText("Ask Grace.").waitFor();
  await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
  await page.getByRole("button", { name: "Actions for When a deploy asks for the key" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByRole("dialog").getByLabel("When it matters").fill("When the deploy asks for a key");
  await page.getByRole("dialog").getByRole("button", { name: "Save changes" }).click();

  await page.getByRole("button", { name: "Actions for When the deploy asks for a key" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit memory" });
  await edit.getByLabel("What to know then").fill("It is in the safe.");
  const { memories } = await rest<{ memories: { id: string; version: number }[] }>(page, "GET", "ai/listMemories");
  const kept = { scope: "user", recallHint: "When the deploy asks for a key", replaces: memories[0]?.id, version: memories[0]?.version };
  await rest(page, "POST", "ai/saveMemory", { ...kept, content: "It is in the new vault.", tags: ["vault"] });
  await edit.getByRole("button", { name: "Save changes" }).click();
  const note = edit.getByRole("alert").filter({ hasText: "Somebody changed this memory while you were editing" });
  await note.getByText("It is in the new vault.").waitFor();
  expect(await inspect(page, "memories-conflict")).toEqual([]);
  await note.getByRole("button", { name: "Take theirs instead" }).click();
  await expect.poll(() => edit.getByLabel("What to know then").inputValue()).toBe("It is in the new vault.");
  await edit.getByLabel("What to know then").fill("It is in the new vault, on the second shelf.");
  await edit.getByRole("button", { name: "Save changes" }).click();
  await list.getByText("It is in the new vault, on the second shelf.").waitFor();
  await list.getByText("vault", { exact: true }).waitFor();
  await rest(page, "DELETE", "ai/deleteMemory", { id: memories[0]?.id });
});

test("memories are kept for oneself or for a system, pinned, found and deleted", async () => {
  const { id: systemId } = await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Tax engine" });
  await page.goto(`${baseUrl}/ai/memories`);
  await page.getByText("No memories yet").waitFor();
  expect(await inspect(page, "memories-empty")).toEqual([]);
  await page.getByRole("button", { name: "New memory" }).click();
  let form = page.getByRole("dialog");
  await form.getByLabel("When it matters").fill("When I ask for times");
  await form.getByLabel("What to know then").fill("I live in Lisbon.");
  await form.getByLabel("Tags").fill("zone, me");
  await form.getByRole("button", { name: "Save memory" }).click();
  const list = page.getByRole("list", { name: "Memories" });
  await list.getByText("I live in Lisbon.").waitFor();

  await page.getByRole("button", { name: "New memory" }).click();
  form = page.getByRole("dialog");
  await form.getByLabel("For", { exact: true }).selectOption({ label: "Tax engine" });
  await form.getByLabel("When it matters").fill("When the tax engine is slow");
  await form.getByLabel("What to know then").fill("The rates file is reloaded at noon.");
  expect(await inspect(page, "memories-form")).toEqual([]);
  await form.getByRole("button", { name: "Save memory" }).click();
  await list.getByText("The rates file is reloaded at noon.").waitFor();

  // Others see what is about a system, and nothing that is somebody's own.
  await reader.goto(`${baseUrl}/ai/memories`);
  await reader.getByText("The rates file is reloaded at noon.").waitFor();
  expect(await reader.getByText("I live in Lisbon.").count()).toBe(0);
  expect(await reader.getByRole("button", { name: /^Actions for/ }).count()).toBe(0);

  await page.getByRole("button", { name: "Actions for When I ask for times" }).click();
  await page.getByRole("menuitem", { name: "Make part of every conversation" }).click();
  await list.getByText("in every conversation").waitFor();
  await page.getByLabel("Show").selectOption({ label: "In every conversation" });
  await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
  expect(new URL(page.url()).searchParams.get("show")).toBe("always");
  await page.getByLabel("Show").selectOption({ label: "All memories" });
  await page.getByLabel("Search memories").fill("NOON engine");
  await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => list.getByRole("listitem").count()).toBe(2);
  await page.getByLabel("System", { exact: true }).selectOption({ label: "Tax engine" });
  await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
  expect(new URL(page.url()).searchParams.get("system")).toBe(systemId);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => list.getByRole("listitem").count()).toBe(2);
  expect(await inspect(page, "memories")).toEqual([]);
  expect(await onPhone("memories")).toEqual([]);

  await page.getByRole("button", { name: "Actions for When I ask for times" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByRole("dialog").getByLabel("What to know then").fill("I live in Porto.");
  await page.getByRole("dialog").getByRole("button", { name: "Save changes" }).click();
  await list.getByText("I live in Porto.").waitFor();
  for (const hint of ["When I ask for times", "When the tax engine is slow"]) {
    await page.getByRole("button", { name: `Actions for ${hint}` }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete memory" }).click();
    await list.getByText(hint).waitFor({ state: "detached" });
  }
  await rest(page, "DELETE", "catalog/deleteSystem", { id: systemId });
});

test("the spend report tells tokens by connection and person, with the cap's use", async () => {
  await rest(page, "POST", "ai/createConnection", { name: "Metered gateway", baseUrl: model.baseUrl, apiKey: "sk-canary-4712", defaultModel: "fake-small", spendCap: { tokenBudget: 200_000, windowMinutes: 60 } });
  await page.goto(`${baseUrl}/ai/chat`);
  await page.getByRole("button", { name: /^Model/ }).click();
  await page.getByRole("menuitemradio", { name: /Metered gateway/ }).first().click();
  model.next(({ say: tell }) => tell("All quiet."));
  await say(page, "is anything down?");
  await page.goto(`${baseUrl}/settings/spend`);
  const row = page.getByRole("row").filter({ hasText: "Metered gateway" });
  await row.getByText("Ada Lovelace").waitFor();
  await row.getByText(/\d+ %/).first().waitFor();
  await row.getByText(/^of 200,000 tokens per 1 h, since /).waitFor();
  await page.getByRole("img", { name: /^Tokens per day from/ }).waitFor();
  await loaded(page);
  expect(await inspect(page, "spend")).toEqual([]);
  expect(await onPhone("spend")).toEqual([]);
  // What a running answer has set aside is told apart, and comes back.
  const held = gate();
  model.next(async ({ say: tell }) => {
    tell("Let me think");
    await held.opened;
  });
  const chat = await page.context().newPage();
  await chat.goto(`${baseUrl}/ai/chat`);
  await turn(chat, async () => {
    await chat.getByLabel("Message to the assistant").fill("think long");
    await chat.getByLabel("Message to the assistant").press("Enter");
    await chat.getByText("Let me think").waitFor();
    await page.reload();
    await row.getByText(/^[\d,]+ of them set aside for answers being written$/).waitFor();
    held.open();
  });
  await chat.close();
  await page.reload();
  await row.getByText(/\d+ %/).first().waitFor();
  expect(await row.getByText(/set aside/).count()).toBe(0);
  await page.getByLabel("Period").selectOption({ label: "Last 24 hours" });
  expect(new URL(page.url()).searchParams.get("days")).toBe("1");
  await page.goto(`${baseUrl}/settings/spend?person=nobody`);
  await page.getByText("Nothing was spent that fits the filters.").waitFor();
  await page.route("**/rest/ai/getSpend**", (route) => route.fulfill({ status: 500, json: { code: "internal", message: "The database is away." } }));
  await page.goto(`${baseUrl}/settings/spend`);
  await page.getByText("The spend could not be loaded").waitFor();
  await page.unroute("**/rest/ai/getSpend**");
  await page.getByRole("button", { name: "Try again" }).click();
  await row.waitFor();

  await reader.goto(`${baseUrl}/settings/spend`);
  await reader.getByText("You do not have access to this page").waitFor();
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
