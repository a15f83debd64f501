import { defineConfig } from "vitest/config";

/** All TypeScript tests of the workspace, in one run. */
export default defineConfig({
  test: {
    projects: [
      {
        test: { name: "sdk", root: "ts-sdk", include: ["src/**/*.test.ts", "test/**/*.test.ts"], testTimeout: 60_000 },
      },
      { test: { name: "cli", root: "cli", include: ["src/**/*.test.ts"], testTimeout: 30_000 } },
      { test: { name: "hello", root: "examples/hello", include: ["test/**/*.test.ts"] } },
      {
        test: {
          name: "e2e",
          root: "cli/e2e",
          include: ["**/*.test.ts"],
          globalSetup: "./build-projects.ts",
          // Real builds, real servers: each file has the machine to itself.
          fileParallelism: false,
          // Compiling a component for the first time, or building one, takes a minute on a busy machine.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
