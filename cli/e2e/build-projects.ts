/**
 * Vitest's global set-up: builds the projects of the tests with the real command, if they are older than their sources.
 */
import { spawnSync } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  callsProject,
  echoProject,
  everyProject,
  faultsProject,
  fetchProject,
  helloProject,
  referenceOf,
  root,
  streamsProject,
  tenon,
} from "./servers.ts";

export default async function setup(): Promise<void> {
  // Plain JavaScript, because it also has to run before anything is compiled.
  const { isStale } = (await import("../../scripts/setup.mjs" as string)) as {
    isStale(result: string, sources: string[]): boolean;
  };
  const foreign = "cli/e2e/fixtures/foreign";
  if (isStale(`${foreign}/dist/foreign.wasm`, [`${foreign}/handler.js`, `${foreign}/world.wit`, "package-lock.json"])) {
    command([join(root, foreign, "build.mjs")], root);
  }
  for (const [project, name] of [
    [callsProject, "calls"],
    [echoProject, "echo"],
    [helloProject, "hello"],
    [everyProject, "every"],
    [faultsProject, "faults"],
    [fetchProject, "fetch"],
    [streamsProject, "streams"],
  ] as const) {
    const folder = project.slice(root.length);
    const sources = [
      `${folder}/src`,
      `${folder}/tenon.toml`,
      "ts-sdk/dist",
      "cli/dist",
      "guest/dist",
      "wit",
      "crates/bridge/bridge.wasm",
      "crates/engine/engine.wasm",
    ];
    if (isStale(`${folder}/dist/${name}-composed.wasm`, sources)) command([tenon, "build", "-rc"], project);
    if (project !== echoProject && project !== helloProject) continue;
    const copy = referenceOf(project);
    if (!isStale(`${copy.slice(root.length)}/dist/${name}.wasm`, sources)) continue;
    await mkdir(copy, { recursive: true });
    for (const part of ["src", "tenon.toml"]) await cp(join(project, part), join(copy, part), { recursive: true });
    command([tenon, "build", "-r", "--reference"], copy);
  }
}

function command(args: readonly string[], cwd: string): void {
  const { status } = spawnSync(process.execPath, [...args], { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${args.join(" ")} failed in ${cwd}`);
}
