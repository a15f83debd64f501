/** `tenon sidecar` as an operator runs it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { askAt } from "./ask.ts";
import { folder, type Store, startPostgres } from "./stores.ts";

const tenon = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));
const directory = folder();
const store = `sqlite:${join(directory, "a.db")}`;
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Running {
  readonly process: ChildProcess;
  readonly address: string;
  said(): string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

async function start(args: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  const child = spawn(process.execPath, [tenon, "sidecar", ...args, "--json"], { env: { ...process.env, ...env } });
  let said = "";
  child.stderr.on("data", (data) => {
    said += data;
  });
  // Not "exit", because all output has to be read first.
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const { address } = JSON.parse(line) as { address: string };
    const end = (signal: NodeJS.Signals) => {
      child.kill(signal);
      return exited;
    };
    return { process: child, address, said: () => said, end };
  }
  throw new Error(`tenon sidecar ended with ${await exited}: ${said}`);
}

/** A run that is to fail. */
function fails(args: readonly string[], env: Record<string, string> = {}): { code: number | null; said: string } {
  const { DATABASE_URL: _, REDIS_URL: __, ...rest } = process.env;
  const run = spawnSync(process.execPath, [tenon, "sidecar", ...args], { env: { ...rest, ...env }, encoding: "utf8" });
  return { code: run.status, said: run.stderr };
}

describe("a Unix socket", () => {
  const socket = join(directory, "db.sock");
  const listen = ["--listen", `unix://${socket}`];

  it("is checked by a probe that needs no curl", async () => {
    const health = (address: string) => {
      const ran = spawnSync(process.execPath, [tenon, "sidecar", "health", address], { encoding: "utf8" });
      return { code: ran.status, said: ran.stdout };
    };
    const sidecar = await start(["sql", ...listen], { DATABASE_URL: store });
    expect(health(sidecar.address)).toEqual({ code: 0, said: `${sidecar.address} is up\n` });
    await sidecar.end("SIGTERM");
    const gone = health(sidecar.address);
    expect(gone.code).toBe(1);
    expect(gone.said).toMatch(new RegExp(`^${sidecar.address} is down: .*ENOENT.*\n$`));
    expect(health("db.sock").code).toBe(2);
  });

  it("serves on for the time of --drain after SIGTERM, and logs JSON", async () => {
    const args = ["sql", ...listen, "--drain", "1500", "--log-format", "json"];
    const sidecar = await start(args, { DATABASE_URL: store });
    const ended = sidecar.end("SIGTERM");
    await expect.poll(sidecar.said).toContain('"step":"Drain"');
    expect((await askAt(sidecar.address)("GET", "/health")).status).toBe(200);
    expect(await ended).toBe(0);
    const lines = sidecar.said().trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { step?: string }).step)).toEqual(["Serve", "Drain", "Stop"]);
  });

  it("is for its user and group only, and goes with the sidecar", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 0],
      ["SIGINT", 130],
    ] as const) {
      const running = await start(["sql", ...listen, "--url", store]);
      expect(running.address).toBe(`unix://${socket}`);
      expect(statSync(socket).mode & 0o777).toBe(0o660);
      expect((await askAt(running.address)("GET", "/health")).json).toMatchObject({ status: "ok", kind: "sql" });
      expect(await running.end(signal)).toBe(code);
      expect(existsSync(socket)).toBe(false);
    }
  });

  it("goes with a sidecar that is ended as soon as it has said where it listens", async () => {
    for (let round = 0; round < 10; round++) {
      const running = await start(["sql", ...listen, "--url", store]);
      expect([await running.end("SIGTERM"), existsSync(socket)]).toEqual([0, false]);
    }
  });

  it("takes the place of one whose sidecar was killed, and of nothing else", async () => {
    const killed = await start(["sql", ...listen, "--url", store]);
    await killed.end("SIGKILL");
    expect(existsSync(socket)).toBe(true);
    const running = await start(["sql", ...listen, "--url", store]);
    const second = fails(["sql", ...listen, "--url", store]);
    expect([second.code, second.said]).toEqual([1, expect.stringContaining(`${socket} is in use`)]);
    expect((await askAt(running.address)("GET", "/health")).status).toBe(200);
    await running.end("SIGTERM");
    writeFileSync(socket, "a file");
    expect(fails(["sql", ...listen, "--url", store])).toMatchObject({
      code: 1,
      said: expect.stringContaining("not a socket"),
    });
    rmSync(socket);
  });

  it("finishes what runs before it ends", async () => {
    const running = await start(["sql", ...listen, "--url", store]);
    const sql =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000000) SELECT count(*) AS n FROM c";
    const body = JSON.stringify({ sql });
    const headers = {
      host: "store.sidecar.internal",
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    };
    const asked = request({ socketPath: socket, method: "POST", path: "/sql/query", headers, agent: false });
    asked.flushHeaders();
    // By asking for the body the sidecar says that it is at work on this request.
    await once(asked, "continue");
    const ended = running.end("SIGTERM");
    await expect.poll(() => existsSync(socket)).toBe(false);
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(await json(answer)).toMatchObject({ rows: [{ n: 3_000_000 }] });
    expect(await ended).toBe(0);
  });
});

