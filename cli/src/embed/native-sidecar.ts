/** The start of a sidecar of this process. */
import type { Sidecar as Native, SidecarOptions as NativeOptions } from "@tenon/native";
import { fromNative, native } from "../native.ts";

/** Options of every sidecar, besides those of its kind. */
interface CommonOptions {
  readonly listen?: string;
  readonly token?: string;
  readonly insecure?: boolean;
  readonly logLevel?: string;
  readonly logFormat?: string;
}

/** Starts a sidecar; the options that are not of every sidecar are its settings. */
export async function startNative(
  settings: Readonly<Record<string, unknown>>,
  options: CommonOptions,
  more: Pick<NativeOptions, "grammar" | "cacheDir"> = {},
): Promise<Native> {
  const { listen, token, insecure, logLevel, logFormat, ...own } = options;
  return fromNative(native().Sidecar.start(JSON.stringify({ ...settings, ...own }), { ...options, ...more }));
}
