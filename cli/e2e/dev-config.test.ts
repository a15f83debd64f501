/** `tenon dev` while `tenon.toml` changes: which changes drop no connection, and what the others do. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { develop, developing, project, served } from "./develop.ts";
import { send } from "./http.ts";

developing();

const handler = `
import { env, get, ok, routes, secret } from "@tenon/sdk";
export default routes({
  seen: get("/seen", () => ok([env("GREETING") ?? null, env("SIDECAR_CACHE_URL"), secret("key")])),
});
`;

/** Clients that connect again and again, each with a connection for each request. */
class Clients {
  readonly answers = new Map<string, number>();
  readonly #ended: Promise<unknown>;
  #isOver = false;

  constructor(base: string, path: string) {
    this.#ended = Promise.all(Array.from({ length: 4 }, () => this.#ask(base, path)));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #ask(base: string, path: string): Promise<void> {
    while (!this.#isOver) {
      const answer = await send(base, { path }).then(
        ({ status }) => String(status),
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
    }
  }
}

test("no client is refused while tenon.toml changes", { timeout: 600_000 }, async () => {
  const port = await freePort();
  const secrets = '[secrets]\nkey = "env:KEPT_KEY"\n';
  const at = await project("kept", handler, `[server]\nport = ${port}\n${secrets}`);
  await writeFile(join(at, ".env"), "KEPT_KEY=one\n");
  const terminal = develop(at);
  const { url, services } = await served(terminal, "kept");
  const seen = async () => (await send(url, { path: "/run/kept/seen" })).json();
  await expect.poll(seen, { timeout: 60_000 }).toEqual([null, services, "one"]);

  const clients = new Clients(url, "/run/kept/seen");
  const change = async (config: string, expected: unknown[]) => {
    const before = clients.answers.get("200") ?? 0;
    await project("kept", handler, config);
    await expect.poll(seen, { timeout: 60_000 }).toEqual(expected);
    await expect.poll(() => clients.answers.get("200")).toBeGreaterThan(before);
  };
  const server = `[server]\nport = ${port}\n`;
  await change(`${server}${secrets}[env]\nGREETING = "hi"\n`, ["hi", services, "one"]);
  await change(
    `${server}request_timeout_ms = 20000\nmax_body_bytes = 1000\nwarm_instances = 2\nisolation = "shared"\n${secrets}[env]\nGREETING = "shared"\n`,
    ["shared", services, "one"],
  );
  await change(`${server}${secrets}[sidecars]\ncache = "http://127.0.0.1:1"\n`, [null, "http://127.0.0.1:1", "one"]);
  await change(`${server}${secrets}[outbound]\nallow = ["127.0.0.1:9"]\n[env]\nGREETING = "out"\n`, [
    "out",
    services,
    "one",
  ]);
  await writeFile(join(at, ".env"), "KEPT_KEY=two\n");
  await expect.poll(seen, { timeout: 60_000 }).toEqual(["out", services, "two"]);

  expect([...clients.answers.keys()]).toEqual(["200"]);

  // A configuration that cannot be served changes nothing, also not once the former one is back.
  const from = terminal.mark;
  await project("kept", handler, `${server}${secrets.replace("KEPT_KEY", "NO_SUCH_KEY")}`);
  await terminal.sees(/error: .*NO_SUCH_KEY/, from);
  expect(await seen()).toEqual(["out", services, "two"]);
  await change(`${server}${secrets}[env]\nGREETING = "back"\n`, ["back", services, "two"]);

  await clients.end();
  expect([...clients.answers.keys()]).toEqual(["200"]);
  expect((await send(url, { path: "/health" })).json()).toMatchObject({ status: "ok" });
  expect(terminal.screen()).not.toContain("Restart at");
});

test("another limit of the server and another port take a new runtime, and the former one ends", {
  timeout: 600_000,
}, async () => {
  const [port, other] = [await freePort(), await freePort()];
  const secrets = '[secrets]\nkey = "env:PATH"\n';
  const at = await project("moved", handler, `[server]\nport = ${port}\n${secrets}`);
  const terminal = develop(at);
  const { url } = await served(terminal, "moved");
  const status = async (base: string) => (await send(base, { path: "/run/moved/seen" })).status;
  await expect.poll(() => status(url), { timeout: 60_000 }).toBe(200);

  // The port stays, and so does the last build. No client is refused.
  const clients = new Clients(url, "/run/moved/seen");
  let from = terminal.mark;
  await project("moved", handler, `[server]\nport = ${port}\nmax_queued = 7\n${secrets}`);
  await terminal.sees(new RegExp(`Restart at http://127.0.0.1:${port}/run/moved/`), from);
  expect(await status(url)).toBe(200);
  await clients.end();
  expect([...clients.answers.keys()]).toEqual(["200"]);

  // The former address of a port that moves answers until the new one does.
  from = terminal.mark;
  await project("moved", handler, `[server]\nport = ${other}\nmax_queued = 7\n${secrets}`);
  const moved = `http://127.0.0.1:${other}`;
  let refused = false;
  while (!refused) {
    refused = await status(url).then(
      () => false,
      () => true,
    );
  }
  expect(await status(moved)).toBe(200);
  await terminal.sees(new RegExp(`Restart at ${moved}/run/moved/`), from);
  await expect(status(url)).rejects.toThrow("ECONNREFUSED");

  // From then on changes need no new runtime again.
  from = terminal.mark;
  await project("moved", handler, `[server]\nport = ${other}\nmax_queued = 7\n${secrets}[env]\nGREETING = "hi"\n`);
  await terminal.sees(/Reload tenon\.toml/, from);
  expect((await send(moved, { path: "/run/moved/seen" })).json()).toMatchObject({ 0: "hi" });

  // Another address of the same port, which is free once the former runtime has left it.
  from = terminal.mark;
  await project("moved", handler, `[server]\nhost = "0.0.0.0"\nport = ${other}\nmax_queued = 7\n${secrets}`);
  await terminal.sees(new RegExp(`Restart at http://.*:${other}/run/moved/`), from);
  expect(await status(moved)).toBe(200);
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
});
