/**
 * Tests the apps of docs/compared.md: both versions compile, give the same answers, and are as long as the page says.
 */
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type TestApp, testApp } from "@tenon/sdk/testing";
import pg from "pg";
import { HttpSidecar, Sidecar } from "tenon";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Store, startPostgres } from "../../../cli/test/services/stores.ts";
import { describeWith } from "../../../testing/needs.ts";
import { count, countApp, mistakes, written } from "../table.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the page", () => {
  test("has the tables of the sources", () => {
    const page = readFileSync(join(root, "../../docs/compared.md"), "utf8");
    expect(written(page), "run `npm run table -w compared`").toBe(page);
  });

  test("counts neither blank lines nor comments", () => {
    const source = '/** a\n * b\n */\nimport {\n  a,\n} from "a";\n\n// c\nconst b = a; // d\n/* e */\n';
    expect(count(source)).toEqual({ all: 4, imports: 3 });
  });

  test.each(["crud", "webhook", "split"])("%s is shorter in Tenon", (app) => {
    const [tenon, hono] = [countApp(app, "tenon"), countApp(app, "hono")];
    expect(tenon.all).toBeLessThan(hono.all);
    expect(tenon.all - tenon.imports).toBeLessThan(hono.all - hono.imports);
  });

  test("lists what each compiler refuses, and both versions compile", () => {
    expect(mistakes("tenon").every(({ isCaught }) => isCaught)).toBe(true);
    const tsc = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
    execFileSync(process.execPath, [tsc, "-p", root, "--noEmit"], { encoding: "utf8" });
  });
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  readonly text: string;
}

type Ask = (request: Asked) => Promise<Answered>;

const askTenon =
  (app: TestApp): Ask =>
  async ({ method, path, headers = {}, body }) => {
    const answer = await app.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
    return { status: answer.status, headers: answer.headers, text: answer.text() };
  };

const askHono =
  (app: { fetch(request: Request): Response | Promise<Response> }): Ask =>
  async ({ method, path, headers = {}, body }) => {
    const answer = await app.fetch(new Request(`http://localhost${path}`, { method, headers, body: body ?? null }));
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };

const json = (value: unknown) => ({ body: JSON.stringify(value), headers: { "content-type": "application/json" } });
const parsed = ({ text }: Answered) => JSON.parse(text);

/** Sends a request to both, compares status, headers and the body of a success, and returns both answers. */
async function both(asks: readonly [Ask, Ask], asked: Asked, status: number, ...headers: string[]) {
  const [tenon, hono] = [await asks[0](asked), await asks[1](asked)];
  const told = `${asked.method} ${asked.path}\n${tenon.text}\n${hono.text}`;
  expect([tenon.status, hono.status], told).toEqual([status, status]);
  for (const name of headers) {
    expect(tenon.headers.get(name) ?? null, `${name} of ${told}`).toBe(hono.headers.get(name) ?? null);
  }
  return [tenon, hono] as const;
}

/** Does the same for JSON answers. */
async function same(asks: readonly [Ask, Ask], asked: Asked, status: number, ...headers: string[]) {
  const [tenon, hono] = await both(asks, asked, status, ...headers);
  expect(parsed(tenon)).toEqual(parsed(hono));
  return parsed(tenon);
}

