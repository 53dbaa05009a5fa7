import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readWall } from "../src/ui/zone";
import { baseUrl, ensureAdmin, inspect, launch, openSignedIn, rest } from "./support";

// The same instants for people in four places, and the hours in which clocks
// are moved. Field cases A of windows: FC-001 to FC-003.

type Maintenance = { id: string; title: string; startAt: string; endAt: string };

const places = ["Europe/Berlin", "Asia/Tokyo", "Asia/Kolkata", "America/St_Johns"] as const;
type Place = (typeof places)[number];

let browser: Browser;
const pages = new Map<Place, Page>();
const complaints: string[][] = [];
const on = (place: Place) => pages.get(place) as Page;
let system = "";
const made: string[] = [];

beforeAll(async () => {
  browser = await launch();
  await ensureAdmin();
  for (const timezoneId of places) {
    const opened = await openSignedIn(browser, { timezoneId });
    pages.set(timezoneId, opened.page);
    complaints.push(opened.complaints);
  }
  system = (await rest<{ id: string }>(on("Europe/Berlin"), "POST", "catalog/createSystem", { name: "Ledger of zones" })).id;
});

afterAll(async () => {
  for (const id of made) await rest(on("Europe/Berlin"), "DELETE", "maintenance/deleteMaintenance", { id });
  await rest(on("Europe/Berlin"), "DELETE", "catalog/deleteSystem", { id: system });
  await browser.close();
});

async function create(startAt: string, endAt: string, title: string): Promise<Maintenance> {
  const maintenance = await rest<Maintenance>(on("Europe/Berlin"), "POST", "maintenance/createMaintenance", { title, startAt, endAt, systemIds: [system] });
  made.push(maintenance.id);
  return maintenance;
}

const stored = (id: string) => rest<Maintenance>(on("Europe/Berlin"), "GET", `maintenance/getMaintenance?id=${id}`);
const instants = ({ startAt, endAt }: Maintenance) => [new Date(startAt).toISOString(), new Date(endAt).toISOString()];

/** The texts of a row of facts on the page of a maintenance. */
const fact = (page: Page, label: string) => page.locator("dl > div").filter({ has: page.locator("dt", { hasText: new RegExp(`^${label}$`) }) }).locator("dd").first();

test("FC-001: what was written with an offset is shown by the clocks of each reader", async () => {
  const { id } = await create("2026-06-01T10:00:00+02:00", "2026-06-01T11:30:00+02:00", "Written with an offset");
  expect(instants(await stored(id))).toEqual(["2026-06-01T08:00:00.000Z", "2026-06-01T09:30:00.000Z"]);
  const expected: Record<Place, [string, string, string]> = {
    "Europe/Berlin": ["10:00", "11:30", "UTC+02:00"],
    "Asia/Tokyo": ["17:00", "18:30", "UTC+09:00"],
    "Asia/Kolkata": ["13:30", "15:00", "UTC+05:30"],
    "America/St_Johns": ["05:30", "07:00", "UTC-02:30"],
  };
  for (const place of places) {
    const page = on(place);
    const [start, end, offset] = expected[place];
    await page.goto(`${baseUrl}/maintenance/${id}`);
    await page.getByRole("heading", { level: 1, name: "Written with an offset" }).waitFor();
    expect(await fact(page, "Start").innerText(), place).toContain(`Jun 1, 2026, ${start} ${place} (${offset}) · 08:00 UTC`);
    expect(await fact(page, "End").innerText(), place).toContain(`Jun 1, 2026, ${end} ${place} (${offset}) · 09:30 UTC`);
    await page.goto(`${baseUrl}/maintenance/config?tab=past&q=written`);
    await page.getByText(`${start} to ${end}`).waitFor();
    await page.getByText(`Times in ${place}`).waitFor();
    await page.goto(`${baseUrl}/maintenance/calendar?day=2026-06-01`);
    await page.getByRole("region", { name: "Monday, June 1, 2026" }).getByText(`${start} to ${end}`).waitFor();
  }
  expect(await inspect(on("Asia/Tokyo"), "zones-tokyo")).toEqual([]);
});

