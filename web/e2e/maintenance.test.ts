import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { baseUrl, ensureAdmin, inspect, launch, loaded, openSignedIn, outputDir, overflowing, rest, seenBefore } from "./support";

// Planned work from the first thought of it to its end: one window, a series,
// a calendar, as the people around it see them.

type Maintenance = { id: string; title: string; status: string; startAt: string; endAt: string; version: number; seriesId: string | null; detached: boolean };
type Detail = Maintenance & { updates: { message: string; audience: string; statusChange: string | null }[]; links: { label: string }[]; series?: { id: string; rule: string; title: string; endedAt: string | null } };

let browser: Browser;
let page: Page;
let complaints: string[];
/** Somebody with an account who may read maintenances and manage nothing. */
let reader: Page;
let billing = "";
let storage = "";
let path = "";

const title = "Replace the billing database";
const readerAccount = { name: "Edsger Dijkstra", email: "maintenance-reader@example.com", password: "Reads-Only-2" };

beforeAll(async () => {
  browser = await launch();
  await ensureAdmin();
  ({ page, complaints } = await openSignedIn(browser));
  billing = (await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Billing" })).id;
  storage = (await rest<{ id: string }>(page, "POST", "catalog/createSystem", { name: "Object storage" })).id;
  await rest(page, "POST", "auth/createCredentialUser", { ...readerAccount, roleIds: ["users"] });
  ({ page: reader } = await openSignedIn(browser, {}, readerAccount));
});

afterAll(() => browser.close());

const heading = (name: string | RegExp, on = page) => on.getByRole("heading", { name }).first().waitFor();
const idOf = (of: string) => of.split("/")[2] ?? "";
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const create = (data: object) => rest<Maintenance>(page, "POST", "maintenance/createMaintenance", { title: "Some work", startAt: inHours(5), endAt: inHours(6), systemIds: [storage], ...data });
const stored = (id: string) => rest<Detail>(page, "GET", `maintenance/getMaintenance?id=${id}`);
const list = (query: string) => rest<{ maintenances: Maintenance[] }>(page, "GET", `maintenance/listMaintenances?${query}`).then((answer) => answer.maintenances);
const remove = (id: string) => rest(page, "DELETE", "maintenance/deleteMaintenance", { id });
const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
const address = () => new URL(page.url());

/** Changes reach other browsers within a second. */
const second = { timeout: 1000 };

/** Looks at a page on a phone too: nothing may stick out. */
async function onPhone(name: string) {
  await page.setViewportSize({ width: 390, height: 844 });
  if (!seenBefore) await page.screenshot({ path: `${outputDir}${name}-390.png`, fullPage: true });
  const wide = await overflowing(page);
  await page.setViewportSize({ width: 1280, height: 860 });
  return wide.map((element) => `${name}: ${element}`);
}

test("without maintenances every list says so and what they are for", async () => {
  await page.goto(`${baseUrl}/maintenance/config`);
  await page.getByText("Nothing planned").waitFor();
  expect(await inspect(page, "maintenances-empty")).toEqual([]);
  await page.getByRole("tab", { name: "Upcoming" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText("No maintenance in progress").waitFor();
  expect(address().searchParams.get("tab")).toBe("now");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("tabpanel", { name: "Past" }).waitFor();
});

test("a maintenance is planned with the keyboard alone, and another browser sees it within a second", async () => {
  await reader.goto(`${baseUrl}/maintenance/config`);
  await reader.getByText("Nothing planned").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.getByText("Nothing planned").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /Search systems/ }).waitFor();
  await page.keyboard.type("plan a main");
  await page.keyboard.press("Enter");
  await heading("Plan a maintenance");

  // It starts in an hour, to the minute, and takes one.
  const offered = await page.locator("form time").evaluateAll((times) => times.map((time) => Date.parse(time.getAttribute("datetime") ?? "")));
  expect(Math.abs((offered[0] ?? 0) - Date.now() - 3_600_000)).toBeLessThan(90_000);
  expect((offered[1] ?? 0) - (offered[0] ?? 0)).toBe(3_600_000);

  // Sent too early it names what is missing and leads there.
  await page.getByLabel("Title").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Title: is required").waitFor();
  await page.getByRole("link", { name: /Systems: At least one/ }).press("Enter");
  await page.keyboard.type("bill");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Chosen systems" }).getByText("Billing").waitFor();
  await page.getByLabel("Title").focus();
  await page.keyboard.type(title);
  await page.getByLabel("Description").focus();
  await page.keyboard.type("Invoices wait **until it is over**.");

  await page.getByLabel("Start date").focus();
  await page.keyboard.type("12242027");
  await page.getByLabel("Start time").focus();
  await page.keyboard.type("1045PM");
  // Arrow keys change the part of the time that they stand on.
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowUp");
  expect([await page.getByLabel("Start date").inputValue(), await page.getByLabel("Start time").inputValue()]).toEqual(["2027-12-24", "22:46"]);
  expect([await page.getByLabel("End date").inputValue(), await page.getByLabel("End time").inputValue()]).toEqual(["2027-12-24", "23:46"]);
  await page.getByRole("button", { name: "4 h", exact: true }).press("Enter");
  await page.getByText("Lasts 4 h").waitFor();
  await page.getByText("Sat, Dec 25, 2027, 02:46 UTC+01:00").waitFor();
  await page.getByRole("switch", { name: "Silence notifications about health" }).press("Space");
  expect(await inspect(page, "maintenance-form")).toEqual([]);
  expect(await onPhone("maintenance-form")).toEqual([]);
  await page.getByRole("button", { name: "Plan maintenance" }).press("Enter");
  await reader.getByRole("link", { name: title }).waitFor({ timeout: 3000 });
  await heading(title);
  path = address().pathname;
  expect(await stored(idOf(path))).toMatchObject({ status: "scheduled", startAt: "2027-12-24T21:46:00Z", endAt: "2027-12-25T01:46:00Z" });
  await page.getByText(/^starts in /).waitFor();
  expect(await inspect(page, "maintenance-scheduled")).toEqual([]);
  expect(await onPhone("maintenance-scheduled")).toEqual([]);
});

test("what is shown of it follows the clock, and the end moves by one press", async () => {
  const soon = await create({ title: "Rotate the keys", startAt: new Date(Date.now() + 4000).toISOString(), endAt: inHours(1), systemIds: [storage, billing] });
  await page.goto(`${baseUrl}/maintenance/${soon.id}`);
  await page.getByText(/^starts in \d s$/).waitFor();
  await page.getByText(/^ends in 59 min/).waitFor({ timeout: 15_000 });
  await page.getByText("Maintenance started automatically").waitFor();
  await reader.goto(`${baseUrl}/maintenance/${soon.id}`);
  await reader.getByText(/^ends in 59 min/).waitFor();
  expect(await reader.getByRole("button", { name: /Complete now|Edit|15 min/ }).count()).toBe(0);
  await page.getByRole("group", { name: "Extend" }).getByRole("button", { name: "15 min" }).press("Enter");
  await reader.getByText(/^ends in 1 h 14 min/).waitFor(second);
  expect(Date.parse((await stored(soon.id)).endAt) - Date.parse(soon.endAt)).toBe(15 * 60_000);
  expect(await inspect(page, "maintenance-running")).toEqual([]);
  expect(await onPhone("maintenance-running")).toEqual([]);

  await page.goto(`${baseUrl}/catalog/system/${billing}`);
  const block = page.getByRole("region", { name: "Maintenances" });
  await block.getByRole("link", { name: "Rotate the keys" }).waitFor();
  await block.getByRole("link", { name: title }).waitFor();
  expect(await inspect(page, "maintenance-system")).toEqual([]);

  await page.goto(`${baseUrl}/maintenance/${soon.id}`);
  await page.getByRole("button", { name: "Complete now" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Complete this maintenance" });
  await dialog.getByLabel("Message").fill("All keys are new.");
  await dialog.getByRole("button", { name: "Complete maintenance" }).press("Enter");
  await reader.getByText("All keys are new.").waitFor({ timeout: 2000 });
  await page.getByText(/^ended /).first().waitFor();
  expect(await page.getByRole("group", { name: "Extend" }).count()).toBe(0);
  expect(await stored(soon.id)).toMatchObject({ status: "completed" });
  await block.waitFor({ state: "detached" });
  await remove(soon.id);
});

test("updates reach who may read them, links are stored at once, and text that was not sent is guarded", async () => {
  await page.goto(baseUrl + path);
  await reader.goto(baseUrl + path);
  await heading(title, reader);
  await page.getByRole("textbox", { name: /^Update/ }).fill("Backups are done.");
  await page.getByRole("button", { name: "Add update" }).press("Enter");
  await reader.getByText("Backups are done.").waitFor(second);
  await page.getByRole("textbox", { name: /^Update/ }).fill("The vendor was told.");
  await page.getByLabel("Who may read it").selectOption({ label: "Internal" });
  await page.getByRole("button", { name: "Add update" }).press("Enter");
  await page.getByRole("list", { name: "Updates, newest first" }).getByText("The vendor was told.").waitFor();
  expect(await reader.getByText("The vendor was told.").count()).toBe(0);
  expect(await reader.getByText("Ada Lovelace").count()).toBe(0);
  await page.getByRole("button", { name: "Add link" }).press("Enter");
  await page.getByRole("dialog").getByLabel("Label").fill("Runbook");
  await page.getByRole("dialog").getByLabel("URL").fill("https://example.com/runbook");
  await page.getByRole("dialog").getByRole("button", { name: "Add link" }).press("Enter");
  await reader.getByRole("link", { name: /Runbook/ }).waitFor(second);
  await page.getByRole("textbox", { name: /^Update/ }).fill("half a thought");
  await page.getByRole("link", { name: "Maintenances" }).first().click();
  await heading("Leave without saving?");
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  expect(await page.getByRole("textbox", { name: /^Update/ }).inputValue()).toBe("half a thought");
  await page.getByRole("textbox", { name: /^Update/ }).fill("");
});

test("a maintenance can be mentioned, and lists what it mentions itself", async () => {
  const other = await create({ title: "Mentions another", description: `After [this](checkstack:maintenance/${idOf(path)}) only.` });
  await page.goto(`${baseUrl}/maintenance/${other.id}`);
  await page.getByRole("region", { name: "Referenced items" }).getByRole("link", { name: title }).click();
  await heading(title);
  await remove(other.id);
});

test("a form shows what somebody else saved meanwhile, and loses nothing that was typed", async () => {
  await page.goto(baseUrl + path);
  await page.getByRole("link", { name: "Edit", exact: true }).press("Enter");
  await heading("Edit maintenance");
  await page.getByLabel("Title").fill("Replace the billing database at last");
  await page.getByLabel("End time").fill("03:30");
  await rest(page, "PATCH", "maintenance/updateMaintenance", { id: idOf(path), endAt: "2027-12-25T03:00:00Z", description: "Invoices wait until Christmas." });
  await page.getByRole("button", { name: "Save changes" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText(/Somebody changed this maintenance/).waitFor();
  await alert.getByText("Invoices wait until Christmas.").waitFor();
  await alert.getByText(/Dec 25, 2027, 04:00 UTC\+01:00/).waitFor();
  expect(await page.getByLabel("End time").inputValue()).toBe("03:30");
  expect(await inspect(page, "maintenance-conflict")).toEqual([]);
  expect(await onPhone("maintenance-conflict")).toEqual([]);
  await page.getByRole("button", { name: "Keep my version of what both changed" }).press("Enter");
  expect(await page.getByLabel("Description").inputValue()).toBe("Invoices wait until Christmas.");
  await page.getByRole("link", { name: "Maintenances", exact: true }).first().click();
  await heading("Leave without saving?");
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Save changes" }).click();
  await heading("Replace the billing database at last");
  expect(await stored(idOf(path))).toMatchObject({ title: "Replace the billing database at last", startAt: "2027-12-24T21:46:00Z", endAt: "2027-12-25T02:30:00Z" });
});

test("cancelling keeps the record, and another like it is planned from it", async () => {
  await page.goto(baseUrl + path);
  await page.getByRole("button", { name: "More actions for this maintenance" }).press("Enter");
  await page.getByRole("menuitem", { name: "Cancel maintenance" }).press("Enter");
  await page.getByRole("alertdialog").getByText(/It will not take place/).waitFor();
  expect(await focused()).toBe("Cancel");
  expect(await inspect(page, "maintenance-cancel")).toEqual([]);
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel maintenance" }).press("Enter");
  await page.getByText(/^cancelled /).first().waitFor();
  await page.goto(`${baseUrl}${path}/edit`);
  await heading("Edit maintenance");
  for (const field of ["Start date", "Start time", "End date", "End time"]) expect(await page.getByLabel(field).isDisabled(), field).toBe(true);
  await page.goto(baseUrl + path);
  await page.getByRole("button", { name: "More actions for this maintenance" }).press("Enter");
  await page.getByRole("menuitem", { name: "Plan another like this" }).press("Enter");
  await heading("Plan a maintenance");
  expect(await page.getByLabel("Title").inputValue()).toBe("Replace the billing database at last");
  await page.getByText("Lasts 4 h 44 min").waitFor();
});

test("a series shows its next ten before it is saved; one is skipped, one changed by hand, the rest moved, and it is ended", async () => {
  await page.goto(`${baseUrl}/maintenance/new?systemId=${storage}`);
  await page.getByLabel("Title").fill("Weekly defragmentation");
  const start = new Date(Date.now() + 6 * 86_400_000);
  await page.getByLabel("Start date").fill(start.toISOString().slice(0, 10));
  await page.getByLabel("Start time").fill("22:00");
  await page.getByLabel("Repeats").selectOption({ label: "Weekly" });
  const preview = page.getByRole("region", { name: "The next occurrences" });
  await expect.poll(() => preview.getByRole("listitem").count()).toBe(10);
  await preview.getByText(/every week on \w+day, in Europe\/Berlin\. It goes on after these\./).waitFor();
  await page.getByLabel("Ends").selectOption({ label: "After a number of times" });
  await page.getByLabel("How many times").fill("");
  await preview.getByText("Shown as soon as start, end and rule are complete.").waitFor();
  await page.getByRole("button", { name: "Plan series" }).press("Enter");
  await page.getByRole("link", { name: "How many times: must be a whole number from 1" }).press("Enter");
  expect(await page.getByLabel("How many times").evaluate((field) => field === document.activeElement)).toBe(true);
  await page.getByLabel("How many times").fill("6");
  expect(await page.getByLabel("How many times").getAttribute("aria-invalid")).toBeNull();
  await expect.poll(() => preview.getByRole("listitem").count()).toBe(6);
  await preview.getByText(/These are all/).waitFor();
  // A rule of one's own starts from the one so far, and faults of it are told.
  await page.getByLabel("Repeats").selectOption({ label: "By a rule of its own" });
  expect(await page.getByRole("textbox", { name: "Rule" }).inputValue()).toMatch(/^FREQ=WEEKLY;BYDAY=\w\w;COUNT=6$/);
  await page.getByRole("textbox", { name: "Rule" }).fill("FREQ=HOURLY");
  await preview.getByText(/FREQ must be DAILY or slower/).waitFor();
  expect(await inspect(page, "maintenance-rule")).toEqual([]);
  await page.getByLabel("Repeats").selectOption({ label: "Weekly" });
  await expect.poll(() => preview.getByRole("listitem").count()).toBe(6);
  await preview.scrollIntoViewIfNeeded();
  expect(await inspect(page, "maintenance-series-form")).toEqual([]);
  expect(await onPhone("maintenance-series-form")).toEqual([]);
  await page.getByRole("button", { name: "Plan series" }).press("Enter");
  await heading("Weekly defragmentation");
  const panel = page.getByRole("region", { name: "Series" });
  const next = panel.getByRole("list", { name: "Next occurrences" }).getByRole("listitem");
  await expect.poll(() => next.count()).toBe(6);
  const firstId = idOf(address().pathname);
  const seriesId = (await stored(firstId)).seriesId ?? "";
  const occurrences = await list(`seriesId=${seriesId}&sortOrder=asc`);
  expect(occurrences).toHaveLength(6);

  await next.nth(1).getByRole("button", { name: /^Skip / }).press("Enter");
  await heading(/^Skip “/);
  await page.getByRole("button", { name: "Skip this occurrence" }).press("Enter");
  await expect.poll(() => next.count()).toBe(5);
  expect((await stored(occurrences[1]?.id ?? "")).status).toBe("cancelled");

  // Only one of them gets another title.
  await page.goto(`${baseUrl}/maintenance/${occurrences[2]?.id ?? ""}`);
  await page.getByRole("button", { name: "Edit" }).press("Enter");
  await page.getByRole("menuitem", { name: "This one only" }).press("Enter");
  await heading("Edit this one only");
  await page.getByLabel("Title").fill("Defragmentation by hand");
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await heading("Defragmentation by hand");
  await page.getByText("changes of the series pass it over").waitFor();

  // The fourth and those after it start an hour later.
  await page.goto(`${baseUrl}/maintenance/${occurrences[3]?.id ?? ""}`);
  await page.getByRole("button", { name: "Edit" }).press("Enter");
  await page.getByRole("menuitem", { name: "This and all that follow" }).press("Enter");
  await heading("Edit this and all that follow");
  await page.getByLabel("Start time").fill("23:00");
  expect(await page.getByLabel("End time").inputValue()).toBe("00:00");
  expect(await inspect(page, "maintenance-following")).toEqual([]);
  await page.getByRole("button", { name: "Save this and all that follow" }).press("Enter");
  await heading("Weekly defragmentation");
  const after = await list(`seriesId=${seriesId}&sortOrder=asc&open=true`);
  const hours = (each: Maintenance) => new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", hour: "2-digit", minute: "2-digit" }).format(new Date(each.startAt));
  expect(after.map(hours)).toEqual(["22:00", "22:00", "23:00", "23:00", "23:00"]);
  expect(after.map((each) => each.title)).toEqual(["Weekly defragmentation", "Defragmentation by hand", "Weekly defragmentation", "Weekly defragmentation", "Weekly defragmentation"]);
  expect(await inspect(page, "maintenance-series")).toEqual([]);
  expect(await onPhone("maintenance-series")).toEqual([]);

  // In the list one row stands for the series.
  await page.goto(`${baseUrl}/maintenance/config`);
  const table = page.getByRole("table", { name: "Upcoming maintenances" });
  await table.getByRole("link", { name: "4 more" }).waitFor();
  expect(await inspect(page, "maintenances-folded")).toEqual([]);
  await page.getByLabel("Show every occurrence of a series").press("Space");
  await expect.poll(() => table.getByRole("link", { name: /efragmentation/ }).count()).toBe(5);
  expect(address().searchParams.get("every")).toBe("1");

  await page.goto(`${baseUrl}/maintenance/${after[0]?.id ?? ""}`);
  await page.getByRole("button", { name: "End series" }).press("Enter");
  await heading(/^End the series .*Weekly defragmentation/);
  await page.getByRole("alertdialog").getByRole("button", { name: "End series" }).press("Enter");
  await page.getByRole("table", { name: "Upcoming maintenances" }).waitFor();
  expect((await list(`seriesId=${seriesId}&open=true`)).map((each) => each.title)).toEqual(["Defragmentation by hand"]);
  for (const each of await list(`seriesId=${seriesId}`)) await remove(each.id);
});

test("the calendar is walked by keys, and shows windows over midnight, over days and beside each other", async () => {
  const ids: string[] = [];
  const plan = async (name: string, startAt: string, endAt: string) => ids.push((await create({ title: name, startAt, endAt })).id);
  await plan("Over midnight", "2027-06-09T22:00:00+02:00", "2027-06-10T02:00:00+02:00");
  await plan("Four days", "2027-06-11T08:00:00+02:00", "2027-06-15T18:00:00+02:00");
  await plan("Beside one", "2027-06-10T10:00:00+02:00", "2027-06-10T13:00:00+02:00");
  await plan("Beside two", "2027-06-10T11:00:00+02:00", "2027-06-10T12:00:00+02:00");
  for (let i = 1; i <= 5; i++) await plan(`Crowd ${i}`, `2027-06-22T0${i}:00:00+02:00`, `2027-06-22T0${i}:30:00+02:00`);
  await page.goto(`${baseUrl}/maintenance/calendar?day=2027-06-09`);
  const grid = page.getByRole("grid", { name: "June 2027, in Europe/Berlin" });
  await grid.getByRole("link", { name: /^22:00 Over midnight/ }).waitFor();
  const day = (name: RegExp) => grid.getByRole("gridcell", { name });
  expect(await day(/^Thursday, June 10, 2027, 3 maintenances/).count()).toBe(1);
  for (const name of [/^Friday, June 11/, /^Saturday, June 12/, /^Sunday, June 13/, /^Monday, June 14/, /^Tuesday, June 15/]) expect(await day(name).getByRole("link", { name: /Four days/ }).count(), String(name)).toBe(1);
  expect(await day(/^Wednesday, June 16/).getByRole("link").count()).toBe(0);
  await day(/^Tuesday, June 22, 2027, 5 maintenances/).getByRole("button", { name: "2 more" }).waitFor();
  expect(await inspect(page, "calendar-month")).toEqual([]);

  await day(/^Wednesday, June 9/).focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => address().searchParams.get("day")).toBe("2027-06-10");
  await page.getByRole("region", { name: "Thursday, June 10, 2027" }).getByText("Beside two").waitFor();
  const at = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.day);
  expect(await at()).toBe("2027-06-10");
  for (const [key, to] of [
    ["ArrowDown", "2027-06-17"],
    ["Home", "2027-06-13"],
    ["End", "2027-06-19"],
    ["PageDown", "2027-07-19"],
    ["PageUp", "2027-06-19"],
    ["Shift+PageUp", "2026-06-19"],
    ["Shift+PageDown", "2027-06-19"],
    ["ArrowUp", "2027-06-12"],
    ["ArrowLeft", "2027-06-11"],
  ] as const) {
    await page.keyboard.press(key);
    await expect.poll(at, { message: key }).toBe(to);
  }
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("Friday, June 11, 2027");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await heading("Four days");
  await page.goBack();
  expect(address().searchParams.get("day")).toBe("2027-06-11");

  await page.getByRole("button", { name: "Week", exact: true }).click();
  const week = page.getByRole("grid", { name: "Jun 6 to Jun 12, 2027, in Europe/Berlin" });
  await week.getByRole("link", { name: /Beside two/ }).waitFor();
  const boxes = await Promise.all([/Beside one/, /Beside two/].map((name) => week.getByRole("link", { name }).boundingBox()));
  const [one, two] = boxes;
  if (!one || !two) throw new Error("the windows are not shown");
  expect(one.x + one.width).toBeLessThanOrEqual(two.x + 1);
  expect(await week.getByRole("link", { name: /Over midnight/ }).count()).toBe(2);
  expect(await inspect(page, "calendar-week")).toEqual([]);
  await page.getByRole("button", { name: "Month", exact: true }).click();

  // On a phone the days stand below each other.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("region", { name: "Tuesday, June 22, 2027" }).last().getByText("Crowd 5").waitFor();
  expect(await grid.isVisible()).toBe(false);
  expect(await onPhone("calendar")).toEqual([]);

  // What somebody plans elsewhere appears here within a second.
  await page.goto(`${baseUrl}/maintenance/calendar?day=2027-06-24`);
  await page.getByText("No maintenance on this day.").waitFor();
  await plan("Just planned", "2027-06-24T10:00:00+02:00", "2027-06-24T11:00:00+02:00");
  await grid.getByRole("link", { name: /Just planned/ }).waitFor(second);
  await page.getByRole("link", { name: "Plan a maintenance" }).click();
  expect(await page.getByLabel("Start date").inputValue()).toBe("2027-06-24");
  for (const id of ids) await remove(id);
});

test("several are closed at once, and what was left out is named with its reason", async () => {
  const ids: string[] = [];
  for (const name of ["Bulk one", "Bulk two", "Bulk three"]) ids.push((await create({ title: name })).id);
  await reader.goto(`${baseUrl}/maintenance/config`);
  await reader.getByRole("link", { name: "Bulk three" }).waitFor();
  expect(await reader.getByRole("checkbox").count()).toBe(0);
  await page.goto(`${baseUrl}/maintenance/config?q=bulk`);
  await page.getByRole("checkbox", { name: "Choose Bulk one" }).waitFor();
  await page.getByRole("checkbox", { name: "Choose all of upcoming maintenances" }).press("Space");
  await page.getByText("3 chosen").waitFor();
  expect(await inspect(page, "maintenances-bulk")).toEqual([]);
  expect(await onPhone("maintenances-bulk")).toEqual([]);
  await page.getByRole("region", { name: "Actions for the chosen" }).getByRole("button", { name: "Close" }).press("Enter");
  await heading("Close 3 maintenances?");
  // Somebody is faster with one of them.
  await page.route("**/rest/maintenance/bulkCloseMaintenances", async (route) => {
    await rest(page, "POST", "maintenance/closeMaintenance", { id: ids[0] });
    await route.continue();
  });
  await page.getByRole("alertdialog").getByRole("button", { name: "Close 3 maintenances" }).press("Enter");
  await page.getByText("2 closed, 1 skipped").waitFor();
  expect(await page.getByText("2 closed, 1 skipped").locator("xpath=../..").innerText()).toContain("Bulk one");
  await page.unroute("**/rest/maintenance/bulkCloseMaintenances");
  await page.getByRole("tab", { name: "Past" }).click();
  await page.getByRole("checkbox", { name: "Choose all of past maintenances" }).check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete 3 maintenances" }).click();
  await page.getByText("3 deleted").waitFor();
  await page.getByText("Nothing matches").waitFor();
});

test("filters live in the address, and a long list comes in pages", async () => {
  await page.goto(`${baseUrl}/maintenance/config?tab=past`);
  await page.getByRole("combobox", { name: "System" }).selectOption({ label: "Billing" });
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Cancelled" });
  await page.getByRole("link", { name: "Replace the billing database at last" }).waitFor();
  const link = page.url();
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Completed" });
  await page.getByText("Nothing matches").waitFor();
  await page.goto(link);
  await page.getByRole("link", { name: "Replace the billing database at last" }).waitFor();
  expect(await page.getByLabel("Status", { exact: true }).inputValue()).toBe("cancelled");
  await page.goto(`${baseUrl}/maintenance/system/${billing}/maintenances?tab=past`);
  await heading("Maintenances of Billing");
  await page.getByRole("link", { name: "Replace the billing database at last" }).waitFor();

  const one = (i: number) => ({ id: `01900000-0000-7000-8000-${String(i).padStart(12, "0")}`, title: `Window ${i}`, description: null, status: "scheduled", suppressNotifications: false, startAt: inHours(24 + i), endAt: inHours(25 + i), startedAt: null, endedAt: null, systemIds: [storage], systems: [{ id: storage, name: "Object storage" }], seriesId: null, detached: false, createdAt: inHours(-1), updatedAt: inHours(-1), version: 1 });
  await page.route("**/rest/maintenance/listMaintenances*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    if (query.get("status") !== "scheduled") return route.fulfill({ json: { maintenances: [], nextCursor: null } });
    const from = Number(query.get("cursor") ?? 0);
    return route.fulfill({ json: { maintenances: Array.from({ length: 50 }, (_, i) => one(from + i)), nextCursor: from < 100 ? String(from + 50) : null } });
  });
  await page.goto(`${baseUrl}/maintenance/config`);
  const rows = page.getByRole("table").getByRole("link");
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole("button", { name: "Show later maintenances" }).click();
  await expect.poll(() => rows.count()).toBe(100);
  await page.getByRole("button", { name: "Show later maintenances" }).click();
  await expect.poll(() => rows.count()).toBe(150);
  expect(await page.getByRole("button", { name: "Show later maintenances" }).count()).toBe(0);
  await page.unroute("**/rest/maintenance/listMaintenances*");
});

test("a slow and a failing server are said, on the list, in the calendar and on the page of one", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/rest/maintenance/listMaintenances*", async (route) => {
    await held;
    await route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "unavailable", message: "The database does not answer." }) });
  });
  await page.goto(`${baseUrl}/maintenance/config`);
  await page.getByRole("status", { name: "Loading" }).waitFor();
  release();
  await page.getByText("The maintenances could not be loaded").waitFor();
  expect(await inspect(page, "maintenances-error")).toEqual([]);
  await page.goto(`${baseUrl}/maintenance/calendar`);
  await page.getByText("The maintenances could not be loaded").waitFor();
  expect(await inspect(page, "calendar-error")).toEqual([]);
  await page.unroute("**/rest/maintenance/listMaintenances*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No maintenance on this day.").waitFor();
  for (const id of ["01900000-0000-7000-8000-000000000000", "nonsense"]) {
    await page.goto(`${baseUrl}/maintenance/${id}`);
    await page.getByText("This maintenance does not exist").waitFor();
  }
});

