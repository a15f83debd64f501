/** The error of Tenon's TypeScript, its codes, and the exit codes of the command. */
import { constants } from "node:buffer";
import { types } from "node:util";

/** The exit codes of the command. */
export const exitCode = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The kind of failure of a {@link TenonError}, including the codes of the native addon. */
export type ErrorCode =
  | "ADDRESS_IN_USE"
  | "ADDON"
  | "ALREADY_COMPOSED"
  | "BACKEND"
  | "BUILD"
  | "BUNDLED"
  | "CONFIG"
  | "DELTA"
  | "DIFFERENT_INTERFACE"
  | "ENGINE"
  | "EXISTS"
  | "FOLDER"
  | "INTERNAL"
  | "LISTEN"
  | "MISSING_INTERFACE"
  | "MODULE_COMPILE"
  | "MODULE_LINK"
  | "MODULE_READ"
  | "MODULE_TIMEOUT"
  | "NAME"
  | "NO_BUILD"
  | "NO_PROJECT"
  | "NOT_A_BRIDGE"
  | "NOT_A_COMPONENT"
  | "NOT_BUILT"
  | "RECORDING"
  | "REGISTRY"
  | "REQUEST"
  | "RESPONSE"
  | "SCHEMA"
  | "SCHEMA_OUTDATED"
  | "TOP_LEVEL"
  | "TOP_LEVEL_CALL"
  | "TOP_LEVEL_ENDLESS"
  | "TOP_LEVEL_MEMORY"
  | "USAGE"
  | "WIRING"
  | "WRITE";

/** A failure that a user can fix: the problem and its place (`message`), and the next step (`hint`). */
export class TenonError extends Error {
  override readonly name = "TenonError";
  readonly code: ErrorCode;
  /** Absent when there is none, so that Node prints none. */
  declare readonly hint?: string;

  constructor(code: ErrorCode, message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (hint !== undefined) this.hint = hint;
  }
}

/** The message of a failed file operation, or of bytes that are no text, without the code and the path that Node repeats. */
export function systemReason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException)?.code;
  switch (code) {
    case "ENOENT":
      return "there is no such file or folder";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "ENOTDIR":
    // A recursive mkdir reports EEXIST when a parent is a file.
    case "EEXIST":
      return "a part of the path is a file";
    case "EISDIR":
      return "it is a folder";
    case "ENOSPC":
      return "the disk is full";
    case "ERR_ENCODING_INVALID_ENCODED_DATA":
      return "it must be a text in UTF-8";
    case "ERR_STRING_TOO_LONG":
      return `it must be at most ${constants.MAX_STRING_LENGTH} characters long`;
    default:
      return types.isNativeError(error) ? error.message.replace(/^[A-Z0-9]+: (.+?), .*$/s, "$1") : String(error);
  }
}

/** The message of a failure that is not a bug of ours: a {@link TenonError}, or a system error. */
export function failureToTell(error: unknown): { readonly message: string; readonly hint?: string } | undefined {
  if (error instanceof TenonError) {
    return error.hint === undefined ? { message: error.message } : { message: error.message, hint: error.hint };
  }
  const { syscall, path } = Object(error) as Partial<NodeJS.ErrnoException>;
  if (!types.isNativeError(error) || syscall === undefined) return undefined;
  const what = [refused[syscall] ?? syscall, path].filter((part) => part !== undefined).join(" ");
  return { message: `cannot ${what}: ${systemReason(error)}` };
}

/** Everyday names of system operations, where they differ. */
const refused: Readonly<Record<string, string>> = {
  mkdir: "make",
  mkdtemp: "make",
  scandir: "read",
  stat: "read",
  lstat: "read",
  rm: "delete",
  rmdir: "delete",
  unlink: "delete",
  copyfile: "copy",
};
