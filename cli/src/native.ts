/** Loads the addon, and turns its failures into errors of this package. */
import { types } from "node:util";
import type * as Native from "@tenon/native";
import { type ErrorCode, TenonError } from "./errors.ts";
import { requireHere } from "./package.ts";

/** The addon, as its generated types describe it. */
export type NativeAddon = typeof Native;

let addon: NativeAddon | undefined;

/**
 * Loads the addon when it is first needed, so that `tenon --help` and `tenon new` work without it.
 *
 * @throws TenonError `ADDON` when there is none for this platform.
 */
export function native(): NativeAddon {
  if (addon === undefined) {
    try {
      addon = requireHere("@tenon/native") as NativeAddon;
    } catch (error) {
      throw new TenonError(
        "ADDON",
        `the native addon cannot be loaded on ${process.platform}-${process.arch}`,
        "install again without --omit=optional, or in a clone of Tenon run `npm start`, which builds it",
        error,
      );
    }
  }
  return addon;
}

/**
 * The program that compiles a component in a process of its own. None inside Electron, whose program is not Node: there,
 * components are compiled on a thread of this process.
 */
export function compilerCommand(): string[] | undefined {
  if ("electron" in process.versions) return undefined;
  return [process.execPath, requireHere.resolve("@tenon/native/compile.js")];
}

/** Turns a rejection of the addon, an `Error` with a code and perhaps a hint, into a {@link TenonError}. */
export async function fromNative<T>(promise: Promise<T>, hint?: (code: string) => string | undefined): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    // The addon makes errors in Node's own realm, and `instanceof` knows only those of this one (Jest, vmThreads).
    if (types.isNativeError(error) && "code" in error && typeof error.code === "string") {
      const own = "hint" in error && typeof error.hint === "string" ? error.hint : undefined;
      throw new TenonError(error.code as ErrorCode, error.message, own ?? hint?.(error.code), error);
    }
    throw error;
  }
}
