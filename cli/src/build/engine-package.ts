/** The package `@tenon/engine`: the engine as a release has prepared it, packed into one file for each platform. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { TenonError } from "../errors.ts";
import { packageFolder, requireHere } from "../package.ts";

const enginePackage = "@tenon/engine";

/** The digests of the packed engines, by their file names, in the package that belongs to the same release. */
const digestsFile = "engines.json";

/** The most that an engine takes unpacked. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The file of this platform's engine. */
export const engineFile = `${process.platform}-${process.arch}.br`;

/** The header in front of the files: one line of JSON. */
interface Head {
  readonly key: string;
  /** Names and lengths. */
  readonly files: readonly (readonly [name: string, length: number])[];
}

/** Packs the files of a folder, whose order and time do not count: the same files give the same bytes. */
export async function packEngine(key: string, folder: string): Promise<Buffer> {
  const names = (await readdir(folder)).filter((name) => !/\.(sha256|seal)$/.test(name)).sort();
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name))));
  const head: Head = { key, files: names.map((name, at) => [name, contents[at]?.length ?? 0] as const) };
  const whole = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents]);
  return promisify(brotliCompress)(whole, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
}

/**
 * Unpacks the engine of `@tenon/engine` into a folder, calls `use` with it, and removes it.
 *
 * @returns false when the package is not installed, or has no engine for this platform or of this key, and in a clone
 * @throws TenonError `ENGINE` when the package has another content than that of this release
 */
export async function useShippedEngine(key: string, use: (folder: string) => Promise<void>): Promise<boolean> {
  const file = shippedFile();
  const expected = expectedDigest();
  // A clone has no digests, and prepares the engine from its source.
  if (file === undefined || expected === undefined) return false;
  const packed = await readFile(file);
  if (createHash("sha256").update(packed).digest("hex") !== expected) {
    throw new TenonError(
      "ENGINE",
      `${file} is not the engine of this release: its digest is another`,
      "remove node_modules and install again, or build with --from-source",
    );
  }
  const { head, contents } = await unpacked(packed);
  if (head.key !== key) return false;
  const folder = await mkdtemp(join(tmpdir(), "tenon-engine-"));
  try {
    await mkdir(folder, { recursive: true });
    let at = 0;
    for (const [name, length] of head.files) {
      await writeFile(join(folder, basename(name)), contents.subarray(at, at + length));
      at += length;
    }
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return true;
}

/** Returns the key of a packed engine. */
export async function packedKey(file: string): Promise<string> {
  return (await unpacked(await readFile(file))).head.key;
}

async function unpacked(packed: Buffer): Promise<{ head: Head; contents: Buffer }> {
  const whole = await promisify(brotliDecompress)(packed, { maxOutputLength: MAX_BYTES });
  const end = whole.indexOf("\n");
  return { head: JSON.parse(whole.subarray(0, end).toString()) as Head, contents: whole.subarray(end + 1) };
}

function shippedFile(): string | undefined {
  try {
    const file = join(dirname(requireHere.resolve(`${enginePackage}/package.json`)), "engines", engineFile);
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** The digest of this platform's engine in this release. */
function expectedDigest(): string | undefined {
  const file = join(packageFolder, digestsFile);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>)[engineFile];
}
