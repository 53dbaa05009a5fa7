import { expect, test } from "vitest";
import { openAtFirst, sectionsOf, type Health } from "./sections";

const groups = [
  { id: "g1", name: "Shop", description: "money" },
  { id: "g2", name: "Back office", description: null },
];
const systems = [
  { id: "a", name: "Payments", description: null, groupIds: ["g1", "g2"] },
  { id: "b", name: "Search", description: "finds things", groupIds: ["g1"] },
  { id: "c", name: "Wiki", description: null, groupIds: [] },
];
const none = { q: "", group: "", health: "" } as const;
const health = (map: Record<string, Health>) => (id: string) => map[id] ?? "unknown";
const shape = (sections: ReturnType<typeof sectionsOf>) => sections.map((section) => `${section.name}: ${section.systems.map((system) => system.name).join(", ")}`);

test("a system stands under every group it belongs to, the rest is ungrouped", () => {
  expect(shape(sectionsOf(systems, groups, undefined, none))).toEqual(["Back office: Payments", "Shop: Payments, Search", "Ungrouped: Wiki"]);
});

test("unknown is not healthy: the worst member wins and an unmeasured one keeps the section open", () => {
  const [backOffice, shop] = sectionsOf(systems, groups, health({ a: "healthy" }), none);
  expect(backOffice).toMatchObject({ rollup: { state: "healthy", word: "All healthy" } });
  expect(shop).toMatchObject({ rollup: { state: "unknown", word: "1 unknown" } });
  expect(openAtFirst([backOffice, shop].filter((section) => section !== undefined))).toEqual(new Set(["g1"]));
});

test("without a health source there are no rollups and everything is open", () => {
  const sections = sectionsOf(systems, groups, undefined, none);
  expect(sections.every((section) => section.rollup === undefined)).toBe(true);
  expect(openAtFirst(sections).size).toBe(3);
});

test("search looks at names and descriptions, opens hits and drops groups without one", () => {
  expect(shape(sectionsOf(systems, groups, health({ a: "healthy", b: "healthy" }), { ...none, q: "FINDS" }))).toEqual(["Shop: Search"]);
  expect(shape(sectionsOf(systems, groups, undefined, { ...none, q: "money" }))).toEqual(["Shop: Payments, Search"]);
  expect(sectionsOf(systems, groups, undefined, { ...none, q: "nothing" })).toEqual([]);
});

test("filters combine with and", () => {
  const of = health({ a: "unhealthy", b: "healthy" });
  expect(shape(sectionsOf(systems, groups, of, { q: "", group: "g1", health: "unhealthy" }))).toEqual(["Shop: Payments"]);
  expect(shape(sectionsOf(systems, groups, of, { q: "", group: "", health: "unknown" }))).toEqual(["Ungrouped: Wiki"]);
  expect(sectionsOf(systems, groups, of, { q: "search", group: "g1", health: "unhealthy" })).toEqual([]);
});

test("an empty group is listed, an empty ungrouped section is not", () => {
  expect(shape(sectionsOf([], groups, undefined, none))).toEqual(["Back office: ", "Shop: "]);
});

test("of a large catalog the worst sections open, and no more than can be read", () => {
  const section = (id: string, state: Health, n: number) => ({ id, systems: Array.from({ length: n }), rollup: { state } });
  expect(openAtFirst([section("unknown", "unknown", 80), section("worst", "unhealthy", 60), section("some", "degraded", 40), section("fine", "healthy", 5)])).toEqual(new Set(["worst", "some"]));
  // One section is the page, whatever its state and size.
  expect(openAtFirst([section("all", "healthy", 1000)])).toEqual(new Set(["all"]));
});