test("FC-037: hostile titles and texts run nothing and are shown as text", async () => {
  const hostile = ["<img src=x onerror=document.title='owned'>", "[a](javascript:document.title='owned')", "<svg onload=document.title='owned'>"];
  for (const text of ["abc\u202Egnp.exe", "\u2066isolated\u2069", "tab\u0007bell"]) {
    const answer = await page.request.post(`${baseUrl}/rest/maintenance/createMaintenance`, { data: { title: text, startAt: inHours(1), endAt: inHours(2), systemIds: [storage] } });
    expect(answer.status(), JSON.stringify(text)).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain("title");
  }
  const ids: string[] = [];
  const wide: string[] = [];
  for (const [i, text] of [...hostile, `${"W".repeat(199)}!`, "صيانة (Billing) 503"].entries()) {
    const { id } = await create({ title: text, description: `${text}\n\n- ${text}\n\n${"x".repeat(400)}` });
    ids.push(id);
    await page.goto(`${baseUrl}/maintenance/${id}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await loaded(page);
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(text);
    expect(await page.title()).not.toBe("owned");
    const main = page.getByRole("main");
    expect(await main.locator("img, script, iframe, [onerror], [onload]").count()).toBe(0);
    expect(await main.locator('a[href^="javascript:"]').count()).toBe(0);
    wide.push(...(await onPhone(`maintenance-hostile-${i}`)), ...(await overflowing(page)));
  }
  for (const [name, where] of [
    ["list", "/maintenance/config"],
    ["calendar", "/maintenance/calendar"],
    ["week", "/maintenance/calendar?view=week"],
    ["system", `/catalog/system/${storage}`],
  ] as const) {
    await page.goto(baseUrl + where);
    await page.getByText("WWWW").first().waitFor({ state: "attached" });
    await loaded(page);
    wide.push(...(await onPhone(`maintenance-hostile-${name}`)), ...(await overflowing(page)));
  }
  expect(wide).toEqual([]);
  await page.goto(`${baseUrl}/maintenance/config`);
  await page.getByText("WWWW").first().waitFor();
  expect(await inspect(page, "maintenances")).toEqual([]);
  for (const id of ids) await remove(id);
});

test("deleting names the maintenance and what goes with it", async () => {
  await page.goto(baseUrl + path);
  await reader.goto(baseUrl + path);
  await heading("Replace the billing database at last", reader);
  await page.getByRole("button", { name: "More actions for this maintenance" }).press("Enter");
  await page.getByRole("menuitem", { name: "Delete maintenance" }).press("Enter");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(/Replace the billing database at last/).waitFor();
  await dialog.getByText(/updates and 1 link go with it/).waitFor();
  expect(await focused()).toBe("Cancel");
  expect(await inspect(page, "maintenance-delete")).toEqual([]);
  await dialog.getByRole("button", { name: "Delete maintenance" }).press("Enter");
  await page.getByText("Nothing planned").waitFor();
  await reader.getByText("This maintenance does not exist").waitFor({ timeout: 2000 });
  for (const id of [billing, storage]) await rest(page, "DELETE", "catalog/deleteSystem", { id });
});

test("the browser had nothing to complain about", () => {
  expect(complaints).toEqual([]);
});
