import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";

// The files share one server. The newcomer needs it fresh, so the order is fixed.
const order = ["newcomer", "interop", "assistant", "trouble", "incident", "maintenance", "zones", "approvals", "agents", "knowledge", "pictures"];

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]) {
    const rank = (file: TestSpecification) => order.findIndex((name) => file.moduleId.includes(`/${name}.test.`));
    return Promise.resolve([...files].sort((a, b) => rank(a) - rank(b)));
  }
}

// The interface is the same on both databases: after the whole walk on one, the
// other gets the newcomer's path and the chat's protocol. Pictures for the documentation are made on demand.
const files = { postgres: ["newcomer", "interop"], pictures: ["pictures"] }[process.env.CHECKSTACK_E2E_NAME ?? ""] ?? ["newcomer", "interop", "assistant", "trouble", "incident", "maintenance", "zones", "approvals", "agents", "knowledge"];

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: files.map((name) => `e2e/${name}.test.ts`),
    environment: "node",
    // The tests of one file walk one story on one server, in order.
    fileParallelism: false,
    sequence: { sequencer: InOrder },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    bail: 1,
  },
});
