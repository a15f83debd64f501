import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { LeftOut } from "./testing/left-out.ts";
import { wasm } from "./ts-sdk/src/testing/wasm.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

const reporters = ["default", new LeftOut()];

/** Times to wait for conditions on a machine that runs several files at once, unless a project has others. */
const patience = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

const declared: TestProjectInlineConfiguration[] = [
  {
    test: { name: "sdk", root: "ts-sdk", include: ["src/**/*.test.ts", "test/**/*.test.ts"], testTimeout: 60_000 },
  },
  { test: { name: "guest", root: "guest", include: ["src/**/*.test.ts"] } },
  { test: { name: "engine", root: "crates/engine", include: ["tests/**/*.test.ts"], testTimeout: 120_000 } },
  { test: { name: "bench", root: "bench", include: ["**/*.test.ts"] } },
  { test: { name: "cli", root: "cli", include: ["src/**/*.test.ts"] } },
  // A realm of its own, as in Jest: what Node makes is of other classes than those that the tests see.
  { test: { name: "realm", root: "cli/test/realm", include: ["*.test.ts"], pool: "vmThreads" } },
  { test: { name: "testing", root: "testing", include: ["*.test.ts"], testTimeout: 60_000 } },
  {
    test: {
      name: "compared",
      root: "examples/compared",
      include: ["test/**/*.test.ts"],
      testTimeout: 60_000,
    },
  },
  { test: { name: "hello", root: "examples/hello", include: ["test/**/*.test.ts"] } },
  { test: { name: "hono", root: "examples/hono-app", include: ["test/**/*.test.ts"] } },
  { test: { name: "realworld", root: "examples/realworld", include: ["test/**/*.test.ts"] } },
  { test: { name: "rest", root: "examples/rest", include: ["test/**/*.test.ts"] } },
  { test: { name: "scripts", root: "examples/scripts", include: ["test/**/*.test.js"] } },
  { test: { name: "shop", root: "examples/shop", include: ["test/**/*.test.ts"] } },
  { plugins: [wasm()], test: { name: "wasm", root: "examples/wasm", include: ["test/**/*.test.ts"] } },
  { test: { name: "webhooks", root: "examples/webhooks", include: ["test/**/*.test.ts"] } },
  {
    test: {
      name: "services",
      root: "cli/test/services",
      include: ["**/*.test.ts"],
      // Each file starts databases of its own.
      fileParallelism: false,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 30_000 } },
    },
  },
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
      expect: { poll: { timeout: 30_000 } },
      sequence: { groupOrder: 1 },
    },
  },
];

const projects = declared.map((project) => ({ ...project, test: { ...patience, ...project.test } }));

/**
 * All TypeScript tests of the workspace, in one run. Vitest takes this file also where it is started in a folder below,
 * such as `npx vitest run -t __sdk_write_schema` in an example: then the tests of that folder alone are meant.
 */
export default defineConfig(() => {
  const cwd = process.cwd();
  if (cwd === resolve(root)) return { test: { projects, reporters } };
  const here = projects.find(({ test }) => resolve(root, String(test?.root)) === cwd);
  return here === undefined ? {} : { test: { ...here.test, reporters, root: cwd } };
});
