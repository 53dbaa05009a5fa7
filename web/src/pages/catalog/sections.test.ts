import { expect, test } from "vitest";
import { sectionsOf, type Health } from "./sections";

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
  expect(backOffice).toMatchObject({ rollup: { state: "healthy", word: "All healthy" }, open: false });
  expect(shop).toMatchObject({ rollup: { state: "unknown", word: "1 unknown" }, open: true });
});

test("without a health source there are no rollups and everything is open", () => {
  expect(sectionsOf(systems, groups, undefined, none).every((section) => section.open && section.rollup === undefined)).toBe(true);
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
