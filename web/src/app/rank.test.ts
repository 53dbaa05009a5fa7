import { expect, test } from "vitest";
import { rank } from "./rank";

const names = ["Search API", "Payments API", "Replay", "pay-gateway"];

test("every word must occur", () => {
  expect(rank(names, "api pay", (name) => name)).toEqual(["Payments API"]);
  expect(rank(names, "nothing", (name) => name)).toEqual([]);
});

test("a match at the start comes before one inside a word", () => {
  expect(rank(names, "pay", (name) => name)).toEqual(["Payments API", "pay-gateway"]);
  expect(rank(names, "play", (name) => name)).toEqual(["Replay"]);
});

test("an empty query keeps the order", () => {
  expect(rank(names, " ", (name) => name)).toEqual(names);
});
