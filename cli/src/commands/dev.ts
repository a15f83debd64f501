import type { Command } from "commander";
import { openBrowser } from "../dev/browser.ts";
import { type KeyActions, keyHelp, listenForKeys } from "../dev/keys.ts";
import type { DevRecording } from "../dev/recording.ts";
import type { DevSession } from "../dev/session.ts";
import { exitCode, TenonError } from "../errors.ts";
import { Lifecycle, stopping } from "../lifecycle.ts";
import { type CommonOptions, parseHost, parsePort, terminalFor, withCommonOptions } from "../options.ts";
import { type Project, requireProject } from "../project/project.ts";
import type { Terminal } from "../terminal.ts";
import { visible } from "../visible.ts";

interface Options extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly fresh?: boolean;
  readonly recording?: string;
}

/** `tenon dev`: serve the project while it is worked on. */
export function devCommand(program: Command): void {
  const command = program
    .command("dev")
    .summary("serve the project while working on it")
    .description(
      "Builds the project and serves it under /run/<name>/. When a source changes it is built again, and takes the place of " +
        "the last build without a request being dropped; while it cannot be built, the last build goes on serving and the " +
        "error is shown here and in the browser. Responses that do not match their declared types are answered with 500.",
    )
    .option("-p, --port <number>", "port to listen on, or fail; otherwise the next free one is taken", parsePort)
    .option("--host <host>", "address to listen on", parseHost)
    .option("--fresh", "let the development services begin with nothing")
    .option("--recording <file>", "a recorded request to step through in the browser, and to compare each build with");
  withCommonOptions(command).action(async (options: Options) => {
    const terminal = terminalFor(options);
    const project = await requireProject(process.cwd());
    const { DevSession } = await import("../dev/session.ts");
    const recording = options.recording === undefined ? undefined : await recordingOf(options.recording, project);
    const lifecycle = new Lifecycle();
    const session = new DevSession(
      project,
      { host: options.host, port: options.port, fresh: options.fresh === true, ...(recording && { recording }) },
      terminal,
    );
    const giveBack = listenForKeys(process.stdin, actions(session, lifecycle, terminal));
    process.once("exit", giveBack);
    try {
      // Whatever comes first: a failure to start, or the end.
      const isStarted = await Promise.race([session.start().then(() => true), lifecycle.ended.then(() => false)]);
      if (isStarted) announce(session, terminal);
      process.exitCode = await lifecycle.ended;
      terminal.note("Stop", stopping);
    } finally {
      giveBack();
      lifecycle.end(exitCode.failed);
      await session.stop();
    }
    process.exit();
  });
}

/**
 * Opens a recording of the project.
 *
 * @throws TenonError `USAGE` when it is none, or another module's
 */
async function recordingOf(file: string, { config: { project } }: Project): Promise<DevRecording> {
  const { DevRecording } = await import("../dev/recording.ts");
  const recording = await DevRecording.open(file);
  if (recording.module !== project.name) {
    const module = visible(recording.module);
    throw new TenonError(
      "USAGE",
      `--recording must be of this project, ${project.name}: it is of the module ${module}`,
    );
  }
  return recording;
}

function announce(session: DevSession, terminal: Terminal): void {
  terminal.note("Serve", session.url);
  terminal.note("Docs", session.docsUrl);
  terminal.note("Services", session.servicesUrl);
  if (session.recordingUrl !== undefined) terminal.note("Recording", session.recordingUrl);
  const keys = process.stdin.isTTY ? "; press ? for the keys" : "";
  terminal.note("Watch", `the sources${keys}`);
}

function actions(session: DevSession, lifecycle: Lifecycle, terminal: Terminal): KeyActions {
  return {
    rebuild: () => void session.rebuild(),
    open: () => openBrowser(session.url, () => terminal.note("Open", session.url)),
    help: () => {
      for (const [key, what] of keyHelp) terminal.say(`${key.padStart(12)} ${what}`);
    },
    quit: (how) => (how === "done" ? lifecycle.end(exitCode.done) : lifecycle.interrupt()),
  };
}