test("FC-001: a time without an offset is refused by name, never guessed", async () => {
  const answer = await on("Asia/Tokyo").request.post(`${baseUrl}/rest/maintenance/createMaintenance`, { data: { title: "No offset", startAt: "2026-06-01T10:00:00", endAt: "2026-06-01T11:30:00+02:00", systemIds: [system] } });
  expect(answer.status()).toBe(400);
  const { issues } = (await answer.json()) as { issues: { path: string; message: string }[] };
  expect(issues).toMatchObject([{ path: "startAt", message: expect.stringMatching(/offset/) as string }]);
});

test.each([
  ["Asia/Kolkata", "2027-06-10T04:30:00.000Z", "2027-06-10T05:30:00.000Z", "2027-06-11T04:30:00.000Z", "2027-06-11T05:30:00.000Z"],
  ["America/St_Johns", "2027-06-10T12:30:00.000Z", "2027-06-10T13:30:00.000Z", "2027-06-11T12:30:00.000Z", "2027-06-11T13:30:00.000Z"],
] as const)("FC-002: in %s opening and saving a form moves nothing, another day keeps the time of day", async (place, start, end, nextStart, nextEnd) => {
  const page = on(place);
  await page.goto(`${baseUrl}/maintenance/new?systemId=${system}`);
  await page.getByLabel("Title").fill("Ten to eleven");
  await page.getByLabel("Start date").fill("2027-06-10");
  await page.getByLabel("Start time").fill("10:00");
  // The end went along with the start.
  expect(await page.getByLabel("End date").inputValue()).toBe("2027-06-10");
  expect(await page.getByLabel("End time").inputValue()).toBe("11:00");
  await page.getByRole("button", { name: "Plan maintenance" }).click();
  await page.getByRole("heading", { level: 1, name: "Ten to eleven" }).waitFor();
  const id = new URL(page.url()).pathname.split("/")[2] ?? "";
  made.push(id);
  expect(instants(await stored(id))).toEqual([start, end]);
  for (const title of ["Ten to eleven, once", "Ten to eleven, twice", "Ten to eleven, three times"]) {
    await page.goto(`${baseUrl}/maintenance/${id}/edit`);
    await page.getByLabel("Title").fill(title);
    const sent = page.waitForRequest((request) => request.url().includes("updateMaintenance"));
    await page.getByRole("button", { name: "Save changes" }).click();
    expect(Object.keys((await sent).postDataJSON() as object).sort()).toEqual(["id", "title", "version"]);
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    expect(instants(await stored(id))).toEqual([start, end]);
  }
  await page.goto(`${baseUrl}/maintenance/${id}/edit`);
  await page.getByLabel("Start date").fill("2027-06-11");
  await page.getByLabel("End date").fill("2027-06-11");
  expect([await page.getByLabel("Start time").inputValue(), await page.getByLabel("End time").inputValue()]).toEqual(["10:00", "11:00"]);
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { level: 1, name: "Ten to eleven, three times" }).waitFor();
  expect(instants(await stored(id))).toEqual([nextStart, nextEnd]);
});

test("FC-002: seconds that no field shows survive another title and another day", async () => {
  const page = on("Asia/Kolkata");
  const { id } = await create("2027-06-10T04:30:07.250Z", "2027-06-10T05:30:07.250Z", "With seconds");
  await page.goto(`${baseUrl}/maintenance/${id}/edit`);
  await page.getByLabel("Start date").fill("2027-06-12");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { level: 1, name: "With seconds" }).waitFor();
  expect(instants(await stored(id))).toEqual(["2027-06-12T04:30:07.250Z", "2027-06-12T05:30:07.250Z"]);
});

