/** The server behaves as the OpenAPI document describes: schemathesis, with all of its checks, against `tenon run`. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { everyProject, helloProject, type Running, root, startTenon } from "./servers.ts";

/** The working folder of the server, and of schemathesis, which stores its requests there. */
const cwd = join(root, "cli/e2e/.tenon/schemathesis");

const needs = "schemathesis" as const;
const cases = [
  // All checks but those that its configuration gives reasons against.
  { needs, module: "hello", project: helloProject, config: "schemathesis-hello.toml" },
  { needs, module: "every", project: everyProject, config: "schemathesis-every.toml" },
];

describeEach("$module", cases, ({ module, project, config }) => {
  let running: Running;
  beforeAll(async () => {
    // One instance answers all requests, because hello keeps its users in memory, and by default each request has its
    // own instance.
    const server = '[server]\nisolation = "shared"\nmax_reuse = 1000000000\nmax_concurrent = 1\n';
    await mkdir(cwd, { recursive: true });
    await writeFile(join(cwd, "tenon.toml"), `[project]\nname = "shared"\n${server}`);
    running = await startTenon([join(project, `dist/${module}.wasm`)], module, cwd);
  });
  afterAll(() => running.stop());

  test("answers as its document says", async () => {
    const configuration = ["--config-file", join(root, "cli/e2e/fixtures", config)];
    // Without what earlier runs have found, so that each run of a commit sends the same.
    const generation = ["--max-examples", "15", "--seed", "1", "--generation-database", "none"];
    const output = ["--no-color", "--warnings", "off"];
    const where = [join(project, "openapi.json"), "--url", running.base];
    const args = [...configuration, "run", ...where, ...generation, ...output];
    // It ends with a failure when it has found one; its report says which, and how to see it again.
    const { stdout } = await promisify(execFile)(findProgram(needs) as string, args, { cwd, maxBuffer: 2 ** 26 }).catch(
      (failed: { stdout: string }) => failed,
    );
    expect(stdout).toMatch(/(\d{3,}) generated, \1 passed(?:, \d+ skipped)?\n/);
    expect(stdout).toContain("No issues found");
  });
});
