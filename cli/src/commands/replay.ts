import { basename } from "node:path";
import type { Command } from "commander";
import { exitCode, TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import type { Change, Difference, Replayed } from "../replay/replayer.ts";
import { visible } from "../visible.ts";

interface Options extends CommonOptions {
  readonly module?: string;
  readonly against?: string;
  readonly json?: boolean;
}

/** The counts of a run, by verdicts. */
type Counts = Record<Replayed["verdict"], number>;

/** `tenon replay`: runs recorded requests again, without a network. */
export function replayCommand(program: Command): void {
  const command = program
    .command("replay")
    .summary("run recorded requests again")
    .description(
      "Runs recordings of `[record]` again, without a network and without sidecars: the answer, the log and the memory must be the " +
        "same, or the first difference is printed. With --against it compares the answers of another build. It ends with 1 when " +
        "something differs.",
    )
    .argument("<path>", "a recording, or a folder of them")
    .option(
      "--module <file>",
      "the component that was recorded; by default one of the project with the recorded digest",
    )
    .option("--against <file>", "another build, whose answers are compared")
    .option("--json", "print a line of JSON for each recording");
  withCommonOptions(command).action(async (path: string, options: Options) => {
    exitOnInterrupt();
    if (options.module !== undefined && options.against !== undefined)
      throw new TenonError("USAGE", "give --module or --against, not both");
    const terminal = terminalFor(options);
    const { headOf, tapeBytes, tapeFiles } = await import("../replay/tapes.ts");
    const { Replayer } = await import("../replay/replayer.ts");
    const replayer = new Replayer();
    const counts: Counts = { same: 0, differs: 0, changed: 0, asks: 0 };
    try {
      for (const file of await tapeFiles(path)) {
        const bytes = await tapeBytes(file);
        const head = headOf(bytes, file);
        const replayed =
          options.against === undefined
            ? await replayer.replay(bytes, head.component, options.module)
            : await replayer.against(bytes, options.against);
        counts[replayed.verdict]++;
        const { requestId, status } = head;
        if (options.json) process.stdout.write(`${JSON.stringify({ file, requestId, status, ...replayed })}\n`);
        else process.stdout.write(`${report(basename(file), replayed).join("\n")}\n`);
      }
    } finally {
      replayer.close();
    }
    const { same, differs, changed, asks } = counts;
    if (same + differs + changed + asks === 0) throw new TenonError("USAGE", `${path} has no recordings`);
    const others = options.against === undefined ? "" : `, ${asks} asked for something new`;
    terminal.note("Replay", `${same} same, ${differs + changed} different${others}`);
    if (differs + changed + asks > 0) process.exitCode = exitCode.failed;
  });
}

/** The lines for one recording. Its file, its texts and its component may be a stranger's. */
export function report(file: string, replayed: Replayed): string[] {
  return linesOf(file, replayed).map(visible);
}

function linesOf(file: string, replayed: Replayed): string[] {
  switch (replayed.verdict) {
    case "same":
      return [`${file}: same`];
    case "changed":
      return [`${file}: different`, ...replayed.found.map(changeLine)];
    case "asks":
      return [`${file}: asks for something that was not recorded`, ...askLines(replayed.found)];
    case "differs":
      return [`${file}: differs at event ${replayed.found.event}`, ...differenceLines(replayed.found)];
  }
}

function changeLine({ part, recorded, replayed }: Change): string {
  return `  ${part}: ${recorded ?? "(nothing)"} → ${replayed ?? "(nothing)"}`;
}

function askLines({ replayed, after, place }: Difference): string[] {
  return [
    `  asks   ${replayed}`,
    ...(after === null ? [] : [`  after  ${after}`]),
    ...(place === null ? [] : [`  place  ${place}`]),
  ];
}

function differenceLines({ recorded, replayed, part, after, place }: Difference): string[] {
  return [
    `  recorded  ${recorded}`,
    `  replayed  ${replayed}`,
    ...(part === null ? [] : [`  part      ${part}`]),
    ...(after === null ? [] : [`  after     ${after}`]),
    ...(place === null ? [] : [`  place     ${place}`]),
  ];
}
