// Statements of PostgreSQL at random against `tenon sidecar sql --tables`, before a real server with a canary:
//
//   node scripts/sql-attack.mjs [--statements 1000000] [--seed 1] [--cli <path of another clone's cli/bin/tenon.js>]
//
// It fails when the canary comes back by value or error text, when its table is read, a function of the owner's is called or
// `pg_sleep` sleeps, or when the schema is another afterwards. `npm test` runs a short one. With `--cli` the sidecar is another version's:
// one from before the tree was looked at is found out within seconds.
import { parseArgs } from "node:util";
import { run } from "./setup.mjs";

const { values } = parseArgs({
  options: {
    statements: { type: "string", default: "1000000" },
    seed: { type: "string" },
    cli: { type: "string" },
  },
});
const env = { ...process.env, TENON_ATTACK_STATEMENTS: values.statements };
if (values.seed !== undefined) env.TENON_ATTACK_SEED = values.seed;
if (values.cli !== undefined) env.TENON_ATTACK_CLI = values.cli;
run("npx", ["vitest", "run", "--project", "services", "cli/test/services/attack.test.ts"], { env });
