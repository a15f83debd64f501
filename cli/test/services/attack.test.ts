/** Statements at random against `--tables`: the canary never comes back. `scripts/sql-attack.mjs` runs more of them. */
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { fresh, type Made, schema, statements, tables } from "./statements.mjs";
import { folder, type Store, startPostgres } from "./stores.ts";

const { TENON_ATTACK_STATEMENTS, TENON_ATTACK_SEED, TENON_ATTACK_CLI } = process.env;
const COUNT = Number(TENON_ATTACK_STATEMENTS ?? 3_000);
const SEED = Number(TENON_ATTACK_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CLI = TENON_ATTACK_CLI ?? fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));

/** In flight at a time, and how many pass before the tables are as they were at first. */
const SIDE_BY_SIDE = 12;
const A_ROUND = 300;

/** A word that no statement has in it. */
const CANARY = "kq7canaryzx";
const shapes = [CANARY, [...CANARY].reverse().join(""), Buffer.from(CANARY).toString("hex")];

let store: Store;
let owner: Sidecar;
let attacked: ChildProcess;
let address = "";
const socket = join(folder(), "attacked.sock");

/** Runs a statement as the database's owner. */
async function asOwner(sql: string): Promise<Record<string, unknown>[]> {
  const answer = await askAt(owner.address)("POST", "/sql/query", { json: { sql } });
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  return answer.json.rows;
}

const agent = new Agent({ keepAlive: true, maxSockets: SIDE_BY_SIDE });
/** Sends a statement; once more when the connection was closed for having been idle too long on a busy machine. */
async function send(sql: string): Promise<{ status: number; text: string }> {
  return sendOnce(sql).catch((error) => {
    if (attacked.exitCode !== null || attacked.signalCode !== null) throw new Error(`the sidecar has ended: ${sql}`);
    if (error.code !== "ECONNRESET" && error.code !== "EPIPE") throw error;
    return sendOnce(sql);
  });
}

