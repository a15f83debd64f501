/** Killing the development services while they are written to loses nothing that was acknowledged: a hundred times. */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { type Ask, askAt } from "./ask.ts";
import { folder } from "./stores.ts";

const ROUNDS = 100;
const program = fileURLToPath(new URL("serve.mjs", import.meta.url));

async function start(directory: string): Promise<{ process: ChildProcess; ask: Ask }> {
  const child = spawn(process.execPath, [program, directory], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) return { process: child, ask: askAt(line) };
  throw new Error("the services ended before they began");
}

/** Writes until the server is gone, and returns the acknowledged writes. */
async function write(what: (n: number) => Promise<{ status: number }>): Promise<number[]> {
  const acknowledged: number[] = [];
  for (let n = 0; ; n++) {
    try {
      const { status } = await what(n);
      expect([200, 201, 204]).toContain(status);
      acknowledged.push(n);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return acknowledged;
    }
  }
}

it(`${ROUNDS} rounds of SIGKILL`, { timeout: 900_000 }, async () => {
  const directory = folder();
  let { process: server, ask } = await start(directory);
  await ask("POST", "/sql/execute", { json: { sql: "CREATE TABLE written (round INTEGER, n INTEGER)" } });
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const insert = "INSERT INTO written VALUES ($1, $2)";
    const writers = [
      write((n) => ask("PUT", `/kv/${round}/${n}`, { body: `${n}` })),
      write((n) => ask("POST", "/sql/execute", { json: { sql: insert, params: [round, n] } })),
      write((n) => ask("PUT", `/storage/${round}/${n}`, { body: `${n}`, headers: { "content-type": "x/y" } })),
      write((n) =>
        ask("PUT", "/storage/same", { body: `${round}:${n}`, headers: { "content-type": `x/${round}.${n}` } }),
      ),
    ];
    const exited = new Promise((resolve) => server.once("exit", resolve));
    // At another moment of the writing each time.
    setTimeout(() => server.kill("SIGKILL"), 5 + ((round * 7) % 60));
    const [keys = [], rows = [], objects = [], same = []] = await Promise.all(writers);
    await exited;
    ({ process: server, ask } = await start(directory));
    for (const n of keys) expect((await ask("GET", `/kv/${round}/${n}`)).text).toBe(`${n}`);
    const sql = "SELECT n FROM written WHERE round = $1";
    const found = (await ask("POST", "/sql/query", { json: { sql, params: [round] } })).json.rows;
    expect(found.map((row: { n: number }) => row.n)).toEqual(expect.arrayContaining(rows));
    for (const n of objects) {
      const object = await ask("GET", `/storage/${round}/${n}`);
      expect([object.text, object.headers["content-type"]]).toEqual([`${n}`, "x/y"]);
    }
    if (same.length > 0) {
      const [seenRound, n] = (await ask("GET", "/storage/same")).text.split(":").map(Number);
      // The last that was acknowledged, or the one that was on its way.
      expect([seenRound, Number(n) - Number(same.at(-1))]).toEqual([
        round,
        expect.toSatisfy((ahead: number) => ahead === 0 || ahead === 1),
      ]);
    }
    total += keys.length + rows.length + objects.length + same.length;
  }
  const exited = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGKILL");
  await exited;
  rmSync(directory, { recursive: true, force: true });
  expect(total).toBeGreaterThan(ROUNDS);
  process.stderr.write(`${total} acknowledged writes in ${ROUNDS} rounds, none lost\n`);
});
