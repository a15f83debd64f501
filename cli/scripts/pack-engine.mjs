// Compiles the engine for the package `@tenon/engine` and packs it: engine/engines/<platform>-<arch>.br, and …-full.br for the variant
// with all functions. The same sources give the same bytes, on whichever machine.
//
//   node cli/scripts/pack-engine.mjs [--check | --if-stale] [<platform>-<arch> ...]
//
// Without a platform it is this one. `--check` compares with the files that are there, and writes nothing. `--if-stale` does nothing when
// these were made from the present sources.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { engineFile, packEngine, packedRevision } from "../dist/build/engine-package.js";
import { native } from "../dist/native.js";

const { values, positionals } = parseArgs({
  options: { check: { type: "boolean", default: false }, "if-stale": { type: "boolean", default: false } },
  allowPositionals: true,
});
const folder = join(dirname(fileURLToPath(import.meta.url)), "../engine/engines");
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");
const platforms = positionals.length > 0 ? positionals : [`${process.platform}-${process.arch}`];
for (const platform of platforms) {
  const revision = native().engineRevision(platform);
  for (const full of [false, true]) {
    const name = engineFile(full, platform);
    const file = join(folder, name);
    if (values["if-stale"] && existsSync(file) && (await packedRevision(file)) === revision) continue;
    const packed = await packEngine(revision, await native().compileEngine(full, platform));
    if (values.check) {
      const there = digest(readFileSync(file));
      if (there !== digest(packed))
        throw new Error(`${file} has the digest ${there}, and made anew it has ${digest(packed)}`);
    } else {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, packed);
    }
    console.error(`${name}: ${packed.length} bytes, sha256 ${digest(packed)}`);
  }
}
