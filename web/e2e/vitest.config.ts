import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["e2e/**/*.test.ts"],
    environment: "node",
    // The tests of one file walk one story on one server, in order.
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 60_000,
    bail: 1,
  },
});
