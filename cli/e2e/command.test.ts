/** The command's answers to wrong usage. */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { send } from "./http.ts";
import { echoProject, root, startTenon, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "command-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: string[], cwd = folder) => spawnSync(process.execPath, [tenon, ...args], { cwd, encoding: "utf8" });

async function project(handler: string, name: string, config = `[project]\nname = "${name}"\n`): Promise<string> {
  const at = join(folder, name);
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), config);
  await writeFile(join(at, "src", "handler.ts"), handler);
  return at;
}

test("help and version are data, and done", () => {
  const version = expect.stringMatching(/^tenon 0\.1\.0 \(QuickJS-ng [\d.]+, wasmtime [\d.]+\)\n$/);
  expect(run(["--version"])).toMatchObject({ status: 0, stdout: version, stderr: "" });
  const help = run(["--help"]);
  expect(help.status).toBe(0);
  for (const command of ["new", "build", "dev", "run", "doctor", "bridge", "completions"])
    expect(help.stdout).toMatch(new RegExp(`^ {2}${command} `, "m"));
});

test("doctor says what is there, and fails when something does not work", async () => {
  const doctor = (args: string[], cacheFolder: string) =>
    spawnSync(process.execPath, [tenon, "doctor", ...args], {
      cwd: echoProject,
      encoding: "utf8",
      env: { ...process.env, TENON_CACHE_DIR: cacheFolder },
    });
  const { status, stdout } = doctor(["--json"], join(folder, "cache"));
  const states = (JSON.parse(stdout) as { name: string; state: string }[]).map(
    ({ name, state }) => `${name}: ${state}`,
  );
  expect(status).toBe(0);
  expect(states).toEqual(
    expect.arrayContaining(["Node: ok", "addon: ok", "engine: ok", "cache folder: ok", "project: ok", "SDK: ok"]),
  );
  const shared = join(folder, "shared-cache");
  await mkdir(shared);
  await chmod(shared, 0o777);
  const refused = doctor(["--quiet"], shared);
  expect(refused.status).toBe(1);
  expect(refused.stdout).toMatch(
    /^error cache folder {2}.*others may write to it.*\n {21}→ fix that, or set TENON_CACHE_DIR/,
  );
});

test("help is there for commands below commands", () => {
  for (const args of [
    ["help", "sidecar", "sql"],
    ["sidecar", "help", "sql"],
  ]) {
    expect(run(args)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: tenon sidecar sql /) });
  }
});

test("a project can be made in the working folder, under its name", async () => {
  const at = join(folder, "made-here");
  await mkdir(at);
  const { status, stderr } = run(["new", "."], at);
  expect(status).toBe(0);
  expect(stderr).toContain("Create made-here (");
  expect(stderr).not.toContain("cd ");
  expect(await readFile(join(at, "tenon.toml"), "utf8")).toContain('name = "made-here"');
  expect(run(["new", "."], at)).toMatchObject({ status: 1, stderr: expect.stringContaining("not empty") });
});

describe("wrong usage is 2 and says what to type", () => {
  test.each([
    [["biuld"], "Did you mean build?"],
    [["build", "--relaese"], "Did you mean --release?"],
    [["run", "--port", "70000"], "A port must be a number from 0 to 65535"],
    [["run", "--port"], "argument missing"],
    [["new"], "missing required argument 'name'"],
    [["new", "demo", "-t", "nextjs"], "Allowed choices are hello"],
    [["new", "My Shop"], "npm names are in lower case"],
    [["new", "@team/shop"], "hint: for example: tenon new shop"],
    [["help", "biuld"], "Did you mean build?"],
    [["help", "sidecar", "nonsense"], "unknown command 'nonsense'\n(tenon sidecar --help lists its options)"],
    [["build", "extra"], "too many arguments"],
    [[], "Usage: tenon"],
  ])("%j", (args, message) => {
    const { status, stdout, stderr } = run(args);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });
});

