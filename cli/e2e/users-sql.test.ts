/** examples/users-sql as a component, with its database behind a sidecar: SQLite and PostgreSQL, over TCP, a Unix socket, and in the process. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { migrate } from "../src/embed/migrate.ts";
import { Runtime } from "../src/embed/runtime.ts";
import type { InProcessSidecar } from "../src/embed/runtime-options.ts";
import { Sidecar } from "../src/embed/sidecar.ts";
import { folder, startPostgres } from "../test/services/stores.ts";
import { root, tenon } from "./servers.ts";

const project = join(root, "examples/users-sql");

beforeAll(() => {
  const build = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: project, encoding: "utf8" });
  expect([build.status, build.stderr]).toEqual([0, expect.any(String)]);
});

const cases = [
  { dialect: "sqlite", transport: "TCP" },
  { dialect: "sqlite", transport: "a Unix socket" },
  { dialect: "sqlite", transport: "nothing" },
  { dialect: "postgres", transport: "TCP", needs: "postgresql" as const },
  { dialect: "postgres", transport: "a Unix socket", needs: "postgresql" as const },
  { dialect: "postgres", transport: "nothing", needs: "postgresql" as const },
];

describeEach("users-sql on $dialect over $transport", cases, ({ dialect, transport }) => {
  const directory = folder();
  const end: (() => Promise<unknown>)[] = [];
  let runtime: Runtime;

  beforeAll(async () => {
    const postgres = dialect === "postgres" ? await startPostgres() : undefined;
    if (postgres !== undefined) end.unshift(() => postgres.stop());
    const url = postgres?.url ?? `sqlite:${join(directory, "users.db")}`;
    let db: string | InProcessSidecar = { run: "sql", url };
    if (transport !== "nothing") {
      const listen = transport === "TCP" ? "127.0.0.1:0" : `unix://${join(directory, "db.sock")}`;
      const sidecar = await Sidecar.start({ kind: "sql", url, listen, logLevel: "warn" });
      end.unshift(() => sidecar.close());
      db = sidecar.address;
    }
    const migrated = await migrate({ address: db, folder: join(project, "migrations") });
    expect(migrated).toMatchObject({ dialect, applied: ["0001_tables.sql"] });
    runtime = await Runtime.create({
      modules: [join(project, "dist/users-sql.wasm")],
      sidecars: { db },
      env: { DIALECT: dialect },
    });
    end.unshift(() => runtime.close());
  });
  afterAll(async () => {
    for (const each of end) await each();
    rmSync(directory, { recursive: true, force: true });
  });

  const ask = (method: string, path: string, json?: unknown) =>
    runtime.fetch(
      new Request(`http://localhost/run/users-sql${path}`, {
        method,
        ...(json === undefined ? {} : { body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
      }),
    );

  it("creates, finds, pages through, changes and deletes users", async () => {
    for (let n = 1; n <= 5; n++) {
      const response = await ask("POST", "/users", { name: `User ${n}`, email: `user${n}@example.com`, age: 20 + n });
      expect([response.status, await response.json()]).toEqual([201, expect.objectContaining({ name: `User ${n}` })]);
    }
    expect((await ask("POST", "/users", { name: "Again", email: "user1@example.com" })).status).toBe(409);
    const filter = encodeURIComponent('{"age":{"$gte":22}}');
    const first = (await (await ask("GET", `/users?limit=3&filter=${filter}`)).json()) as Found;
    expect(first.users.map(({ name }) => name)).toEqual(["User 5", "User 4", "User 3"]);
    const after = encodeURIComponent(first.page.next_cursor ?? "");
    const second = (await (await ask("GET", `/users?limit=3&filter=${filter}&after=${after}`)).json()) as Found;
    expect([second.users.map(({ name }) => name), second.page.has_next]).toEqual([["User 2"], false]);
    const id = second.users[0]?.id;
    expect(await (await ask("PATCH", `/users/${id}`, { age: 77 })).json()).toMatchObject({ name: "User 2", age: 77 });
    expect((await ask("DELETE", `/users/${id}`)).status).toBe(204);
    expect((await ask("GET", `/users/${id}`)).status).toBe(404);
    expect((await ask("GET", "/users?filter=%7B")).status).toBe(400);
  });
});

interface Found {
  readonly users: readonly { readonly id: number; readonly name: string }[];
  readonly page: { readonly has_next: boolean; readonly next_cursor?: string };
}
