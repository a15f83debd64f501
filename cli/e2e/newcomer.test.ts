/**
 * A newcomer's first minutes: the packages as npm would deliver them, in an empty folder outside the repository, on a
 * machine without Rust, at a terminal. Each session's transcript is kept in `cli/e2e/.tenon/newcomer/`, to be read.
 */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { send } from "./http.ts";
import { Pty } from "./pty.ts";
import { root } from "./servers.ts";

let folder: string;
let place: string;
let environment: NodeJS.ProcessEnv;
let terminal: Pty | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-newcomer-"));
  const { HOME, NODE_EXTRA_CA_CERTS } = process.env;
  const PATH = await pathWithoutRust(join(folder, "bin"));
  environment = { PATH, HOME, NODE_EXTRA_CA_CERTS, TENON_CACHE_DIR: join(folder, "cache"), PS1: "$ " };
  expect(() => run("cargo", ["--version"], folder)).toThrow();

  const packed = join(folder, "packed");
  place = join(folder, "place");
  await mkdir(packed);
  await mkdir(place);
  run("node", [join(root, "cli/scripts/pack-engine.mjs"), "--if-stale"], root);
  for (const workspace of ["ts-sdk", "bindings", "cli", "cli/build", "cli/engine"]) {
    execFileSync("npm", ["pack", "--silent", "--pack-destination", packed], { cwd: join(root, workspace) });
  }
  const tarballs = (await readdir(packed)).map((file) => join(packed, file));
  expect(tarballs).toHaveLength(5);
  // The folder is named, since npm would take one above it that has packages or a package.json.
  run("npm", ["install", "--no-audit", "--no-fund", "--prefix", place, ...tarballs], place);
});
afterEach(() => terminal?.kill());
afterAll(() => rm(folder, { recursive: true }));

/** A folder with everything on the PATH except Rust's programs. */
async function pathWithoutRust(bin: string): Promise<string> {
  await mkdir(bin);
  const seen = new Set<string>();
  for (const from of [dirname(process.execPath), "/usr/bin", "/bin"]) {
    for (const name of await readdir(from)) {
      if (seen.has(name) || /^(cargo|rust|clippy|wasm)/.test(name)) continue;
      seen.add(name);
      await symlink(join(from, name), join(bin, name));
    }
  }
  return bin;
}

/** Runs a command as a newcomer has it: no environment of this test's runner. */
function run(command: string, args: string[], cwd: string): string {
  return execFileSync(command, args, { cwd, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Types a command into the shell, and returns its output when the prompt is back. */
async function type(command: string): Promise<string> {
  if (terminal === undefined) throw new Error("no terminal");
  const from = terminal.mark;
  terminal.type(`${command}\n`);
  await terminal.sees(/\n\$ $/, from, 300);
  const printed = terminal.screen(from);
  const after = terminal.mark;
  terminal.type("echo exit $?\n");
  const [, code] = await terminal.sees(/\nexit (\d+)\n\$ $/, after);
  expect({ command, code, printed }).toEqual({ command, code: "0", printed });
  return printed;
}

/** A change that shows in an answer, for each template. */
const changes: readonly {
  readonly template: string;
  readonly migrates?: boolean;
  readonly ask: string;
  readonly before: string;
  readonly edit: (source: string) => string;
  readonly after: string;
  /** True when `tenon run` answers it too, because it needs no sidecar. */
  readonly runs: boolean;
}[] = [
  {
    template: "hello",
    ask: "/hello/Ada",
    before: '{"greeting":"Hello, Ada!"}',
    edit: (source: string) => source.replace("`Hello, ", "`Good day, "),
    after: '{"greeting":"Good day, Ada!"}',
    runs: true,
  },
  {
    template: "rest",
    ask: "/tasks",
    before: '{"tasks":[]}',
    edit: (source: string) => source.replace("ok({ tasks,", 'ok({ tasks: [], next: "more",'),
    after: '{"tasks":[],"next":"more"}',
    runs: false,
  },
  {
    template: "sql",
    migrates: true,
    ask: "/users/7",
    before: '{"type":"about:blank","title":"Not Found","status":404,"detail":"no such user"}',
    edit: (source: string) => source.replaceAll("no such user", "nobody"),
    after: '{"type":"about:blank","title":"Not Found","status":404,"detail":"nobody"}',
    runs: false,
  },
];

test.each(changes)(
  "$template: new, dev, edit, error, fix, test, schema, build, run",
  { timeout: 900_000 },
  async (it) => {
    const name = `my-${it.template}`;
    const project = join(place, name);
    const source = join(project, "src/handler.ts");
    terminal = new Pty("bash --norc --noprofile --noediting -i", place, environment);
    try {
      await terminal.sees(/\$ $/);
      expect(await type(`npx tenon new ${name} -t ${it.template}`)).toContain(
        `cd ${name}\n  npm install\n  npx tenon dev`,
      );
      await type(`cd ${name}`);
      await type("npm install --no-audit --no-fund");
      expect(await stat(join(project, ".gitignore"))).toBeDefined();

      const from = terminal.mark;
      terminal.type("npx tenon dev\n");
      const [, base = ""] = await terminal.sees(/Serve (http:\S+)\/\n/, from, 300);
      await terminal.sees(/Watch the sources; press \? for the keys\n/, from);
      if (it.migrates) run("npm", ["run", "migrate"], project);
      const ask = async () => {
        const { pathname } = new URL(base);
        return (await send(base, { path: `${pathname}${it.ask}` })).body.toString();
      };
      expect(await ask()).toBe(it.before);
      const original = await readFile(source, "utf8");
      await writeFile(source, it.edit(original));
      await expect.poll(ask, { timeout: 60_000 }).toBe(it.after);
      await writeFile(source, `${original}\nroutes(\n`);
      await terminal.sees(/error: src\/handler.ts:\d+:\d+: /, from);
      expect(await ask()).toBe(it.after);
      await writeFile(source, original);
      await expect.poll(ask, { timeout: 60_000 }).toBe(it.before);
      terminal.type("q");
      await terminal.sees(/\n\$ $/, from);

      expect(await type("npx vitest run")).toMatch(/Tests +\d+ passed/);
      await type("npx tsc --noEmit");
      await type("npx tenon schema");
      expect(JSON.parse(await readFile(join(project, "openapi.json"), "utf8"))).toMatchObject({
        info: { title: name },
      });
      await type("npx tenon build -rc");
      expect((await stat(join(project, `dist/${name}-composed.wasm`))).size).toBeGreaterThan(1_000_000);

      const started = terminal.mark;
      terminal.type("npx tenon run --port 0\n");
      const [, url = ""] = await terminal.sees(/Serve (http:\S+)\/run\/\S+\n/, started, 300);
      expect((await send(url, { path: "/health" })).json()).toMatchObject({
        status: "ok",
        modules: { [name]: "ready" },
      });
      if (it.runs) expect((await send(url, { path: `/run/${name}${it.ask}` })).body.toString()).toBe(it.before);
      terminal.type("\x03");
      await terminal.sees(/\n\$ $/, started);
      const last = terminal.mark;
      terminal.type("echo exit $?\n");
      await terminal.sees(/exit 130\n/, last);
    } finally {
      const transcripts = join(root, "cli/e2e/.tenon/newcomer");
      await mkdir(transcripts, { recursive: true });
      await writeFile(join(transcripts, `${it.template}.txt`), terminal.screen());
    }
  },
);
