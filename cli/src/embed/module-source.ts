/** The source of a module's component: a file or bytes. */
import { fileURLToPath } from "node:url";
import { types } from "node:util";
import type { NativeModule } from "@tenon/native";

/** A component's file: a path or a `file:` URL; or a reference: `oci://registry.example/team/shop:1.0`. */
export type ModuleFile = string | URL;

/** The source of a module. */
export type ModuleSource = ModuleFile | Uint8Array;

export const whatSourcesAre = "a path, a file: URL, or bytes";

/**
 * The path of a file that is given as such or as a URL.
 *
 * @throws TypeError when the URL is not that of a file
 */
export function pathOf(file: string | URL): string {
  return typeof file === "string" ? file : fileURLToPath(file);
}

/** Reports whether {@link pathOf} has a path for it. */
export function isFile(value: unknown): value is string | URL {
  if (typeof value === "string") return true;
  if (!isUrl(value)) return false;
  try {
    fileURLToPath(value);
    return true;
  } catch {
    return false;
  }
}

/** Reports whether {@link nativeSource} takes it. */
export function isSource(value: unknown): value is ModuleSource {
  return isFile(value) || types.isUint8Array(value);
}

/** A component's file or bytes as the addon takes them. @internal */
export function nativeSource(source: ModuleSource): Pick<NativeModule, "bytes" | "path"> {
  if (!types.isUint8Array(source)) return { path: pathOf(source) };
  return { bytes: Buffer.from(source.buffer, source.byteOffset, source.byteLength) };
}

/** Recognizes URLs by the name of their class, because one may come from another realm. */
export function isUrl(value: unknown): value is URL {
  return Object.prototype.toString.call(value) === "[object URL]";
}
