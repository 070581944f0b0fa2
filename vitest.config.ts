import { defineConfig } from "vitest/config";

const shared = { environment: "node" as const, retry: 0, passWithNoTests: false };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["server/**/*.test.ts", "app/**/*.test.ts", "components/**/*.test.ts"],
          exclude: ["**/*.int.test.ts", "**/*.long.test.ts", "node_modules/**"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["server/**/*.int.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          globalSetup: ["server/testing/global-setup.ts"],
          maxWorkers: 3,
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
