import { basename } from "node:path";
import type { Command } from "commander";
import { exitCode, failureToTell, TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { moduleName } from "../project/project.ts";
import type { Change, Difference, NotReplayed, Replayed, Replayer } from "../replay/replayer.ts";
import type { TapeHead } from "../replay/tapes.ts";
import type { AtLine } from "../replay/until.ts";
import { visible } from "../visible.ts";

interface Options extends CommonOptions {
  readonly module?: string;
  readonly against?: string;
  readonly until?: string;
  readonly print?: string;
  readonly json?: boolean;
}

/** The outcome for one recording. */
type Outcome = Replayed | NotReplayed;

/** The counts of a run, by verdicts. */
type Counts = Record<Outcome["verdict"], number>;

/** `tenon replay`: runs recorded requests again, without a network. */
export function replayCommand(program: Command): void {
  const command = program
    .command("replay")
    .summary("run recorded requests again")
    .description(
      "Runs recordings of `[record]` again, without a network and without sidecars: the answer, the log and the memory must be the " +
        "same, or the first difference is printed. With --against it compares the answers, calls and logs of another build. It ends " +
        "with 1 when something differs. With --until it prints the values of expressions at a line of the sources.",
    )
    .argument("<path>", "a recording, the id of its request, or a folder of them")
    .option(
      "--module <file>",
      "the component that was recorded; by default one of the project with the recorded digest",
    )
    .option("--against <file>", "another build, whose answers, calls and logs are compared")
    .option(
      "--until <file:line>",
      "a line of the sources, such as src/orders.ts:41: how often it is reached, and --print there",
    )
    .option(
      "--print <expressions>",
      "expressions, such as order.id,items.length, whose values at the line of --until are printed; may be repeated",
      (value: string, before?: string) => (before === undefined ? value : `${before},${value}`),
    )
    .option("--json", "print a line of JSON for each recording");
  withCommonOptions(command).action(async (given: string, options: Options) => {
    exitOnInterrupt();
    if (options.module !== undefined && options.against !== undefined)
      throw new TenonError("USAGE", "give --module or --against, not both");
    if (options.print !== undefined && options.until === undefined)
      throw new TenonError("USAGE", "--print must have a line: give --until as well");
    const { pathOf } = await import("../replay/recordings.ts");
    const path = await pathOf(given);
    if (options.until !== undefined) return printUntil(path, options.until, options);
    const terminal = terminalFor(options);
    const { tapeFiles } = await import("../replay/tapes.ts");
    const { Replayer } = await import("../replay/replayer.ts");
    const replayer = new Replayer();
    let left = 0;
    const hints = new Set<string>();
    const counts: Counts = { same: 0, differs: 0, changed: 0, asks: 0, failed: 0 };
    const files = await tapeFiles(path);
    try {
      const component = options.against ?? options.module;
      if (component !== undefined) await replayer.load(component);
      const module = options.against === undefined ? undefined : await comparedModule(files, options.against);
      for (const file of files) {
        const { head, outcome, hint } = await replayed(file, { replayer, options, module, isAlone: file === path });
        if (outcome === undefined) {
          left++;
          continue;
        }
        counts[outcome.verdict]++;
        if (hint !== undefined) hints.add(hint);
        const { requestId, status } = head ?? {};
        if (options.json) process.stdout.write(`${JSON.stringify({ file, requestId, status, ...outcome })}\n`);
        else process.stdout.write(`${report(basename(file), outcome).join("\n")}\n`);
      }
    } finally {
      replayer.close();
    }
    const { same, differs, changed, asks, failed } = counts;
    if (same + differs + changed + asks + failed === 0) throw new TenonError("USAGE", `${path} has no recordings`);
    const others = options.against === undefined ? "" : `, ${asks} asked for something new`;
    const notReplayed = failed === 0 ? "" : `, ${failed} cannot be replayed`;
    const ofOthers = left === 0 ? "" : `; ${left} of other modules left out`;
    terminal.note("Replay", `${same} same, ${differs + changed} different${others}${notReplayed}${ofOthers}`);
    for (const hint of hints) terminal.note("Hint", hint);
    if (differs + changed + asks + failed > 0) process.exitCode = exitCode.failed;
  });
}

interface Run {
  readonly replayer: Replayer;
  readonly options: Options;
  /** The module whose recordings are compared; undefined for all. */
  readonly module: string | undefined;
  /** True for a recording that was named itself. Without `--json`, its failure is that of the command. */
  readonly isAlone: boolean;
}

/** Replays one recording. Its head is undefined when it cannot be read, and its outcome when it is of a module that is left out. */
async function replayed(
  file: string,
  { replayer, options, module, isAlone }: Run,
): Promise<{ readonly head?: TapeHead; readonly outcome?: Outcome; readonly hint?: string }> {
  const { headOf, tapeBytes } = await import("../replay/tapes.ts");
  let head: TapeHead | undefined;
  try {
    const bytes = await tapeBytes(file);
    head = headOf(bytes, file);
    if (module !== undefined && head.module !== module) return { head };
    const outcome =
      options.against === undefined
        ? await replayer.replay(bytes, head.component, options.module)
        : await replayer.against(bytes, options.against);
    return { head, outcome };
  } catch (error) {
    const failure = failureToTell(error);
    if ((isAlone && options.json !== true) || failure === undefined) throw error;
    const outcome = { verdict: "failed", failure: failure.message } as const;
    const { hint } = failure;
    return { ...(head === undefined ? {} : { head }), outcome, ...(hint === undefined ? {} : { hint }) };
  }
}

/**
 * The module whose recordings are compared with another build: that of the file's name, where there are any of it; undefined for all, when
 * they are of one module.
 *
 * @throws TenonError `USAGE` when none of several has the file's name
 */
async function comparedModule(files: readonly string[], against: string): Promise<string | undefined> {
  const { headIn, namedModule } = await import("../replay/tapes.ts");
  const name = moduleName(against);
  const modules = new Set<string>();
  for (const file of files) {
    // The beginning is enough for a module that a whole recording has named. One file at a time is in memory.
    const named = await namedModule(file);
    if (named === undefined || modules.has(named)) continue;
    const head = await headIn(file);
    // One that cannot be read is reported in its turn.
    if ("failure" in head) continue;
    if (head.module === name) return name;
    modules.add(head.module);
  }
  if (modules.size < 2) return undefined;
  const names = [...modules].sort().map(visible);
  throw new TenonError(
    "USAGE",
    `--against must have the name of a recorded module, and ${visible(basename(against))} has none`,
    `the recordings are of ${names.join(", ")}: call the other build ${names[0]}.wasm`,
  );
}

/** Prints the values at a line. */
async function printUntil(path: string, until: string, { print, json, module, against }: Options): Promise<void> {
  if (module !== undefined || against !== undefined)
    throw new TenonError("USAGE", "--until builds the project's sources: give it without --module and --against");
  const { tapeBytes, tapeFiles, viewOf } = await import("../replay/tapes.ts");
  const { replayUntil } = await import("../replay/until.ts");
  const files = await tapeFiles(path);
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw new TenonError("USAGE", `--until must have one recording: ${path} has ${files.length}`);
  const bytes = await tapeBytes(file);
  const view = viewOf(bytes, file);
  const found = await replayUntil(bytes, view, until, print);
  const { requestId, status } = view;
  if (json) process.stdout.write(`${JSON.stringify({ file, requestId, status, ...found })}\n`);
  else process.stdout.write(`${untilLines(basename(file), found).map(visible).join("\n")}\n`);
  if (found.reached === 0) process.exitCode = exitCode.failed;
}

/** The lines for the values of expressions at a line. */
function untilLines(file: string, { until, asked, reached, values, near, isFirst, differs }: AtLine): string[] {
  const times = reached === 1 ? "once" : `${reached} times`;
  const place = asked === undefined ? until : `${until}, the first statement after line ${asked},`;
  const head = reached === 0 ? `${file}: ${place} was not reached` : `${file}: ${place} was reached ${times}`;
  const all = values.map((each) => Object.entries(each).map(([name, value]) => `${name} = ${JSON.stringify(value)}`));
  const shown = all.flatMap((each, at) =>
    each.map((text, n) => `${n === 0 ? String(at + 1).padStart(5) : "     "}  ${text}`),
  );
  const left = reached - values.length;
  return [
    isFirst ? `${file}: ${place} was reached, and the request did not end: the values of the first time` : head,
    ...shown,
    ...(left > 0 && shown.length > 0 ? [`       and ${left} times more`] : []),
    ...(near === undefined ? [] : [nearLine(near)]),
    ...(reached === 0 && near === undefined ? ["       before the request was stopped"] : []),
    ...(differs === undefined
      ? []
      : ["       these sources answer differently than the recorded component:", ...linesOf(file, differs).slice(1)]),
  ];
}

function nearLine(near: readonly number[]): string {
  return near.length === 0
    ? "       nor was any other line of the file"
    : `       lines that were, the nearest first: ${near.join(", ")}`;
}

/** The lines for one recording. Its file, its texts and its component may be a stranger's. */
export function report(file: string, outcome: Outcome): string[] {
  return linesOf(file, outcome).map(visible);
}

function linesOf(file: string, replayed: Outcome): string[] {
  switch (replayed.verdict) {
    case "failed":
      return [`${file}: cannot be replayed`, `  why  ${replayed.failure}`];
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

function differenceLines({ kind, recorded, replayed, part, after, place }: Difference): string[] {
  return [
    `  recorded  ${recorded}`,
    `  replayed  ${replayed}`,
    ...(part === null ? [] : [`  part      ${part}`]),
    ...(after === null ? [] : [`  after     ${after}`]),
    ...(place === null ? [] : [`  place     ${place}`]),
    ...(kind === "memory" ? [`  meaning   ${hidden}`] : []),
  ];
}

/** The explanation of a difference of memory alone. */
const hidden =
  "a value that the handler got was changed and only kept, or the engine computes differently here: replay it with TENON_PORTABLE=1 and on the " +
  "machine that recorded it to see which (docs/replay.md#memory-alone)";
