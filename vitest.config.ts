import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take most of a minute or more, the longest first: started late, they would run alone at the end. */
const LONG = [
  ...["sandbox/main.", "invariants.", "crash-matrix-", "operator.", "sandbox/world."],
  ...[
    "mechanisms.",
    "two-instances.",
    "refunds-chain.",
    "solana-faults.",
    "webhook-faults.",
    "native.int.",
  ],
  ...["api-states.", "refunds.int.", "explain.", "two-workers.", "bad-input-gateway."],
  ...["keys.int.", "merchant-terms.", "error-matrix.", "limits.", "postgres.", "crowd."],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((name) => moduleId.includes(name));
      return found === -1 ? LONG.length : found;
    };
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

const shared = { environment: "node" as const, retry: 0, passWithNoTests: false };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["server/**/*.test.ts", "app/**/*.test.ts", "components/**/*.test.ts"],
          exclude: ["**/*.int.test.ts", "**/*.long.test.ts", "node_modules/**"],
          testTimeout: 20_000,
          // Nothing here keeps state between files: modules are loaded once for a worker.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["server/**/*.int.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          globalSetup: ["server/testing/global-setup.ts"],
          // Most of a test's time goes by while it waits for blocks: six worlds keep two cores busy.
          maxWorkers: 6,
          // Loading modules anew for each file takes longer than many of the tests.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: "long",
          include: ["server/**/*.long.test.ts"],
          testTimeout: 1_800_000,
          hookTimeout: 120_000,
          globalSetup: ["server/testing/global-setup.ts"],
          maxWorkers: 1,
        },
      },
    ],
  },
});
