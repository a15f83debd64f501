// Drizzle's own tests (`integration-tests` of its repository) with `@tenon/sdk/drizzle`, in Node, against sidecars.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";
import { ranIn } from "./ran-in.mjs";

/** The suites, each with the tests that its database gets. */
const suites = {
  "pg-common": "postgres",
  "pg-common-cache": "postgres",
  "sqlite-common": "sqlite",
  "sqlite-common-cache": "sqlite",
};

/** Packages that the tests import, and do not use with a database that runs. */
const unused = ["dockerode", "get-port", "async-retry", "pg", "better-sqlite3", "@neondatabase/serverless"];

/** Runs the tests of a checkout. Returns `{ file, name, error }` of each. */
export async function run({ checkout, folder, databases, only }) {
  copyTests(checkout, folder);
  const results = [];
  for (const [suite, name] of Object.entries(suites)) {
    if (!suite.includes(only)) continue;
    writeFileSync(join(folder, `${suite}.test.ts`), program(suite, name));
    const report = join(folder, `${suite}.json`);
    const config = join(folder, "vitest.config.mjs");
    writeFileSync(config, configuration(folder));
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const args = ["run", "--config", config, "--reporter=json", `--outputFile=${report}`, `${suite}.test.ts`];
    const env = { ...process.env, TENON_ORM: JSON.stringify(databases) };
    const ran = await ranIn(folder, [vitest, ...args], env);
    writeFileSync(join(folder, `${suite}.log`), `${ran.stdout}\n${ran.stderr}`);
    const file = JSON.parse(readFileSync(report, "utf8")).testResults[0];
    const before = results.length;
    if (file.message) results.push({ file: suite, name: "the file", error: file.message });
    for (const { fullName, status, failureMessages } of file.assertionResults) {
      if (status === "pending" || status === "skipped" || status === "todo") continue;
      results.push({
        file: suite,
        name: fullName,
        ...(status === "passed" ? {} : { error: failureMessages[0] ?? "" }),
      });
    }
    const own = results.slice(before);
    console.log(`drizzle ${suite}: ${own.filter(({ error }) => error === undefined).length} of ${own.length}`);
  }
  return results;
}

/** Copies the tests beside the package that the SDK is tested with. */
function copyTests(checkout, folder) {
  const filter = (path) => !path.includes("/node_modules");
  const tests = "integration-tests/tests";
  cpSync(join(checkout, tests), join(folder, tests), { recursive: true, filter });
  if (!existsSync(join(folder, "node_modules/keyv"))) {
    const { status, stderr } = spawnSync("npm", [
      "install",
      "--prefix",
      folder,
      "--no-audit",
      "--no-fund",
      "keyv@5.2.3",
    ]);
    if (status !== 0) throw new Error(String(stderr));
  }
  for (const name of ["drizzle-orm", "zod", "vitest"]) {
    const link = join(folder, "node_modules", name);
    if (!existsSync(link)) symlinkSync(join(root, "node_modules", name), link);
  }
}

/** A file like those that Drizzle has for its drivers. */
function program(suite, database) {
  const [context, cached] = database === "postgres" ? ["pg", "cachedPg"] : ["sqlite", "cachedSqlite"];
  const path = `./integration-tests/tests/${context}`;
  const caches = `import { TestCache, TestGlobalCache } from "${path}/${context}-common-cache";`;
  return `import { drizzle } from "@tenon/sdk/drizzle";
import { beforeAll, beforeEach } from "vitest";
import { tests } from "${path}/${suite}";
${caches}
let db, cachedDb, dbGlobalCached;
beforeAll(async () => {
  await useDatabase("${database}");
  db = drizzle({ dialect: "${database}" });
  cachedDb = drizzle({ dialect: "${database}", cache: new TestCache() });
  dbGlobalCached = drizzle({ dialect: "${database}", cache: new TestGlobalCache() });
});
beforeEach((context) => {
  context.${context} = { db };
  context.${cached} = { db: cachedDb, dbGlobalCached };
});
tests();
`;
}

function configuration(folder) {
  const stub = join(folder, "stub.mjs");
  writeFileSync(stub, "export default function () {}\nexport class Client {}\n");
  writeFileSync(join(folder, "uuid.mjs"), 'export { randomUUID as v4 } from "node:crypto";\n');
  const alias = [
    ...unused.map((name) => ({ find: name, replacement: stub })),
    { find: "uuid", replacement: join(folder, "uuid.mjs") },
    { find: /^~\/(.*)$/.source, replacement: join(folder, "integration-tests/tests/$1") },
    { find: "@tenon/sdk/drizzle", replacement: join(root, "ts-sdk/src/drizzle/index.ts") },
  ];
  const start = join(root, "scripts/orm/start.mjs");
  return `const alias = ${JSON.stringify(alias)}.map(({ find, replacement }) => ({
  find: find.startsWith("^") ? new RegExp(find) : find, replacement }));
export default {
  resolve: { alias },
  test: { root: ${JSON.stringify(folder)}, setupFiles: [${JSON.stringify(start)}], testTimeout: 60_000, hookTimeout: 60_000,
    restoreMocks: true, include: ["*.test.ts"] }
};
`;
}
