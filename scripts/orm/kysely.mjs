// Kysely's own tests (`test/node` of its repository) with `@tenon/sdk/kysely`, in Node, against sidecars.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { root } from "../setup.mjs";
import { patched } from "./patched.mjs";
import { ranIn } from "./ran-in.mjs";

const packages = ["mocha@11.8.0", "chai@6.2.2", "chai-as-promised@8.0.2", "sinon@22.1.0", "pathe@2.0.3", "tsx@4.23.11"];
const merge = "prototype-pollution-vulnerable-lodash.merge-dont-upgrade@npm:lodash.merge@4.6.1";

/** Drivers of other databases, and of these two without a sidecar. */
const drivers = /^(?:mysql2|tarn|tedious|better-sqlite3|pg-cursor|pg|@electric-sql\/pglite)$/;

/** A driver that tests spy on, and that nothing calls. */
const DRIVER = `class Driver {
  beginTransaction() {} commitTransaction() {} rollbackTransaction() {} saveTransaction() {} transaction() {} query() {}
}
module.exports = Object.assign(Driver, { Client: Driver, Connection: Driver, PGlite: Driver, Pool: Driver, ISOLATION_LEVEL: {} });`;

/** Runs the tests of a checkout with some dialects. Returns `{ file, name, error }` of each. */
export async function run({ checkout, folder, databases, only }) {
  const sources = join(checkout, "test/node/src");
  spawnSync("npm", ["init", "-y"], { cwd: folder });
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", ...packages, merge], { cwd: folder });
  if (installed.status !== 0) throw new Error(String(installed.stderr));
  const files = readdirSync(sources).filter((file) => file.endsWith(".test.ts") && file.includes(only));
  const start = join(root, "scripts/orm/start.mjs");
  const results = [];
  for (const file of files) {
    const name = basename(file, ".ts");
    const outfile = join(folder, `${name}.mjs`);
    await build({
      entryPoints: [join(sources, file)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      packages: "external",
      logLevel: "error",
      plugins: [places(checkout)],
    });
    const report = join(folder, `${name}.json`);
    const env = { ...process.env, DIALECTS: Object.keys(databases).join(","), TENON_ORM: JSON.stringify(databases) };
    const options = ["--timeout", "20000", "--exit", "--reporter", "json", "--reporter-option", `output=${report}`];
    const mocha = join(folder, "node_modules/mocha/bin/mocha.js");
    const args = ["--max-old-space-size=1500", mocha, "--require", start, ...options, outfile];
    const ran = await ranIn(folder, args, env);
    writeFileSync(join(folder, `${name}.log`), `${ran.stdout}\n${ran.stderr}`);
    const { passes, failures } = read(report, ran);
    for (const { fullTitle } of passes) results.push({ file, name: fullTitle });
    for (const { fullTitle, err } of failures) results.push({ file, name: fullTitle, error: String(err.message) });
    console.log(`kysely ${file}: ${passes.length} of ${passes.length + failures.length}`);
  }
  return results;
}

function read(report, { stderr }) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { passes: [], failures: [{ fullTitle: "the file", err: { message: stderr.slice(-600) } }] };
  }
}

/** The checkout's sources in the place of its build, our dialect in the place of its own, and no other drivers. */
const places = (checkout) => ({
  name: "places",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\/dist\/.*\.js$/ }, ({ path }) => ({
      path: join(checkout, "src", path.replace(/^.*\/dist\//, "").replace(/\.js$/, ".ts")),
    }));
    onResolve({ filter: /^kysely$/ }, () => ({ path: join(checkout, "src/index.ts") }));
    onResolve({ filter: /^@tenon\/sdk\/kysely$/ }, () => ({ path: join(root, "ts-sdk/dist/kysely/index.js") }));
    onResolve({ filter: drivers }, ({ path }) => ({ path, namespace: "driver" }));
    onLoad({ filter: /.*/, namespace: "driver" }, () => ({ contents: DRIVER }));
    onLoad({ filter: /test\/node\/src\/test-setup\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: patched(path, [
        ["const config = DB_CONFIGS[dialect.variant]", "await globalThis.useDatabase(dialect.variant)\n$&"],
        [
          "export async function initTest(",
          `import { TenonDialect } from '@tenon/sdk/kysely'
for (const each of ['postgres', 'sqlite'] as const)
  Object.assign(DB_CONFIGS[each], { dialect: new TenonDialect({ dialect: each }) })
$&`,
        ],
      ]),
    }));
  },
});