async function sendOnce(sql: string): Promise<{ status: number; text: string }> {
  const body = JSON.stringify({ sql });
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      host: "store.sidecar.internal",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const outgoing = request({ socketPath: socket, method: "POST", path: "/sql/query", headers, agent });
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
    outgoing.end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return { status: message.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
}

/** The database's definitions, without its rows. */
const definition = () =>
  asOwner(
    "SELECT (SELECT md5(string_agg(relname || relkind::text || relnatts, ',' ORDER BY oid)) FROM pg_class WHERE relpersistence <> 't') AS a, " +
      "(SELECT md5(string_agg(proname || coalesce(prosrc, ''), ',' ORDER BY oid)) FROM pg_proc) AS b, " +
      "(SELECT count(*) FROM pg_prepared_xacts) AS c",
  );

/** How often the canary's table was read and written to, as far as sessions have reported it. */
const uses = async () => {
  const counters = "seq_scan + coalesce(idx_scan, 0) AS reads, n_tup_ins + n_tup_upd + n_tup_del AS writes";
  const [found] = await asOwner(`SELECT ${counters} FROM pg_stat_all_tables WHERE relname = 'secrets'`);
  return found;
};

describeWith("postgresql", "statements at random", () => {
  beforeAll(async () => {
    store = await startPostgres();
    // On a busy machine its statements wait for those of the attack, which end after a second of their own.
    const listen = "127.0.0.1:0";
    owner = await Sidecar.start({
      kind: "sql",
      url: store.url,
      listen,
      logLevel: "error",
      statementTimeoutMs: 120_000,
    });
    for (const sql of [...schema(CANARY), "ALTER DATABASE postgres SET track_functions = 'all'"]) await asOwner(sql);
    const options = ["--listen", `unix://${socket}`, "--tables", tables.join(","), "--statement-timeout", "1000"];
    attacked = spawn(process.execPath, [CLI, "sidecar", "sql", ...options, "--json", "-q"], {
      env: { ...process.env, DATABASE_URL: store.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (attacked.stdout === null) throw new Error("no standard output");
    for await (const line of createInterface({ input: attacked.stdout })) {
      ({ address } = JSON.parse(line));
      break;
    }
  });
  afterAll(async () => {
    attacked?.kill("SIGTERM");
    await owner?.close();
    await store?.stop();
  });

  it(`--tables: ${COUNT} statements never read the canary, TENON_ATTACK_SEED=${SEED}`, {
    timeout: 120_000 + COUNT * 50,
  }, async () => {
    expect(address).toBe(`unix://${socket}`);
    const next = statements(SEED);
    const counts = { sent: 0, hostile: 0, ran: 0, "ran hostile": 0, refused: 0, wrong: 0, late: 0 };
    const others: Record<number, number> = {};
    const leaks: string[] = [];
    const before = await definition();
    await expect.poll(uses).toEqual({ reads: 0, writes: 1 });
    await asOwner("SELECT pg_stat_reset()");
    await expect.poll(uses).toEqual({ reads: 0, writes: 0 });
    let slept: string | undefined;
    const watch = setInterval(async () => {
      const [found] = await asOwner("SELECT query FROM pg_stat_activity WHERE wait_event = 'PgSleep' LIMIT 1").catch(
        () => [],
      );
      slept ??= found?.["query"] as string | undefined;
    }, 100);

    const one = async ({ sql, hostile }: Made) => {
      const { status, text } = await send(sql);
      counts.sent++;
      if (hostile) counts.hostile++;
      if (status === 200) {
        counts.ran++;
        if (hostile) counts["ran hostile"]++;
      } else if (status === 403) counts.refused++;
      else if (status === 400) counts.wrong++;
      else if (status === 504) counts.late++;
      else others[status] = (others[status] ?? 0) + 1;
      const lower = text.toLowerCase();
      if (!shapes.some((shape) => lower.includes(shape))) return;
      leaks.push(`${sql}\n  → ${text.slice(0, 300)}`);
      process.stderr.write(`attack: the canary came back: ${leaks.at(-1)}\n`);
    };

    for (let done = 0; done < COUNT && leaks.length < 5; done += A_ROUND) {
      for (const sql of fresh) await asOwner(sql);
      let left = Math.min(A_ROUND, COUNT - done);
      const worker = async () => {
        while (left > 0) {
          left--;
          await one(next());
        }
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
      if (COUNT > 50_000 && done % 30_000 === 0) process.stderr.write(`attack: ${JSON.stringify(counts)}\n`);
    }
    clearInterval(watch);
    process.stderr.write(
      `attack: ${JSON.stringify(counts)}, others by status: ${JSON.stringify(others)}, TENON_ATTACK_SEED=${SEED}\n`,
    );

    expect(leaks, "the canary came back").toEqual([]);
    expect(slept, "pg_sleep slept").toBeUndefined();
    // A server reports a session's counters when the session has ended.
    const exited = new Promise((resolve) => attacked.once("exit", resolve));
    attacked.kill("SIGTERM");
    await exited;
    const sessions =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'tenon-sidecar' AND pid <> pg_backend_pid()";
    const idle =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tenon-sidecar' AND pid <> pg_backend_pid()";
    await asOwner(idle).catch(() => []);
    await expect.poll(async () => (await asOwner(sessions))[0]?.["n"]).toBe(0);
    expect(await uses(), "the canary's table was used").toEqual({ reads: 0, writes: 0 });
    const calls = "SELECT funcname::text FROM pg_stat_user_functions WHERE schemaname <> 'pg_catalog'";
    expect(await asOwner(calls), "the owner's functions were called").toEqual([]);
    expect(await definition(), "the schema is another").toEqual(before);
    // Statements that are all refused would prove little.
    expect(counts.ran / counts.sent).toBeGreaterThan(0.4);
    expect(counts["ran hostile"]).toBeGreaterThan(counts.sent / 50);
  });
});
