/** `tenon dev` on a terminal: the output and the answers while sources change, break and are repaired. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { develop, developing, project, served } from "./develop.ts";
import { type Answer, send } from "./http.ts";
import { alive, descendants } from "./processes.ts";

developing();

const handler = (answer: string) => `
import { Type, env, field, get, ok, routes } from "@tenon/sdk";
const Answer = Type("Answer", { text: field.string() });
export default routes({
  index: get("/", { response: Answer }, () => ok({ text: ${answer} })),
  surroundings: get("/surroundings", () => ok(["DB", "CACHE", "STORAGE"].map((name) => env(\`SIDECAR_\${name}_URL\`)))),
  greeting: get("/greeting", () => ok({ greeting: env("GREETING") ?? null })),
});
`;

/** Gets a path below a base such as http://127.0.0.1:3000/run/shop. */
const ask = (base: string, path: string, headers: [string, string][] = []) =>
  send(base, { path: `${new URL(base).pathname}${path}`, headers });

const text = async (base: string) => (await ask(base, "/")).json();

/** Repeats a request until the expected answer comes; `each` checks every answer before it. */
async function until(base: string, wanted: string, each: (answer: Answer) => void): Promise<void> {
  for (;;) {
    const answer = await ask(base, "/");
    each(answer);
    if ((answer.json() as { text?: string }).text === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("edit, break, mend, and leave", { timeout: 600_000 }, async () => {
  const port = await freePort();
  const at = await project(
    "shop",
    handler('"one"'),
    `[server]\nport = ${port}\n[sidecars]\ncache = "http://127.0.0.1:1"\n`,
  );
  const source = join(at, "src/handler.ts");
  const terminal = develop(at);
  const { base, url, services } = await served(terminal, "shop");
  const [sign = ""] = await readdir(join(at, ".tenon/running"));
  expect(await readFile(join(at, ".tenon/running", sign), "utf8")).toBe(services);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect(await text(base)).toEqual({ text: "one" });
  await terminal.sees(/GET \/run\/shop\/ 200 \S+ ms/);

  // The development services are its sidecars, unless the file names others.
  expect((await ask(base, "/surroundings")).json()).toEqual([services, "http://127.0.0.1:1", services]);
  expect((await send(services, { path: "/kv?limit=1" })).status).toBe(200);
  // A page whose name was rebound to this machine reads nothing, of the module or of the server.
  for (const path of ["/run/shop/", "/docs", "/_tenon/build", "/health"]) {
    expect([path, (await send(url, { path, host: "evil.example" })).status]).toEqual([path, 403]);
    expect([path, (await send(url, { path, host: `localhost:${port}` })).status]).toEqual([path, 200]);
  }
  expect((await send(url, { path: "/run/shop/openapi.json" })).json()).toMatchObject({ openapi: "3.0.0" });
  expect((await send(url, { path: "/docs" })).body.toString()).toContain("<!doctype html>");

  // An edit: no request fails on the way from one answer to the next.
  await writeFile(source, handler('"two"'));
  await until(base, "two", (answer) => expect(answer.status).toBe(200));
  await terminal.sees(/Build shop after src\/handler.ts/);

  // An error: on the terminal, and for browsers; everybody else is answered as before.
  let from = terminal.mark;
  await writeFile(source, handler('"three" oops'));
  await terminal.sees(/error: src\/handler.ts:5:\d+: /, from);
  await terminal.sees(/Wait for a change; the last successful build is still served\n/, from);
  expect(await text(base)).toEqual({ text: "two" });
  const page = await ask(base, "/", [["accept", "text/html"]]);
  expect(page.status).toBe(500);
  expect(page.header("content-type")).toBe("text/html; charset=utf-8");
  expect(page.body.toString()).toMatch(/src\/handler\.ts:5:\d+<\/code>/);
  const failed = (await send(url, { path: "/_tenon/build" })).json();

  // Mended: the page would reload.
  await writeFile(source, handler('"three"'));
  await until(base, "three", (answer) => expect(answer.status).toBe(200));
  // The error page goes when the module has been replaced.
  await expect.poll(async () => (await ask(base, "/", [["accept", "text/html"]])).status).toBe(200);
  await expect.poll(async () => (await send(url, { path: "/_tenon/build" })).json()).not.toEqual(failed);

  // A top level that does not end: that is said, and the next save ends it.
  from = terminal.mark;
  await writeFile(source, `${handler('"endless"')}\nfor (;;) {}\n`);
  await terminal.sees(/Wait for the top level of src\/handler\.ts/, from);
  expect(await text(base)).toEqual({ text: "three" });
  await writeFile(source, handler('"four"'));
  await until(base, "four", (answer) => expect(answer.status).toBe(200));
  expect(terminal.screen(from)).not.toContain("error:");

  // A response that is not of its type.
  await writeFile(source, handler("5"));
  await expect.poll(async () => (await ask(base, "/")).status, { timeout: 60_000 }).toBe(500);
  expect((await ask(base, "/")).body.toString()).toContain("/text");

  // A mistake in tenon.toml is reported, and its settings apply once it is fixed; the port stays.
  from = terminal.mark;
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "shop"\n[server]\nprot = ${port}\n`);
  await terminal.sees(/tenon.toml:4:1: unknown key `prot` in \[server\]; did you mean `port`\?/, from);
  await writeFile(
    join(at, "tenon.toml"),
    `[project]\nname = "shop"\n[server]\nport = ${port}\n[env]\nGREETING = "hi"\n`,
  );
  await terminal.sees(/Reload tenon\.toml\n/, from);
  expect((await ask(base, "/greeting")).json()).toEqual({ greeting: "hi" });

  // Keys.
  from = terminal.mark;
  terminal.type("?");
  await terminal.sees(/r build again\n +o open the browser\n +q quit\n +\? this list/, from);
  from = terminal.mark;
  terminal.type("r");
  await terminal.sees(/Build shop \d/, from);

  // Ctrl-C while something is built.
  const processes = await descendants(terminal.pid);
  expect(processes.length).toBeGreaterThan(0);
  terminal.type("r");
  terminal.type("\x03");
  expect(await terminal.exited()).toBe(130);
  await expect.poll(() => alive(processes)).toEqual([]);
  await expect(send(url, { path: "/health" })).rejects.toThrow("ECONNREFUSED");
  await expect(send(services, { path: "/health" })).rejects.toThrow("ECONNREFUSED");
  const files = await readdir(join(at, ".tenon"), { recursive: true, withFileTypes: true });
  expect(files.filter((file) => file.isSocket())).toEqual([]);
  expect(await readdir(join(at, ".tenon/running"))).toEqual([]);
});

test("a module that does not load is told, and not called loaded anew", { timeout: 600_000 }, async () => {
  const at = await project("beside", handler('"one"'), `[server]\nport = ${await freePort()}\n`);
  await mkdir(join(at, "modules"));
  const terminal = develop(at);
  const { base } = await served(terminal, "beside");
  const from = terminal.mark;
  await writeFile(join(at, "modules/bad.wasm"), "no component");
  await terminal.sees(/error: modules\/bad\.wasm: /, from);
  // Once this is done, so is that.
  await writeFile(join(at, "src/handler.ts"), handler('"two"'));
  await until(base, "two", () => {});
  expect(terminal.screen(from)).not.toContain("Reload");
});

test("until the first build is over its module is answered 503; an undeclared member is told once", {
  timeout: 600_000,
}, async () => {
  const port = await freePort();
  const at = await project("early", handler('"one", ...{ password: "x" }'), `[server]\nport = ${port}\n`);
  const terminal = develop(at);
  const answers = new Set<number>();
  for (;;) {
    const status = await ask(`http://127.0.0.1:${port}/run/early`, "/").then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status !== undefined) answers.add(status);
    if (status === 200) break;
  }
  answers.delete(503);
  expect([...answers]).toEqual([200]);
  expect((await ask(`http://127.0.0.1:${port}/run/early`, "/")).json()).toEqual({ text: "one" });
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
  const warnings = terminal.screen().match(/^.*warning: .*$/gm);
  expect(warnings).toEqual([
    expect.stringContaining("warning: index: the response does not declare #/password, so it is not sent"),
  ]);
});

test("a first build that fails leaves nothing that serves, and it says so", { timeout: 600_000 }, async () => {
  const none = /Wait for a change; no build has succeeded yet, so nothing is served\n/;
  const config = `[server]\nport = ${await freePort()}\n`;
  const at = await project("unbuilt", handler('"one" oops'), config);
  let terminal = develop(at);
  let { base, url } = await served(terminal, "unbuilt");
  expect(terminal.screen()).toMatch(none);
  expect((await ask(base, "/")).status).toBe(503);
  const docs = async () => {
    const { status, body } = await send(url, { path: "/docs" });
    return [status, /<title>(.*)<\/title>/.exec(body.toString())?.[1]];
  };
  expect(await docs()).toEqual([503, "Build failed · unbuilt"]);
  let from = terminal.mark;
  await writeFile(join(at, "src/handler.ts"), handler('"one"'));
  await terminal.sees(/Build unbuilt after src\/handler.ts/, from);
  await expect.poll(() => text(base)).toEqual({ text: "one" });
  await expect.poll(docs).toEqual([200, "unbuilt"]);
  await writeFile(join(at, "src/handler.ts"), handler('"two" oops'));
  await terminal.sees(/Wait for a change; the last successful build is still served\n/, from);
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);

  // The output of an earlier run is not served.
  terminal = develop(at);
  ({ base, url } = await served(terminal, "unbuilt"));
  expect(terminal.screen()).toMatch(none);
  from = terminal.mark;
  await project("unbuilt", handler('"two" oops'), `${config}[env]\nGREETING = "hi"\n`);
  await terminal.sees(/Reload tenon\.toml/, from);
  await terminal.sees(none, from);
  expect((await ask(base, "/")).status).toBe(503);
});

test("an app without an OpenAPI document has a page that says so, or its own where it is mounted", {
  timeout: 600_000,
}, async () => {
  const config = `[server]\nport = ${await freePort()}\n`;
  const app = "export default { fetch: (request: Request) => new Response(new URL(request.url).pathname) };";
  const at = await project("plain", app, config);
  const { url } = await served(develop(at), "plain");
  const pages = () =>
    Promise.all(
      ["/docs", "/tools"].map(async (path) => {
        const { status, body } = await send(url, { path });
        return [status, /<title>(.*)<\/title>/.exec(body.toString())?.[1] ?? body.toString()];
      }),
    );
  await expect.poll(pages).toEqual([
    [404, "No OpenAPI document · plain"],
    [200, "Tools"],
  ]);
  await writeFile(
    join(at, "tenon.toml"),
    `[project]\nname = "plain"\nversion = "0.1.0"\n${config}[modules.plain]\nmount = "/"\n`,
  );
  await expect.poll(pages).toEqual([
    [200, "/docs"],
    [200, "/tools"],
  ]);
});

test("--fresh is refused while another one of the project runs, and not after it was killed", {
  timeout: 600_000,
}, async () => {
  const at = await project("kept", handler('"one"'), `[server]\nport = ${await freePort()}\n`);
  const first = develop(at);
  const { services } = await served(first, "kept");
  const set = await send(services, { method: "PUT", path: "/kv/a", body: "acknowledged" });
  expect([200, 201, 204]).toContain(set.status);
  const second = develop(at, "--fresh");
  expect(await second.exited()).toBe(1);
  expect(second.screen()).toMatch(
    /--fresh would delete files of another `tenon dev` .*process \d+\nhint: end that process first/,
  );
  expect((await send(services, { path: "/kv/a" })).body.toString()).toBe("acknowledged");

  const [dev] = (await readdir(join(at, ".tenon/running"))).map(Number);
  expect(dev).toBeGreaterThan(0);
  process.kill(dev ?? 0, "SIGKILL");
  await first.exited();
  expect(await readdir(join(at, ".tenon/running"))).toEqual([String(dev)]);
  const third = develop(at, "--fresh");
  const anew = await served(third, "kept");
  expect((await send(anew.services, { path: "/kv/a" })).status).toBe(404);
});

test("a second one finds its own ports, and says which; --port is this port or none", {
  timeout: 600_000,
}, async () => {
  const port = await freePort();
  const [first, second] = [
    await project("first", handler('"one"'), `[server]\nport = ${port}\n`),
    await project("second", handler('"one"'), `[server]\nport = ${port}\n`),
  ];
  const one = develop(first);
  const inFirst = await served(one, "first");
  const two = develop(second);
  const inSecond = await served(two, "second");
  await two.sees(new RegExp(`${port} is taken by another program; this is ${new URL(inSecond.url).port}`));
  const servicesPort = Number(new URL(inSecond.services).port);
  await two.sees(new RegExp(`9919 is taken by another program; the services are at ${servicesPort}`));
  expect(inSecond.url).not.toBe(inFirst.url);
  expect(inSecond.services).not.toBe(inFirst.services);
  expect(await text(inFirst.base)).toEqual({ text: "one" });
  expect(await text(inSecond.base)).toEqual({ text: "one" });
  two.type("q");
  expect(await two.exited()).toBe(0);

  const third = develop(second, `--port ${port}`);
  expect(await third.exited()).toBe(1);
  expect(third.screen()).toContain(`cannot listen on 127.0.0.1:${port}`);
  expect(third.screen()).toContain("choose another port with --port");
  one.type("\x03");
  expect(await one.exited()).toBe(130);
});
