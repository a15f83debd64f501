// Prepares the engine for the package `@tenon/engine` and packs it: engine/engines/<platform>-<arch>.br. It is made from
// componentize-js, for any processor of this architecture, and the same sources give the same bytes.
//
//   node cli/scripts/pack-engine.mjs [--check | --if-stale]
//
// `--check` compares with the file that is there, and writes nothing. `--if-stale` does nothing when that file was made
// from the present sources.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { prepareShipped, shippedKey } from "../dist/build/engine.js";
import { engineFile, packEngine, packedKey } from "../dist/build/engine-package.js";
import { Terminal } from "../dist/terminal.js";

const file = join(dirname(fileURLToPath(import.meta.url)), "../engine/engines", engineFile);
const key = await shippedKey();
if (process.argv.includes("--if-stale") && existsSync(file) && (await packedKey(file)) === key) process.exit();
const folder = mkdtempSync(join(tmpdir(), "tenon-pack-engine-"));
try {
  chmodSync(folder, 0o700);
  await prepareShipped(folder, new Terminal());
  const packed = await packEngine(key, folder);
  const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");
  if (process.argv.includes("--check")) {
    const there = digest(readFileSync(file));
    if (there !== digest(packed))
      throw new Error(`${file} has the digest ${there}, and made anew it has ${digest(packed)}`);
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, packed);
  }
  console.error(`${engineFile}: ${packed.length} bytes, sha256 ${digest(packed)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
