/** The package `@tenon/engine`: machine code of the engine, compiled by a release, in one file for each platform and variant. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import type { EngineCode } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { packageFolder, requireHere } from "../package.ts";

const enginePackage = "@tenon/engine";

/** The digests of the files, by their names, in the package that belongs to the same release. */
const digestsFile = "engines.json";

/** The most that a file takes unpacked. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Returns the name of a platform's file of a variant. */
export const engineFile = (full: boolean, platform = `${process.platform}-${process.arch}`): string =>
  `${platform}${full ? "-full" : ""}.br`;

/** The header in front of the code: one line of JSON. */
interface Head {
  /** The addon's `engineRevision`. */
  readonly revision: string;
  /** Length of the code for building; that for serving follows. */
  readonly building: number;
}

/** Packs the code of a variant. The same code gives the same bytes. */
export async function packEngine(revision: string, { building, serving }: EngineCode): Promise<Buffer> {
  const head: Head = { revision, building: building.length };
  const whole = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), building, serving]);
  return promisify(brotliCompress)(whole, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
}

/**
 * Reads the code of a variant from `@tenon/engine`.
 *
 * @returns undefined when the package is not installed, or has no code for this platform or of this revision, and in a clone
 * @throws TenonError `ENGINE` when the package has another content than that of this release
 */
export async function shippedEngine(revision: string, full: boolean): Promise<EngineCode | undefined> {
  const name = engineFile(full);
  const [file, expected] = [shippedFile(name), expectedDigest(name)];
  // A clone has no digests, and compiles the engine.
  if (file === undefined || expected === undefined) return undefined;
  const packed = await readFile(file);
  if (createHash("sha256").update(packed).digest("hex") !== expected) {
    throw new TenonError(
      "ENGINE",
      `${file} is not the engine of this release: digest mismatch`,
      "remove node_modules and install again",
    );
  }
  const { head, code } = await unpacked(packed);
  return head.revision === revision ? code : undefined;
}

/** Returns the revision of packed code. */
export async function packedRevision(file: string): Promise<string> {
  return (await unpacked(await readFile(file))).head.revision;
}

/** Reads packed code, whatever its revision and digest are. */
export async function packedCode(file: string): Promise<EngineCode> {
  return (await unpacked(await readFile(file))).code;
}

async function unpacked(packed: Buffer): Promise<{ head: Head; code: EngineCode }> {
  const whole = await promisify(brotliDecompress)(packed, { maxOutputLength: MAX_BYTES });
  const end = whole.indexOf("\n");
  const head = JSON.parse(whole.subarray(0, end).toString()) as Head;
  const serving = end + 1 + head.building;
  return { head, code: { building: whole.subarray(end + 1, serving), serving: whole.subarray(serving) } };
}

function shippedFile(name: string): string | undefined {
  try {
    const file = join(dirname(requireHere.resolve(`${enginePackage}/package.json`)), "engines", name);
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** The digest of a file in this release. */
function expectedDigest(name: string): string | undefined {
  const file = join(packageFolder, digestsFile);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>)[name];
}
