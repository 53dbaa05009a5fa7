import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";

// The files share one server. The newcomer needs it fresh, so the order is fixed.
const order = ["newcomer", "interop", "assistant", "trouble", "incident"];

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]) {
    const rank = (file: TestSpecification) => order.findIndex((name) => file.moduleId.includes(`/${name}.test.`));
    return Promise.resolve([...files].sort((a, b) => rank(a) - rank(b)));
  }
}

// The interface is the same on both databases: after the whole walk on one, the
// other gets the newcomer's path. Stories that begin with nothing of their kind
// have a server each, named after them. Pictures for the documentation are made
// on demand.
const walks: Record<string, string[]> = { postgres: ["newcomer", "interop"], sqlite: ["newcomer", "interop", "assistant", "trouble", "incident"] };
const name = process.env.CHECKSTACK_E2E_NAME ?? "sqlite";
const files = walks[name] ?? [name];

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
