import type { Command } from "commander";
import { defaultCacheFolder } from "../cache-folder.ts";
import type { Check } from "../doctor/check.ts";
import { exitCode, failureToTell } from "../errors.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import { defaultConfig } from "../project/config.ts";
import { configFile, findProject, type Project } from "../project/project.ts";
import { Terminal } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly json?: boolean;
}

/** `tenon doctor`: whether everything that Tenon needs is there. */
export function doctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .summary("check that everything tenon needs is there")
    .description(
      "Checks Node, the addon, the engine, the kernel, the cache folder, the ports of `tenon dev` and the project, and says " +
        "what to do about what is missing. The exit code is 1 when something does not work.",
    )
    .option("--json", "print the findings as JSON");
  withCommonOptions(command).action(async (options: Options) => {
    const checks = await everyCheck();
    if (options.json) process.stdout.write(`${JSON.stringify(checks)}\n`);
    else print(checks, options);
    if (checks.some(({ state }) => state === "error")) process.exitCode = exitCode.failed;
  });
}

async function everyCheck(): Promise<Check[]> {
  const { installationChecks } = await import("../doctor/installed.ts");
  const { kernelChecks } = await import("../doctor/kernel.ts");
  const { cacheCheck } = await import("../doctor/cache.ts");
  const { portCheck } = await import("../doctor/ports.ts");
  const { servicesPort } = await import("../dev/ports.ts");
  const { project, checks: projectChecks } = await projectHere();
  const { host, port } = (project?.config ?? defaultConfig(process.env)).server;
  return [
    ...installationChecks(),
    ...kernelChecks(),
    await cacheCheck(defaultCacheFolder()),
    await portCheck("port", host, port, "choose another one with --port, or as `server.port` in tenon.toml"),
    await portCheck("services", "127.0.0.1", servicesPort, "end what listens there if that port matters to you"),
    ...projectChecks,
  ];
}

/** The project that contains the working folder, if any, and its problems. */
async function projectHere(): Promise<{ project?: Project; checks: Check[] }> {
  const { note, error } = await import("../doctor/check.ts");
  const { projectChecks } = await import("../doctor/project.ts");
  try {
    const project = await findProject(process.cwd());
    if (project !== undefined) return { project, checks: projectChecks(project) };
    return {
      checks: [
        note(
          "project",
          `there is no ${configFile} here`,
          "make one with `tenon new <name>`; `tenon init` adds Tenon to an existing app",
        ),
      ],
    };
  } catch (thrown) {
    const told = failureToTell(thrown);
    if (told === undefined) throw thrown;
    return { checks: [error("project", told.message, told.hint)] };
  }
}

/** The findings are data, so they go to standard output. */
function print(checks: readonly Check[], { quiet, verbose }: Options): void {
  const terminal = new Terminal(verbose ? "verbose" : "normal", process.stdout);
  for (const { name, state, found, todo } of checks) {
    if (quiet && state !== "error") continue;
    terminal.say(`${terminal.mark(state)} ${terminal.bold(name.padEnd(13))} ${found}`);
    if (todo !== undefined) terminal.say(`${" ".repeat(20)} ${terminal.dim("→")} ${todo}`);
  }
}
