// Operations of crypto.subtle in a component and in Node, side by side in one run, the fastest call of some 200 ms each:
//   npm run build && node bench/crypto/run.mjs [--record]
// --record writes the table into bench/RESULTS.md.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Runtime } from "../../cli/dist/index.js";
import { conditions, record } from "../results.mjs";
import { measured, operations } from "./src/operations.js";

const { values } = parseArgs({ options: { record: { type: "boolean", default: false } } });
const here = fileURLToPath(new URL(".", import.meta.url));
const cli = join(here, "../../cli/bin/tenon.js");

execFileSync(process.execPath, [cli, "build", "-r"], { cwd: here, stdio: "inherit" });
const runtime = await Runtime.create({ modules: { crypto: join(here, "dist/crypto.wasm") }, requestTimeoutMs: 60_000 });
const rows = [];
for (const name of Object.keys(operations)) {
  const query = new URLSearchParams({ name });
  const response = await runtime.fetch(new Request(`http://tenon.test/run/crypto/?${query}`));
  if (response.status !== 200) throw new Error(`${name}: ${response.status} ${await response.text()}`);
  const { ms } = await response.json();
  const node = await measured(name);
  rows.push(`| ${name} | ${shown(ms)} | ${shown(node)} | ${(ms / node).toFixed(1)} |`);
}
await runtime.close();

const table = ["| operation | component, ms | Node, ms | × Node |", "|---|---:|---:|---:|", ...rows].join("\n");
if (values.record) record("bench/crypto", `${conditions}.\n\n${table}`);
else console.log(table);

function shown(ms) {
  return ms.toFixed(ms < 10 ? 3 : 1);
}