test("FC-003 (a): the hour that does not exist is refused, and what it would be is offered", async () => {
  const page = on("Europe/Berlin");
  await page.goto(`${baseUrl}/maintenance/new?systemId=${system}`);
  await page.getByLabel("Title").fill("In the missing hour");
  await page.getByLabel("Start date").fill("2026-03-29");
  await page.getByLabel("Start time").fill("02:30");
  await page.getByText("02:30 does not exist on this day in Europe/Berlin").waitFor();
  expect(await page.getByLabel("Start time").getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("button", { name: "Plan maintenance" }).click();
  await page.getByRole("alert").getByText(/Start: does not exist/).waitFor();
  expect(await inspect(page, "zones-missing")).toEqual([]);
  await page.getByRole("button", { name: "Use 03:30 (UTC+02:00)" }).press("Enter");
  await page.getByText(/Mar 29, 2026, 03:30 UTC\+02:00 · 01:30 UTC/).waitFor();
  await page.getByRole("button", { name: "1 h", exact: true }).click();
  await page.getByText("Lasts 1 h", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Plan maintenance" }).click();
  await page.getByRole("heading", { level: 1, name: "In the missing hour" }).waitFor();
  const id = new URL(page.url()).pathname.split("/")[2] ?? "";
  made.push(id);
  expect(instants(await stored(id))).toEqual(["2026-03-29T01:30:00.000Z", "2026-03-29T02:30:00.000Z"]);
});

test("FC-003 (b): of the hour that comes twice the form asks which, and stores the one it shows", async () => {
  const page = on("Europe/Berlin");
  const ids: string[] = [];
  for (const [which, instant, offset] of [
    ["first", "2026-10-25T00:30:00.000Z", "UTC+02:00"],
    ["second", "2026-10-25T01:30:00.000Z", "UTC+01:00"],
  ] as const) {
    await page.goto(`${baseUrl}/maintenance/new?systemId=${system}`);
    await page.getByLabel("Title").fill(`In the ${which} of two hours`);
    await page.getByLabel("Start date").fill("2026-10-25");
    await page.getByLabel("Start time").fill("02:30");
    const asked = page.getByRole("radiogroup", { name: "Which 02:30 is meant" }).first();
    await asked.waitFor();
    expect(await asked.getByRole("radio", { checked: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Plan maintenance" }).click();
    await page.getByRole("alert").getByText(/Start: comes twice/).waitFor();
    if (which === "first") expect(await inspect(page, "zones-doubled")).toEqual([]);
    await asked.getByRole("radio", { name: new RegExp(`^The ${which}, 02:30 ${offset.replace("+", "\\+")}`) }).check();
    await page.getByText(new RegExp(`Oct 25, 2026, 02:30 ${offset.replace("+", "\\+")} · `)).waitFor();
    await page.getByRole("button", { name: "30 min", exact: true }).click();
    await page.getByRole("button", { name: "Plan maintenance" }).click();
    await page.getByRole("heading", { level: 1, name: `In the ${which} of two hours` }).waitFor();
    const id = new URL(page.url()).pathname.split("/")[2] ?? "";
    made.push(id);
    ids.push(id);
    expect((await stored(id)).startAt.replace("Z", ".000Z")).toBe(instant);
    expect(await fact(page, "Start").innerText()).toContain(`02:30 Europe/Berlin (${offset})`);
  }
  // Opened again it is settled which one it is.
  await page.goto(`${baseUrl}/maintenance/${ids[1] ?? ""}/edit`);
  await page.getByRole("radio", { name: /^The second, 02:30/, checked: true }).waitFor();
});

test("FC-003 (c): a window over the missing hour lasts as long as the time that passes", async () => {
  const { id } = await create("2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "Over the change");
  const { startAt, endAt } = await stored(id);
  expect(Date.parse(endAt) - Date.parse(startAt)).toBe(3_600_000);
  const page = on("Europe/Berlin");
  await page.goto(`${baseUrl}/maintenance/${id}`);
  await page.getByRole("heading", { level: 1, name: "Over the change" }).waitFor();
  expect(await fact(page, "Start").innerText()).toContain("01:30 Europe/Berlin (UTC+01:00)");
  expect(await fact(page, "End").innerText()).toContain("03:30 Europe/Berlin (UTC+02:00)");
  expect(await fact(page, "Length").innerText()).toBe("1 h");
  await page.goto(`${baseUrl}/maintenance/calendar?day=2026-03-29`);
  await page.getByRole("gridcell", { name: /^Sunday, March 29, 2026, .*clocks go forward/ }).waitFor();
});

test("form and server read wall clocks alike, wherever clocks are moved", async () => {
  const changes: [string, string][] = [
    ["Europe/Berlin", "2026-03-29"],
    ["Europe/Berlin", "2026-10-25"],
    ["America/St_Johns", "2026-03-08"],
    ["America/St_Johns", "2026-11-01"],
    ["Australia/Lord_Howe", "2026-04-05"],
    ["Australia/Lord_Howe", "2026-10-04"],
    ["America/Sao_Paulo", "2018-11-04"],
    ["Africa/Cairo", "2026-04-24"],
    ["Africa/Casablanca", "2026-02-15"],
    ["Pacific/Apia", "2011-12-30"],
    ["Asia/Kathmandu", "1986-01-01"],
    ["Asia/Kolkata", "2026-06-01"],
    ["Pacific/Chatham", "2026-09-27"],
  ];
  const page = on("Europe/Berlin");
  for (const [timeZone, date] of changes) {
    for (const time of ["00:00", "00:10", "00:30", "01:00", "01:30", "01:45", "02:00", "02:15", "02:30", "02:59", "03:00", "03:30", "23:59"]) {
      const answer = await rest<{ kind: string; instants: { at: string }[] }>(page, "GET", `maintenance/checkLocalTime?timeZone=${encodeURIComponent(timeZone)}&local=${date}T${time}`);
      const clock = readWall({ date, time }, timeZone);
      const mine = clock.kind === "unique" ? [clock.at] : clock.kind === "doubled" ? [clock.first, clock.second] : clock.kind === "missing" ? [clock.later, clock.earlier] : [];
      expect({ kind: clock.kind, instants: mine }, `${timeZone} ${date} ${time}`).toEqual({ kind: answer.kind, instants: answer.instants.map((each) => Date.parse(each.at)) });
    }
  }
});

test("a series follows the clocks of its zone, for a reader anywhere", async () => {
  const page = on("Asia/Tokyo");
  await page.goto(`${baseUrl}/maintenance/new?systemId=${system}`);
  await page.getByLabel("Title").fill("Nightly restart");
  await page.getByLabel("Time zone").selectOption("Europe/Berlin");
  await page.getByLabel("Start date").fill("2027-03-24");
  await page.getByLabel("Start time").fill("02:30");
  await page.getByRole("button", { name: "30 min", exact: true }).click();
  await page.getByLabel("Repeats").selectOption({ label: "Daily" });
  const preview = page.getByRole("region", { name: "The next occurrences" });
  await preview.getByText("Mar 28, 2027, 03:30").waitFor();
  await preview.getByText("Clocks go forward and leave out 02:30: starts at 03:30.").waitFor();
  const rows = await preview.getByRole("listitem").allInnerTexts();
  expect(rows).toHaveLength(10);
  expect(rows[0]).toMatch(/Mar 24, 2027, 02:30 to 03:00 UTC\+01:00[\s\S]*10:30 to 11:00 Asia\/Tokyo/);
  expect(rows[5]).toMatch(/Mar 29, 2027, 02:30 to 03:00 UTC\+02:00[\s\S]*09:30 to 10:00 Asia\/Tokyo/);
  expect(await inspect(page, "zones-series")).toEqual([]);
  await page.getByRole("button", { name: "Plan series" }).click();
  await page.getByRole("heading", { level: 1, name: "Nightly restart" }).waitFor();
  const id = new URL(page.url()).pathname.split("/")[2] ?? "";
  const { series, ...first } = await rest<Maintenance & { series: { id: string } }>(page, "GET", `maintenance/getMaintenance?id=${id}`);
  expect(instants(first)).toEqual(["2027-03-24T01:30:00.000Z", "2027-03-24T02:00:00.000Z"]);
  await page.getByText("by the clocks of Europe/Berlin").waitFor();
  await rest(page, "DELETE", "maintenance/deleteSeries", { id: series.id });
});

test("the browsers had nothing to complain about", () => {
  expect(complaints.flat()).toEqual([]);
});
