/**
 * The bank: clients move money by batches with idempotency keys, and try again until they have an answer, while the sidecar and
 * PostgreSQL are killed. No cent is lost, and every transfer happens exactly once. `TENON_BANK_SECONDS=60` runs it longer.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { askAt } from "./ask.ts";
import { startProcess } from "./sidecar-process.ts";
import { folder, startPostgres } from "./stores.ts";

const SECONDS = Number(process.env["TENON_BANK_SECONDS"] ?? 6);
const ACCOUNTS = 100;
const CLIENTS = 16;

async function bank(url: string, crash?: () => void): Promise<void> {
  const directory = folder();
  const socket = join(directory, "bank.sock");
  let sidecar = await startProcess("sql", socket, url);
  const ask = askAt(`unix://${socket}`);
  const sql = async (text: string) => {
    const answer = await ask("POST", "/sql/query", { json: { sql: text } });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json.rows;
  };
  await sql("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0))");
  await sql("CREATE TABLE transfers (id TEXT NOT NULL)");
  for (let id = 0; id < ACCOUNTS; id++) await sql(`INSERT INTO accounts VALUES (${id}, 100)`);

  const end = Date.now() + SECONDS * 1000;
  const moved: string[] = [];
  const refused: string[] = [];
  let retries = 0;
  const transfer = async (key: string) => {
    const from = Math.floor(Math.random() * ACCOUNTS);
    const to = (from + 1 + Math.floor(Math.random() * (ACCOUNTS - 1))) % ACCOUNTS;
    const amount = 1 + Math.floor(Math.random() * 60);
    const add = (id: number, amount: number) => ({
      sql: "UPDATE accounts SET balance = balance + $1 WHERE id = $2 AND balance + $1 >= 0",
      params: [amount, id],
      expect: { rows: 1 },
    });
    const json = {
      statements: [
        add(from, -amount),
        add(to, amount),
        { sql: "INSERT INTO transfers (id) VALUES ($1)", params: [key] },
      ],
    };
    for (;;) {
      const asked = ask("POST", "/sql/batch", { json, headers: { "idempotency-key": key } });
      const answer = await asked.catch((error: NodeJS.ErrnoException) => {
        if (error.code === undefined) throw error;
        return undefined;
      });
      if (answer?.status === 200) return moved.push(key);
      if (answer?.status === 409) return refused.push(key);
      if (answer !== undefined && !answer.json.retryable) expect(answer.text).toMatch(/service failed/);
      retries++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const client = async (name: number) => {
    for (let n = 0; Date.now() < end; n++) await transfer(`${name}-${n}`);
  };
  const kill = async () => {
    for (let round = 1; Date.now() + 2000 < end; round++) {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const exited = new Promise((resolve) => sidecar.once("exit", resolve));
      sidecar.kill("SIGKILL");
      await exited;
      if (round % 15 === 2) crash?.();
      sidecar = await startProcess("sql", socket, url);
    }
  };
  await Promise.all([kill(), ...Array.from({ length: CLIENTS }, (_, name) => client(name))]);

  const [{ sum }] = await sql("SELECT CAST(sum(balance) AS INTEGER) AS sum FROM accounts");
  const rows: { id: string; n: number }[] = [];
  for (let after = ""; ; after = rows.at(-1)?.id ?? "") {
    const page = await sql(
      `SELECT id, count(*) AS n FROM transfers WHERE id > '${after}' GROUP BY id ORDER BY id LIMIT 10000`,
    );
    rows.push(...page);
    if (page.length < 10_000) break;
  }
  sidecar.kill("SIGTERM");
  rmSync(directory, { recursive: true, force: true });
  process.stderr.write(`bank: ${moved.length} transfers, ${refused.length} refused, ${retries} retries\n`);
  expect(sum).toBe(ACCOUNTS * 100);
  expect(rows.filter(({ n }) => n !== 1)).toEqual([]);
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(moved));
  expect(moved.length).toBeGreaterThan(0);
}

const timeout = 120_000 + SECONDS * 1000;

describeWith("postgresql", "the bank on PostgreSQL", () => {
  it(`exactly once, for ${SECONDS} s of kills`, { timeout }, async () => {
    const store = await startPostgres();
    await bank(store.url, store.crash);
    await store.stop();
  });
});

it(`the bank on SQLite: exactly once, for ${SECONDS} s of kills`, { timeout }, async () => {
  const directory = folder();
  await bank(`sqlite:${join(directory, "bank.db")}`);
  rmSync(directory, { recursive: true, force: true });
});