describeWith("postgresql", "credentials", () => {
  let postgres: Store;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  it("come from the environment or a file, and are said nowhere", async () => {
    const url = postgres.url.replace("tenon@", "tenon:hunter2@");
    const file = join(directory, "url");
    writeFileSync(file, `${url}\n`);
    const token = join(directory, "token");
    writeFileSync(token, "s3cret\n");
    for (const [args, env] of [
      [[], { DATABASE_URL: url }],
      [["--url-file", file, "--token-file", token], {}],
    ] as const) {
      const running = await start(["sql", "--listen", "127.0.0.1:0", "-v", ...args], env);
      const ask = askAt(running.address, { authorization: "Bearer s3cret" });
      expect((await ask("POST", "/sql/query", { json: { sql: "SELECT 1 AS a" } })).json.rows).toEqual([{ a: 1 }]);
      expect((await ask("POST", "/sql/query", { json: { sql: "SELECT 1/0" } })).status).toBe(400);
      expect(await running.end("SIGTERM")).toBe(0);
      expect(running.said()).not.toMatch(/hunter2|s3cret/);
    }
  });

  it("are refused on the command line", () => {
    for (const url of ["postgres://u:hunter2@db/x", "redis://:hunter2@cache", "postgres://u@db/x?password=hunter2"]) {
      const refused = fails(["sql", "--listen", "127.0.0.1:0", "--url", url]);
      expect([refused.code, refused.said]).toEqual([2, expect.stringContaining("password")]);
      expect(refused.said).not.toContain("hunter2");
    }
  });

  it("that do not fit say so without themselves", () => {
    const wrong = fails(["sql", "--listen", "127.0.0.1:0"], { DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" });
    expect([wrong.code, wrong.said]).toEqual([1, expect.stringMatching(/PostgreSQL: .*refused/)]);
    const nonsense = fails(["sql", "--listen", "127.0.0.1:0"], { DATABASE_URL: "hunter2" });
    expect(nonsense.code).toBe(2);
    expect(wrong.said + nonsense.said).not.toContain("hunter2");
  });
});

describe("usage", () => {
  it.each([
    [["sql", "--url", store], 2, /--listen/],
    [["sql", "--listen", "127.0.0.1:0"], 2, /DATABASE_URL/],
    [["kv", "--listen", "127.0.0.1:0"], 2, /REDIS_URL/],
    [["storage", "--listen", "127.0.0.1:0"], 2, /STORAGE_URL/],
    [["mail"], 2, /./],
    ...["nowhere", "7001", "127.0.0.1:abc", "unix://rel.sock"].map(
      (listen) => [["sql", "--listen", listen, "--url", store], 2, /unix:\/\/\/run\/db.sock/] as const,
    ),
    [["sql", "--listen", "127.0.0.1:0", "--url", store, "--tables", "a b"], 2, /tables/],
    [["sql", "--listen", "127.0.0.1:0", "--url", store, "--role", "a b"], 2, /role/],
    [["sql", "--listen", "127.0.0.1:0", "--url", store, "--role", "None"], 2, /role/],
    [["sql", "--listen", "127.0.0.1:0", "--url", store, "--role", "modules"], 2, /--role.*PostgreSQL/],
    [["sql", "--listen", "127.0.0.1:0", "--url", store, "--pool-size", "0"], 2, /pool-size/],
    [["sql", "--listen", "127.0.0.1:0", "--url", "mysql://x/y"], 2, /postgres:\/\//],
    [["kv", "--listen", "127.0.0.1:0", "--url", "redis+tls://h"], 2, /redis:\/\/.* or sqlite:/],
    [["kv", "--listen", "127.0.0.1:0", "--url", "rediss://127.0.0.1:1"], 1, /Redis/],
    [
      ["storage", "--listen", "127.0.0.1:0", "--url", store.replace("sqlite", "file"), "--public-url", "x"],
      2,
      /public-url/,
    ],
    [["storage", "--listen", "127.0.0.1:0", "--url", "s3://b", "--public-url", "http://x"], 2, /public-url.*folder/],
    [["kv", "--listen", "127.0.0.1:0", "--url", "redis://127.0.0.1:1"], 1, /Redis/],
    [["sql", "--listen", "127.0.0.1:0", "--url-file", "/nowhere"], 1, /no such file/],
  ] as const)("%j ends with %i", (args, code, said) => {
    const run = fails(args);
    expect([run.code, run.said]).toEqual([code, expect.stringMatching(said)]);
  });

  it("is told for every store of a kind", () => {
    const { stdout } = spawnSync(process.execPath, [tenon, "sidecar", "kv", "--help"], { encoding: "utf8" });
    expect(stdout).toContain("keys from Redis or SQLite");
    expect(stdout).toMatch(/--url <url>[^-]*redis:[^-]*sqlite:/);
  });

  it("says that a port is in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const run = fails(["sql", "--listen", `127.0.0.1:${port}`, "--url", store]);
    await new Promise((resolve) => other.close(resolve));
    expect([run.code, run.said]).toEqual([1, expect.stringContaining(`127.0.0.1:${port} is in use`)]);
  });
});
