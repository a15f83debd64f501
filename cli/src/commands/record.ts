import { rename, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { exitCode, systemReason, TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import type { Folder } from "../replay/recordings.ts";
import type { TapeEvent, TapeHead, TapeView } from "../replay/tapes.ts";
import { visible } from "../visible.ts";
import { helpCommand } from "./help.ts";

interface Options extends CommonOptions {
  readonly json?: boolean;
  readonly full?: boolean;
}

interface PruneOptions extends CommonOptions {
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

interface ExportOptions extends CommonOptions {
  readonly output?: string;
}

/** `tenon record`: shows, removes and exports recordings. */
export function recordCommand(program: Command): void {
  const record = program
    .command("record")
    .summary("show, remove and export recordings")
    .description("Shows, removes and exports the recordings of requests that `[record]` of tenon.toml keeps.");
  add(
    record
      .command("show")
      .summary("show a recording, or list a folder")
      .argument(
        "[path]",
        "a recording, the id of its request, or a folder; the project's folder of recordings when left out",
      )
      .option("--full", "do not shorten bodies")
      .option("--json", "print JSON"),
    "Prints a recording's request, its events in their order, and its answer; lists the recordings of a folder.",
  ).action(show);
  add(
    record
      .command("prune")
      .summary("remove old recordings")
      .argument("[folder]", "the folder of recordings; that of the project when left out")
      .option("--max-bytes <n>", "remove the oldest until so many bytes are left", whole)
      .option("--max-age-ms <n>", "remove those that are older", whole),
    "Removes recordings beyond the bounds. Without options these are `max_bytes` and `max_age_ms` of `[record]`.",
  ).action(prune);
  add(
    record
      .command("export")
      .summary("copy a recording for somebody else")
      .argument("<recording>", "its file, or the id of its request")
      .option("-o, --output <file>", "the copy; `<request id>.tape` when left out"),
    "Copies a recording to one file. It names the component by its digest, and has no secrets. `tenon replay <file> --module <component>` " +
      "runs it anywhere.",
  ).action(exportTape);
  helpCommand(record);
}

function add(command: Command, description: string): Command {
  return withCommonOptions(command.description(description));
}

async function show(path: string | undefined, options: Options): Promise<void> {
  const { headIn, tapeBytes, tapeFiles, viewOf } = await import("../replay/tapes.ts");
  const { folderOfProject, pathOf } = await import("../replay/recordings.ts");
  const at = path === undefined ? (await folderOfProject()).folder : await pathOf(path);
  const files = await tapeFiles(at);
  if (files.length === 1 && files[0] === at) {
    const view = viewOf(await tapeBytes(at), at);
    if (options.json) return print(view);
    const { withPlaces } = await import("../replay/places.ts");
    process.stdout.write(`${viewLines(await withPlaces(view), options.full).join("\n")}\n`);
    return;
  }
  if (files.length === 0) terminalFor(options).note("Show", `no recordings in ${at}`);
  for (const file of files) {
    const head = await headIn(file);
    const isRead = !("failure" in head);
    if (!isRead) process.exitCode = exitCode.failed;
    if (options.json) print({ file, ...head });
    else
      process.stdout.write(
        `${visible(`${basename(file)}  ${isRead ? line(head) : `cannot be read: ${head.failure}`}`)}\n`,
      );
  }
}

/** The lines of a recording, whose texts may be a stranger's. */
export function viewLines(view: TapeView, isFull = false): string[] {
  const events = view.events.filter(({ kind }) => kind !== "no result yet");
  const shown = ({ text, full = text, names }: TapeEvent) =>
    names === undefined ? (isFull ? full : text) : `${text} ${names.join(", ")}`;
  return [line(view), ...events.map((event) => `  ${shown(event)}`)].map(visible);
}

/** A recording in a line. */
function line({ module, requestId, time, durationMs, status, kept, masked }: TapeHead): string {
  const secrets = masked.length === 0 ? "" : `, masked: ${masked.join(", ")}`;
  return `${new Date(time).toISOString()} ${module} ${status} ${durationMs.toFixed(1)} ms ${requestId} (${kept}${secrets})`;
}

async function prune(path: string | undefined, options: PruneOptions): Promise<void> {
  const { folderOfProject } = await import("../replay/recordings.ts");
  const own: Folder = path === undefined ? await folderOfProject() : { folder: path };
  const { maxBytes = own.maxBytes, maxAgeMs = own.maxAgeMs } = options;
  if (maxBytes === undefined && maxAgeMs === undefined)
    throw new TenonError("USAGE", "a bound must be given: --max-bytes, --max-age-ms or both");
  const removed = await fromNative(native().pruneTapes(own.folder, maxBytes ?? Number.MAX_SAFE_INTEGER, maxAgeMs));
  terminalFor(options).note("Remove", `${removed} ${removed === 1 ? "recording" : "recordings"}`);
}

async function exportTape(recording: string, options: ExportOptions): Promise<void> {
  const { extension, headOf, tapeBytes, tapeOf } = await import("../replay/tapes.ts");
  const { folderOfProject } = await import("../replay/recordings.ts");
  const find = async () => {
    if (recording.endsWith(extension)) return recording;
    const { folder } = await folderOfProject();
    const found = await tapeOf(recording, folder);
    if (found !== undefined) return found;
    throw new TenonError("USAGE", `${folder} has no recording of the request ${recording}`);
  };
  const file = await find();
  const bytes = await tapeBytes(file);
  const { requestId, component } = headOf(bytes, file);
  const output = options.output ?? `${requestId.replace(/[^A-Za-z0-9-]/g, "")}${extension}`;
  // Under another name first: a link in the place of the copy is replaced, and nobody else can read the copy at any time.
  const partial = `${output}.${process.pid}.partial`;
  try {
    await writeFile(partial, bytes, { mode: 0o600, flag: "wx" });
    await rename(partial, output);
  } catch (error) {
    await rm(partial, { force: true });
    throw new TenonError("WRITE", `cannot write ${output}: ${systemReason(error)}`);
  }
  terminalFor(options).note("Export", `${output}, of the component ${component}`);
}

function whole(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