describe("failures are 1, on standard error, with a hint", () => {
  test("outside a project", () => {
    const { status, stderr } = run(["build"]);
    expect(status).toBe(1);
    expect(stderr).toContain(`there is no tenon.toml in ${folder} or above it`);
    expect(stderr).toContain("hint: go to a project's folder, or make one with `tenon new <name>`");
  });

  test("a broken tenon.toml", async () => {
    const at = await project("", "broken", '[project]\nname = "x\n');
    expect(run(["build"], at)).toMatchObject({ status: 1, stderr: expect.stringContaining("tenon.toml:2:") });
  });

  test("composing a project that is not to be composed", async () => {
    const at = await project("", "bare", '[project]\nname = "bare"\n[composition]\nhttp_handler = false\n');
    const { status, stderr } = run(["build", "-rc"], at);
    expect(status).toBe(1);
    expect(stderr).toContain("composition.http_handler is false in tenon.toml");
  });

  test("a workspace's root stands for every project in it", async () => {
    const at = join(folder, "workspace");
    await mkdir(at);
    await writeFile(join(at, "package.json"), '{ "workspaces": ["*"] }');
    for (const name of ["one", "two"]) {
      await project(
        'import { ok, get, routes } from "@tenon/sdk";\nexport default routes({ a: get("/", () => ok(1)) });',
        `workspace/${name}`,
        `[project]\nname = "${name}"\n`,
      );
      await writeFile(join(at, name, "package.json"), "{}");
    }
    const { status, stdout } = run(["build", "--json", "--quiet"], at);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { name: "one", component: { path: "one/dist/one.wasm" } },
      { name: "two", component: { path: "two/dist/two.wasm" } },
    ]);
    expect(status).toBe(0);
  });

  test("in a workspace what can be built is, whatever becomes of the others", async () => {
    const at = join(folder, "workspace");
    await project("oops oops", "workspace/broken", '[project]\nname = "broken"\n');
    await writeFile(join(at, "broken/package.json"), "{}");
    // One where a folder cannot be made, too.
    const blocked = await project("export default 1;\n", "workspace/blocked", '[project]\nname = "blocked"\n');
    await writeFile(join(blocked, "package.json"), "{}");
    await writeFile(join(blocked, ".tenon"), "a file");
    const { status, stdout, stderr } = run(["build", "--json", "--quiet"], at);
    expect([status, stdout.trim().split("\n").length]).toEqual([1, 2]);
    expect(stderr).toContain("broken/src/handler.ts:1:");
    expect(stderr).toMatch(/cannot make .*blocked/);
    expect(stderr).toContain("of 4 projects these were not built: blocked, broken");
  });

  test("what the machine refuses is said in a line", async () => {
    const at = await project(
      'import { ok, get, routes } from "@tenon/sdk";\nexport default routes({ a: get("/", () => ok(1)) });',
      "refused",
    );
    await writeFile(join(at, "dist"), "a file");
    const { status, stderr } = run(["build"], at);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: cannot write .*refused\.wasm\S*: a part of the path is a file$/m);
    await rm(join(at, ".tenon"), { recursive: true });
    await writeFile(join(at, ".tenon"), "a file");
    const scratch = run(["build"], at);
    expect(scratch.status).toBe(1);
    expect(scratch.stderr).toMatch(/^error: cannot make .*\.tenon\S*: a part of the path is a file$/m);
    for (const said of [stderr, scratch.stderr]) expect(said).not.toMatch(/bug in tenon|\n {4}at /);
    const full = openSync("/dev/full", "w");
    const unwritten = spawnSync(process.execPath, [tenon, "completions", "bash"], { stdio: ["ignore", full, "pipe"] });
    closeSync(full);
    expect([unwritten.status, String(unwritten.stderr)]).toEqual([
      1,
      "error: cannot write to standard output: the disk is full\n",
    ]);
  });

  test("nothing built yet", async () => {
    const at = await project("", "unbuilt");
    expect(run(["run"], at)).toMatchObject({ status: 1, stderr: expect.stringContaining("run `tenon build` first") });
  });

  test("a component that is not there, and one that is none", async () => {
    expect(run(["run", "gone.wasm"]).stderr).toContain(
      "cannot read gone.wasm: there is no such file\nhint: run `tenon build`",
    );
    await writeFile(join(folder, "text.wasm"), "text");
    const { status, stderr } = run(["run", "text.wasm"]);
    expect(status).toBe(1);
    expect(stderr).toContain("text.wasm is not a component that can be compiled");
  });

  test("a port that is taken", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const child = spawn(process.execPath, [tenon, "run", "-p", String(port)], { cwd: echoProject });
    let stderr = "";
    child.stderr.on("data", (data) => {
      stderr += data;
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    server.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}`);
    expect(stderr).toContain("choose another port with --port");
  });
});

describe("errors in a handler are shown where they are in the TypeScript", () => {
  test.each([
    ["syntax", "export default {\n  oops(\n};\n", /src\/handler\.ts:3:1: /],
    [
      "import",
      'import { nothing } from "./missing.ts";\nexport default nothing;\n',
      /src\/handler\.ts:1:25: Could not resolve/,
    ],
    [
      "node",
      'import { readFile } from "node:fs/promises";\nexport default readFile;\n',
      /src\/handler\.ts:1:26: "node:fs\/promises" is a module of Node/,
    ],
    ["exported", "export const app = 1;\n", /src\/handler\.ts: .*it has no default export/],
  ])("%s", async (name, handler, message) => {
    const at = await project(handler, name);
    const { status, stderr } = run(["build"], at);
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
  });

  test("an exception at top level", async () => {
    const at = await project(
      "const limit: number = 5;\n\nif (limit > 3) {\n  throw new Error('too much');\n}\nexport default limit;\n",
      "throws",
    );
    const { status, stderr } = run(["build"], at);
    expect(stderr).toMatch(/src\/handler\.ts:4:\d+: the module's top level failed: .*too much/);
    expect(stderr).toContain("throw new Error('too much');");
    expect(status).toBe(1);
  });
});

describe("tenon run", () => {
  test("serves modules/ besides, and stops on SIGTERM with 0 and on Ctrl-C with 130", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 0],
      ["SIGINT", 130],
    ] as const) {
      const running = await startTenon([], "echo", echoProject);
      expect((await send(running.base, { path: "/run/echo/count" })).json()).toEqual({ count: 1 });
      const exited = new Promise((resolve) => running.process.once("exit", resolve));
      running.process.kill(signal);
      expect(await exited).toBe(code);
    }
  });

  test("stops with 0 when SIGTERM comes as soon as it has said where it serves", async () => {
    for (let round = 0; round < 5; round++) {
      const running = await startTenon([], "echo", echoProject);
      const exited = new Promise((resolve) => running.process.once("exit", resolve));
      running.process.kill("SIGTERM");
      expect(await exited).toBe(0);
    }
  });

  test("takes names of the project's modules, and says which there are", async () => {
    const running = await startTenon(["echo", join(root, "examples/hello/dist/hello.wasm")], "echo", echoProject);
    expect((await send(running.base, { path: "/run/echo/count" })).json()).toEqual({ count: 1 });
    expect((await send(running.base, { path: "/run/hello/health" })).json()).toEqual({ status: "ok" });
    await running.stop();
    const { status, stderr } = run(["run", "ehco"], echoProject);
    expect(status).toBe(1);
    expect(stderr).toContain("there is no component ehco");
    expect(stderr).toContain("did you mean echo?");
  });

  test("gives the module the configured environment and nothing else", async () => {
    const at = await project("", "configured", '[project]\nname = "configured"\n[env]\nGREETING = "hi"\n');
    const running = await startTenon([join(echoProject, "dist/echo.wasm")], "echo", at);
    expect((await send(running.base, { path: "/run/echo/environment" })).json()).toEqual({
      greeting: "hi",
      home: null,
    });
    await running.stop();
  });

  test("answers /health with its modules", async () => {
    const running = await startTenon([join(echoProject, "dist/echo-composed.wasm")], "echo");
    const health = (await send(running.base, { path: "/health" })).json();
    expect(health).toEqual({
      status: "ok",
      version: "0.1.0",
      uptime_s: expect.any(Number),
      modules: { echo: "ready" },
    });
    await running.stop();
  });
});
