/** The recipes of `docs/embedding.md`, run as they stand there but for the port. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { freePort } from "./develop.ts";
import { helloProject, root } from "./servers.ts";

let folder: string;
let recipes: Map<string, string>;
let server: ChildProcess | undefined;

beforeAll(async () => {
  // Inside the clone, where recipes find the packages.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/recipes-"));
  await writeFile(join(folder, "package.json"), '{ "name": "app", "version": "9.9.9", "type": "module" }');
  await mkdir(join(folder, "dist"));
  await cp(join(helloProject, "dist/hello.wasm"), join(folder, "dist/hello.wasm"));
  const page = await readFile(join(root, "docs/embedding.md"), "utf8");
  recipes = new Map(
    [...page.matchAll(/```js\n(\/\/ (\S+\.js).*\n[\s\S]*?)```/g)].map(([, text = "", file = ""]) => [file, text]),
  );
});
afterEach(() => server?.kill("SIGKILL"));
afterAll(() => rm(folder, { recursive: true }));

const recipe = (file: string) => {
  const text = recipes.get(file);
  if (text === undefined) throw new Error(`docs/embedding.md has no ${file}`);
  return text;
};

/** Starts a program in the folder, and resolves to its base URL. */
async function started(file: string, port: number): Promise<string> {
  server = spawn(process.execPath, [file], { cwd: folder, stdio: "inherit" });
  const base = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(base).then(() => "serves", String)).toBe("serves");
  return base;
}

async function expectAnswers(base: string): Promise<void> {
  const answer = await fetch(`${base}/run/hello/hello/Ada`);
  expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
    200,
    "application/json",
    { greeting: "Hello, Ada!" },
  ]);
  const body = JSON.stringify({ name: "Ada" });
  const headers = { "content-type": "application/json" };
  expect(await fetch(`${base}/run/hello/users`, { method: "POST", headers, body })).toMatchObject({ status: 201 });
}

test.each(["express.js", "fastify.js", "hono.js", "cluster.js"])("%s serves modules, and ends", async (file) => {
  const port = await freePort();
  await writeFile(join(folder, "to-request.js"), recipe("to-request.js"));
  expect(recipe(file)).toContain("3000");
  await writeFile(join(folder, file), recipe(file).replace("3000", String(port)));
  const base = await started(file, port);
  await expectAnswers(base);
  const ended = new Promise((resolve) => server?.once("exit", resolve));
  server?.kill("SIGTERM");
  expect(await ended).toBe(0);
});

const program = `
import { Runtime } from "tenon";
const runtime = await Runtime.create({ modules: ["dist/hello.wasm"] });
console.log(await (await runtime.fetch("http://localhost/run/hello/hello/Ada")).text());
await runtime.close();
`;

test("bundles of esbuild and Vite run with tenon external", async () => {
  await mkdir(join(folder, "src"), { recursive: true });
  await writeFile(join(folder, "src/app.js"), program);
  await writeFile(join(folder, "vite.config.js"), recipe("vite.config.js"));
  const page = await readFile(join(root, "docs/embedding.md"), "utf8");
  const [, esbuild = ""] = /`esbuild (src\/app\.js [^`]*)`/.exec(page) ?? [];
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const bin = (name: string) => join(root, "node_modules/.bin", name);
  for (const bundle of [
    () => run(bin("esbuild"), [...esbuild.split(" "), "--log-level=warning"]),
    () => run(bin("vite"), ["build", "--ssr", "src/app.js", "--emptyOutDir", "false", "--logLevel", "warn"]),
  ]) {
    await rm(join(folder, "dist/app.js"), { force: true });
    bundle();
    expect(await readFile(join(folder, "dist/app.js"), "utf8")).toContain('from "tenon"');
    expect(run(process.execPath, [join("dist", "app.js")])).toBe('{"greeting":"Hello, Ada!"}\n');
  }
});
