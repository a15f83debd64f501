/** `File` (File API, section 4). */
import { defineInterface } from "../interface.ts";
import { addSerializable } from "../transfer.ts";
import { Blob, type BlobOptions } from "./blob.ts";

/** The argument of `new File()` after the name. */
export interface FileOptions extends BlobOptions {
  readonly lastModified?: number;
}

export class File extends Blob {
  readonly #name: string;
  readonly #lastModified: number;

  // Parameters with defaults do not count for `length`.
  constructor(parts: Iterable<unknown>, name: string, options: FileOptions = {}) {
    // biome-ignore lint/complexity/noArguments: `undefined` is a name.
    if (arguments.length < 2) throw new TypeError("File: expects parts and a name");
    super(parts, options);
    this.#name = `${name}`.toWellFormed();
    const given = options?.lastModified;
    this.#lastModified = given === undefined ? Date.now() : longOf(given);
  }

  get name(): string {
    return this.#name;
  }

  get lastModified(): number {
    return this.#lastModified;
  }

  get webkitRelativePath(): string {
    // Throws for other objects.
    this.#name;
    return "";
  }
}

defineInterface("File", File);
addSerializable(File.prototype, (file) => {
  const { name, type, lastModified } = file as File;
  return new File([file], name, { type, lastModified });
});

/** Converts a value to a `long long` (Web IDL, section 3.2.4.7). */
function longOf(value: unknown): number {
  const number = Math.trunc(Number(value));
  return Number.isFinite(number) ? Number(BigInt.asIntN(64, BigInt(number))) : 0;
}
