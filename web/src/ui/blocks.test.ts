import { expect, test } from "vitest";
import { splitBlocks } from "./blocks";

test("blank lines separate blocks", () => {
  expect(splitBlocks("one\ntwo\n\nthree")).toEqual(["one\ntwo", "three"]);
  expect(splitBlocks("")).toEqual([]);
});

test("fenced code stays whole, also while it is still open", () => {
  expect(splitBlocks("```\na\n\nb\n```\n\nafter")).toEqual(["```\na\n\nb\n```", "after"]);
  expect(splitBlocks("```\na\n\nb")).toEqual(["```\na\n\nb"]);
});

test("a loose list is one block, so its numbers go on", () => {
  expect(splitBlocks("1. a\n\n2. b\n\nafter")).toEqual(["1. a\n\n2. b", "after"]);
  expect(splitBlocks("- a\n\n  more of a\n\nafter")).toEqual(["- a\n\n  more of a", "after"]);
});
