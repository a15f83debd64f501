// Sends random PostgreSQL statements to `tenon sidecar sql --tables`, in front of a real server with a canary:
//
//   node scripts/sql-attack.mjs [--statements 1000000] [--seed 1] [--cli <path of another clone's cli/bin/tenon.js>]
//
// It fails when the canary appears in a value or an error text, or when its table is read. It also fails when a
// function of the owner is called, when `pg_sleep` sleeps, or when the schema has changed. `npm test` runs a short one.
// With `--cli` the sidecar is another version's. A version that does not check the tree fails within seconds.

import { run } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const { values } = argumentsOf(import.meta.url, {
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
