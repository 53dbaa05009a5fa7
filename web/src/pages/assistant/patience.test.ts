import { expect, test } from "vitest";
import { patiently } from "./patience";

test("a broken line is tried again, and what then comes is taken", async () => {
  let tries = 0;
  const ask = () => (++tries < 3 ? Promise.reject(new TypeError("Failed to fetch")) : Promise.resolve("here"));
  expect(await patiently(ask, [0, 0, 0])).toBe("here");
  expect(tries).toBe(3);
});

test("a refusal is an answer, and a line that stays broken is told in the end", async () => {
  let tries = 0;
  const fail = (error: Error) => () => {
    tries++;
    return Promise.reject(error);
  };
  await expect(patiently(fail(new Error("403")), [0, 0])).rejects.toThrow("403");
  expect(tries).toBe(1);
  tries = 0;
  await expect(patiently(fail(new TypeError("Failed to fetch")), [0, 0])).rejects.toThrow("Failed to fetch");
  expect(tries).toBe(3);
});
