/** Vitest's global set-up: builds what the tests serve, with the real command, when it is older than its sources. */
import { spawnSync } from "node:child_process";
import { echoProject, helloProject, root, tenon } from "./servers.ts";

export default async function setup(): Promise<void> {
  // Plain JavaScript, because it also has to run before anything is compiled.
  const { isStale } = (await import("../../scripts/setup.mjs" as string)) as {
    isStale(result: string, sources: string[]): boolean;
  };
  for (const [project, name] of [
    [echoProject, "echo"],
    [helloProject, "hello"],
  ] as const) {
    const folder = project.slice(root.length);
    const sources = [
      `${folder}/src`,
      `${folder}/tenon.toml`,
      "ts-sdk/dist",
      "cli/dist",
      "wit",
      "crates/bridge/bridge.wasm",
    ];
    if (!isStale(`${folder}/dist/${name}-composed.wasm`, sources)) continue;
    const { status } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: project, stdio: "inherit" });
    if (status !== 0) throw new Error(`tenon build -rc failed in ${folder}`);
  }
}
