// Stores the engine's machine code, which pack-engine.mjs made on another machine, in the cache folder of this one. A clone compiles the
// engine otherwise, and an emulated machine takes longer for that than a server waits. It runs on the target's machine.
//
//   node scripts/cross/engine.mjs
import { join } from "node:path";
import { engineFile, packedCode } from "../../cli/dist/build/engine-package.js";
import { defaultCacheFolder } from "../../cli/dist/cache-folder.js";
import { native } from "../../cli/dist/native.js";
import { root } from "../setup.mjs";

const cache = defaultCacheFolder();
const engines = join(cache, "engines");
const { SnapshotEngine } = native();
for (const full of [false, true]) {
  const code = await packedCode(join(root, "cli/engine/engines", engineFile(full)));
  await SnapshotEngine.install(engines, full, code, cache);
}
console.log(cache);
