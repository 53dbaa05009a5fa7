import { expect, test } from "vitest";
import { foldSeries } from "./folding";

test("of a series the first stands for the rest, others stay apart", () => {
  const rows = [
    { id: "1", seriesId: "s" },
    { id: "2", seriesId: null },
    { id: "3", seriesId: "s" },
    { id: "4", seriesId: "t" },
    { id: "5", seriesId: null },
    { id: "6", seriesId: "s" },
  ];
  expect(foldSeries(rows).map(({ row, more }) => `${row.id}+${more}`)).toEqual(["1+2", "2+0", "4+0", "5+0"]);
});