describeWith("postgresql", "on PostgreSQL", () => {
  const pools: pg.Pool[] = [];
  const { Pool } = pg;
  const sidecars: Sidecar[] = [];
  let store: Store;

  beforeAll(async () => {
    store = await startPostgres();
    // The Hono apps keep their pools private. The pools must end before the database, because its end is an error to
    // them.
    const Kept = class extends Pool {
      constructor(options: pg.PoolConfig) {
        super(options);
        pools.push(this);
      }
    };
    Object.assign(pg, { Pool: Kept });
  });
  afterAll(async () => {
    Object.assign(pg, { Pool });
    for (const pool of pools) await pool.end();
    for (const sidecar of sidecars) await sidecar.close();
    await store?.stop();
  });

  /** Runs a statement. */
  const run = async (url: string, sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };

  /** Makes a database for each side, with the tables of an app. Returns the URLs of a sidecar and of the database. */
  async function databases(app: "crud" | "split"): Promise<readonly [string, string]> {
    const urls: string[] = [];
    for (const side of ["tenon", "hono"]) {
      const url = store.url.replace("/postgres?", `/${app}_${side}?`);
      await run(store.url, `CREATE DATABASE ${app}_${side}`);
      await run(url, readFileSync(join(root, app, "schema.sql"), "utf8"));
      urls.push(url);
    }
    const [tenon = "", hono = ""] = urls;
    const sidecar = await Sidecar.start({ kind: "sql", url: tenon, listen: "127.0.0.1:0", logLevel: "off" });
    sidecars.push(sidecar);
    return [sidecar.address, hono];
  }

  test("crud answers alike", async () => {
    const [sidecar, url] = await databases("crud");
    process.env["DATABASE_URL"] = url;
    const tenon = testApp((await import("../crud/tenon/handler.ts")).default, { env: { SIDECAR_DB_URL: sidecar } });
    const asks = [askTenon(tenon), askHono((await import("../crud/hono/app.ts")).default)] as const;
    const at = (method: string, path: string, value?: unknown): Asked => ({
      method,
      path,
      ...(value === undefined ? {} : json(value)),
    });

    for (const [i, name] of ["Cy", "Ada", "Bo", "Ada", "Zoë"].entries()) {
      const email = `${i}@a.example`;
      await same(asks, at("POST", "/contacts", { name, email, note: null, unknown: 1 }), 201, "location");
    }
    const ada = { name: "Ada", email: "ada@a.example", note: "first" };
    expect(await same(asks, at("POST", "/contacts", ada), 201, "location", "content-type")).toEqual({ id: 6, ...ada });
    await both(asks, at("POST", "/contacts", ada), 409);
    for (const wrong of [
      {},
      { ...ada, name: "" },
      { ...ada, name: "x".repeat(101) },
      { ...ada, email: "ada" },
      { ...ada, note: 1 },
      { ...ada, note: undefined },
      [],
    ]) {
      await both(asks, at("POST", "/contacts", wrong), 400);
    }
    await both(asks, { ...at("POST", "/contacts", {}), body: "{" }, 400);

    // Cursors are opaque, so each side gets its own cursor for the next page.
    const names: string[][] = [];
    let after: readonly [string, string] | undefined;
    do {
      const pages = await Promise.all(
        asks.map(async (ask, side) => {
          const query = after === undefined ? "" : `&after=${after[side]}`;
          const answer = await ask(at("GET", `/contacts?limit=2${query}`));
          expect(answer.status, answer.text).toBe(200);
          return parsed(answer) as { contacts: { name: string }[]; next: string | null; total: number };
        }),
      );
      const [tenonPage, honoPage] = pages;
      expect(tenonPage?.contacts).toEqual(honoPage?.contacts);
      expect([tenonPage?.total, honoPage?.total]).toEqual([6, 6]);
      names.push(tenonPage?.contacts.map(({ name }) => name) ?? []);
      after = tenonPage?.next && honoPage?.next ? [tenonPage.next, honoPage.next] : undefined;
      expect(tenonPage?.next === null, "both end").toBe(honoPage?.next === null);
    } while (after !== undefined);
    expect(names).toEqual([
      ["Ada", "Ada"],
      ["Ada", "Bo"],
      ["Cy", "Zoë"],
    ]);
    for (const query of ["limit=0", "limit=101", "limit=x", "after=x"]) {
      await both(asks, at("GET", `/contacts?${query}`), 400);
    }

    await same(asks, at("GET", "/contacts/6"), 200);
    await both(asks, at("GET", "/contacts/99"), 404);
    await both(asks, at("GET", "/contacts/x"), 400);
    await same(asks, at("PATCH", "/contacts/6", { note: "second" }), 200);
    expect(await same(asks, at("PATCH", "/contacts/6", { note: null, name: "A" }), 200)).toEqual({
      ...ada,
      id: 6,
      note: null,
      name: "A",
    });
    await both(asks, at("PATCH", "/contacts/6", {}), 400);
    await both(asks, at("PATCH", "/contacts/6", { unknown: 1 }), 400);
    await both(asks, at("PATCH", "/contacts/6", { name: "" }), 400);
    await both(asks, at("PATCH", "/contacts/99", { name: "B" }), 404);
    await both(asks, at("DELETE", "/contacts/6"), 204);
    await both(asks, at("DELETE", "/contacts/6"), 404);
    await both(asks, at("GET", "/contacts/6"), 404);

    // The page describes this difference.
    const put = await Promise.all(asks.map((ask) => ask(at("PUT", "/contacts"))));
    expect(put.map(({ status }) => status)).toEqual([405, 404]);
    const text = {
      method: "POST",
      path: "/contacts",
      body: JSON.stringify(ada),
      headers: { "content-type": "text/plain" },
    };
    const texts = await Promise.all(asks.map((ask) => ask(text)));
    expect(texts.map(({ status }) => status)).toEqual([415, 400]);
  });

  test("split answers alike", async () => {
    const [sidecar, url] = await databases("split");
    const key = "a key of at least thirty-two bytes…";
    Object.assign(process.env, { DATABASE_URL: url, JWT: key });
    const env = { SIDECAR_DB_URL: sidecar };
    const tenon = testApp((await import("../split/tenon/handler.ts")).default, { env, secrets: { JWT: key } });
    const asks = [askTenon(tenon), askHono((await import("../split/hono/app.ts")).default)] as const;

    const token = (claims: object, signedBy = key) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iss: "notes", ...claims })}`;
      return `Bearer ${signed}.${createHmac("sha256", signedBy).update(signed).digest("base64url")}`;
    };
    const [ada, grace, nobody] = [token({ sub: "Ada" }), token({ sub: "Grace", role: "admin" }), token({})];
    const at = (method: string, path: string, authorization?: string, value?: unknown): Asked => ({
      method,
      path: `/api/v1${path}`,
      ...(value === undefined ? {} : { body: JSON.stringify(value) }),
      headers: {
        origin: "https://app.example",
        ...(value === undefined ? {} : { "content-type": "application/json" }),
        ...(authorization === undefined ? {} : { authorization }),
      },
    });
    const shared = ["access-control-allow-origin", "access-control-expose-headers", "vary"];
    /** Checks that an error has the same form on both sides. */
    const fails = async (asked: Asked, status: number) => {
      const [tenonAnswer, honoAnswer] = await both(asks, asked, status, "content-type", ...shared);
      expect(tenonAnswer.headers.get("content-type")).toBe("application/problem+json");
      const members = (answer: Answered) => {
        const { type, title, errors } = parsed(answer) as {
          type: string;
          title: string;
          errors?: { in: string; pointer: string }[];
        };
        return { type, title, errors: errors?.map(({ in: place, pointer }) => ({ in: place, pointer })) };
      };
      expect(members(tenonAnswer)).toEqual(members(honoAnswer));
      return [parsed(tenonAnswer).detail, parsed(honoAnswer).detail];
    };

    await same(asks, at("GET", "/health"), 200, ...shared);
    for (const wrong of [
      undefined,
      "Basic x",
      "Bearer a.b.c",
      token({ sub: "Ada" }, "another key of thirty-two bytes…"),
    ]) {
      await fails(at("POST", "/notes", wrong, { title: "" }), 401);
    }
    await fails(at("GET", "/notes", token({ sub: "Ada", exp: 1 })), 401);
    await fails(at("GET", "/notes", token({ sub: "Ada", iss: "others" })), 401);
    expect(await fails(at("GET", "/notes", nobody), 403)).toEqual(Array(2).fill("the token names nobody"));

    await fails(at("POST", "/notes", ada, { title: "", text: 1 }), 400);
    expect(await same(asks, at("POST", "/notes", ada, { title: "a", text: "b" }), 201, "location", ...shared)).toEqual({
      id: 1,
      author: "Ada",
      title: "a",
      text: "b",
    });
    await same(asks, at("POST", "/notes", ada, { title: "c", text: "" }), 201, "location");
    expect(await same(asks, at("GET", "/notes", ada), 200)).toHaveLength(2);
    expect(await same(asks, at("GET", "/notes", grace), 200)).toHaveLength(0);
    await same(asks, at("GET", "/notes/1", ada), 200);
    expect(await fails(at("GET", "/notes/1", grace), 404)).toEqual(Array(2).fill("no such note"));
    await fails(at("GET", "/notes/x", ada), 400);

    expect(await fails(at("DELETE", "/admin/notes/1", ada), 403)).toEqual(Array(2).fill("for administrators only"));
    await both(asks, at("DELETE", "/admin/notes/1", grace), 204, ...shared);
    expect(await fails(at("DELETE", "/admin/notes/1", grace), 404)).toEqual(Array(2).fill("no such note"));
    await fails(at("GET", "/nowhere", ada), 404);

    const preflight = at("OPTIONS", "/notes");
    const headers = { ...preflight.headers, "access-control-request-method": "POST" };
    await both(asks, { ...preflight, headers }, 204, "access-control-allow-origin");
    const elsewhere = { ...at("GET", "/health"), headers: { origin: "https://evil.example" } };
    await both(asks, elsewhere, 200, "access-control-allow-origin");

    for (const side of ["tenon", "hono"]) {
      await run(store.url.replace("/postgres?", `/split_${side}?`), "DROP TABLE notes");
    }
    expect(await fails(at("GET", "/notes", ada), 503)).toEqual(Array(2).fill("the database does not answer"));
  });
});

describe("webhook", () => {
  const folder = mkdtempSync(join(tmpdir(), "compared-"));
  const seen: { readonly headers: IncomingHttpHeaders; readonly url: string; readonly body: string }[] = [];
  let status = 201;
  const chat = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    seen.push({ headers: req.headers, url: `${req.method} ${req.url}`, body });
    res.writeHead(status).end("{}");
  });
  let sidecar: HttpSidecar;

  beforeAll(async () => {
    await new Promise<void>((listening) => chat.listen(0, "127.0.0.1", listening));
    writeFileSync(join(folder, "key"), "Bearer of-the-chat");
    const upstream = `http://127.0.0.1:${(chat.address() as AddressInfo).port}`;
    const headerFiles = { authorization: join(folder, "key") };
    sidecar = await HttpSidecar.start({ upstream, listen: "127.0.0.1:0", headerFiles, allow: ["POST /v1/messages"] });
    Object.assign(process.env, { GITHUB: "k", CHAT_URL: upstream, CHAT_KEY: "Bearer of-the-chat" });
  });
  afterAll(async () => {
    await sidecar?.close();
    await new Promise((closed) => chat.close(closed));
    rmSync(folder, { recursive: true });
  });

  test("answers alike, and tells the chat the same", async () => {
    const env = { SIDECAR_CHAT_URL: sidecar.address };
    const tenon = testApp((await import("../webhook/tenon/handler.ts")).default, { env, secrets: { GITHUB: "k" } });
    const asks = [askTenon(tenon), askHono((await import("../webhook/hono/app.ts")).default)] as const;
    const event = {
      action: "opened",
      issue: { title: "It does “not”", html_url: "https://git.example/1" },
      repository: { full_name: "a/b" },
    };
    const deliver = (value: unknown, key = "k", id = "d-1"): Asked => {
      const body = typeof value === "string" ? value : JSON.stringify(value);
      const headers: Record<string, string> = { "content-type": "application/json" };
      if (key !== "") headers["x-hub-signature-256"] = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
      if (id !== "") headers["x-github-delivery"] = id;
      return { method: "POST", path: "/github/issues", body, headers };
    };

    await both(asks, deliver(event), 202);
    const told = { text: "a/b: It does “not” https://git.example/1" };
    expect(seen.map(({ url, body }) => [url, JSON.parse(body)])).toEqual(Array(2).fill(["POST /v1/messages", told]));
    for (const { headers } of seen) {
      expect(headers).toMatchObject({ authorization: "Bearer of-the-chat", "idempotency-key": "d-1" });
      expect(headers["content-type"]).toContain("application/json");
    }

    await both(asks, deliver({ ...event, action: "closed" }), 202);
    await both(asks, deliver(event, "another"), 401);
    await both(asks, deliver(event, ""), 401);
    await both(
      asks,
      { ...deliver(event), headers: { ...deliver(event).headers, "x-hub-signature-256": "sha256=é" } },
      401,
    );
    await both(asks, deliver(event, "k", ""), 400);
    await both(asks, deliver({ ...event, issue: { title: "x", html_url: "no" } }), 400);
    await both(asks, deliver({ ...event, action: 1 }), 400);
    await both(asks, deliver("{"), 400);
    expect(seen).toHaveLength(2);
    status = 418;
    await both(asks, deliver(event), 502);
    expect(seen).toHaveLength(4);
  });
});
