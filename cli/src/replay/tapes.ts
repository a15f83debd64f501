/** Recordings of requests: their files, and what the addon knows of them. */
import { constants, type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { failureToTell, systemReason, TenonError } from "../errors.ts";
import { native } from "../native.ts";
import { visible } from "../visible.ts";

/** The extension of recordings. */
export const extension = ".tape";

/** The largest recording, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The head of a recording. */
export interface TapeHead {
  readonly module: string;
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly durationMs: number;
  readonly status: number;
  /** Why it was recorded: `share`, `failed`, `slow` or `asked`. */
  readonly kept: string;
  /** The SHA-256 of the component. */
  readonly component: string;
  /** The digest of the guest's memory at its end. */
  readonly memory: string | null;
  /** Masked headers, members and secrets. */
  readonly masked: readonly string[];
  /** True when the guest was stopped by its time limit, or because its client had gone. */
  readonly isCut: boolean;
}

/** An event of a recording in words. */
export interface TapeEvent {
  readonly kind: string;
  readonly text: string;
  /** The text that `text` shortens. */
  readonly full?: string;
  /** The names of the environment's variables. */
  readonly names?: readonly string[];
}

/** A whole recording. */
export interface TapeView extends TapeHead {
  readonly events: readonly TapeEvent[];
  readonly answer?: { readonly status: number; readonly headers: readonly [string, string][]; readonly body: string };
}

/**
 * The files of recordings at a path: the file itself, or those of a folder, the oldest first.
 *
 * @throws TenonError `USAGE` when there is no such file or folder
 */
export async function tapeFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => name.endsWith(extension) && !name.startsWith("."));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw new TenonError("USAGE", `cannot read ${path}: ${systemReason(error)}`);
  }
}

/**
 * The recording of a request in a folder.
 *
 * @throws TenonError `USAGE` when the folder cannot be read
 */
export async function tapeOf(requestId: string, folder: string): Promise<string | undefined> {
  for (const file of await tapeFiles(folder)) {
    const head = await headIn(file);
    if (!("failure" in head) && head.requestId === requestId) return file;
  }
  return undefined;
}

/**
 * Reads a recording, which may be a stranger's: no more than one may have, and nothing that never ends.
 *
 * @throws TenonError `RECORDING` when the file cannot be read
 */
export async function tapeBytes(file: string): Promise<Buffer> {
  try {
    const opened = await openedTape(file);
    try {
      return await opened.readFile();
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof TenonError) throw error;
    throw new TenonError("RECORDING", `cannot read ${visible(file)}: ${systemReason(error)}`);
  }
}

/** Opens a recording, which is a file and has no more bytes than one may have. */
async function openedTape(file: string): Promise<FileHandle> {
  // Without O_NONBLOCK, a pipe that nobody writes to would wait.
  const opened = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await opened.stat();
    if (!found.isFile()) throw new TenonError("RECORDING", `cannot read ${visible(file)}: it must be a file`);
    if (found.size > MAX_BYTES)
      throw new TenonError("RECORDING", `${visible(file)}: it is larger than ${MAX_BYTES} bytes`);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** @throws TenonError `RECORDING` when the bytes are not a recording */
export function headOf(bytes: Buffer, file: string): TapeHead {
  return parsed(bytes, file, false) as TapeHead;
}

/** Bytes at the beginning of a recording that have its module's name. */
const START = 1024;

/** The module that the beginning of a recording names. The rest may be damaged. Undefined when it cannot be read. */
export async function namedModule(file: string): Promise<string | undefined> {
  try {
    const opened = await openedTape(file);
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(START), 0, START, 0);
      return native().tapeModule(buffer.subarray(0, bytesRead)) ?? undefined;
    } finally {
      await opened.close();
    }
  } catch {
    // It is reported in its turn.
    return undefined;
  }
}

/** The head of a recording among others, or the reason why it cannot be read. */
export async function headIn(file: string): Promise<TapeHead | { readonly failure: string }> {
  try {
    return headOf(await tapeBytes(file), file);
  } catch (error) {
    const failure = failureToTell(error);
    if (failure === undefined) throw error;
    return { failure: failure.message };
  }
}

/** @throws TenonError `RECORDING` when the bytes are not a recording */
export function viewOf(bytes: Buffer, file: string): TapeView {
  return parsed(bytes, file, true) as TapeView;
}

function parsed(bytes: Buffer, file: string, whole: boolean): unknown {
  try {
    return JSON.parse(native().readTape(bytes, whole));
  } catch (error) {
    throw new TenonError("RECORDING", `${visible(file)}: ${(error as Error).message}`);
  }
}
