/** The recipes of `docs/embedding.md`, run as they stand there but for the port. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { testWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { expectAnswers, greeting, program, RecipeFolder } from "./recipes.ts";
import { root, tenon } from "./servers.ts";

let folder: RecipeFolder;
let server: ChildProcess | undefined;

beforeAll(async () => {
  folder = await RecipeFolder.create("recipes");
});
afterEach(() => server?.kill("SIGKILL"));
afterAll(() => folder.delete());

const bin = (name: string) => join(root, "node_modules/.bin", name);

function run(command: string, args: string[], cwd = folder.folder): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** Starts a program in the folder. Resolves to the base address of its server. */
async function started(command: string, args: string[], port: number): Promise<string> {
  server = spawn(command, args, { cwd: folder.folder, stdio: "inherit" });
  const base = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(base).then(() => "serves", String), { timeout: 60_000 }).toBe("serves");
  return base;
}

test.each(["http.js", "express.js", "fastify.js", "hono.js", "cluster.js"])(
  "%s serves modules, and ends",
  async (file) => {
    const port = await freePort();
    await folder.writeServer(file, port);
    const base = await started(process.execPath, [file], port);
    await expectAnswers(base);
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    server?.kill("SIGTERM");
    expect(await ended).toBe(0);
  },
);

describe("bundles with tenon external", () => {
  /** Bundles the program, and runs the bundle. */
  async function expectRuns(bundle: () => void): Promise<void> {
    await folder.write("src/app.js", program);
    await rm(join(folder.folder, "dist/app.js"), { force: true });
    bundle();
    expect(await readFile(join(folder.folder, "dist/app.js"), "utf8")).toMatch(/from ?"tenon"/);
    expect(run(process.execPath, [join("dist", "app.js")])).toBe(`${greeting}\n`);
  }

  test("esbuild", async () => {
    const [, options = ""] = /`esbuild (src\/app\.js [^`]*)`/.exec(folder.page) ?? [];
    await expectRuns(() => run(bin("esbuild"), [...options.split(" "), "--log-level=warning"]));
  });

  test("Vite", async () => {
    await folder.write("vite.config.js", folder.recipe("vite.config.js"));
    await expectRuns(() =>
      run(bin("vite"), ["build", "--ssr", "src/app.js", "--emptyOutDir", "false", "--logLevel", "warn"]),
    );
  });

  testWith("webpack", "webpack", async () => {
    await folder.write("webpack.config.js", folder.recipe("webpack.config.js"));
    await expectRuns(() => run(process.execPath, [found("webpack"), "--mode", "production"]));
  });
});

describe("other JavaScript runtimes", () => {
  for (const name of ["node-22", "node-24"] as const) {
    testWith(name, name, async () => {
      await folder.write("program.js", program);
      expect(run(found(name), ["program.js"])).toBe(`${greeting}\n`);
      const port = await freePort();
      await folder.writeServer("hono.js", port);
      await expectAnswers(await started(found(name), ["hono.js"], port));
    });
  }

  testWith("bun", "Bun", async () => {
    const port = await freePort();
    await folder.writeServer("bun.js", port);
    await expectAnswers(await started(found("bun"), ["bun.js"], port));
  });

  testWith("deno", "Deno", async () => {
    const port = await freePort();
    await folder.writeServer("deno.js", port);
    await expectAnswers(await started(found("deno"), ["run", "--allow-all", "deno.js"], port));
  });
});

testWith("pnpm", "tenon builds the projects of a pnpm workspace from its root", async () => {
  const workspace = join(folder.folder, "workspace");
  const link = (path: string) => `link:${join(root, path)}`;
  const project = { name: "shop", private: true, type: "module", dependencies: { "@tenon/sdk": link("ts-sdk") } };
  const rootPackage = { name: "root", private: true, devDependencies: { tenon: link("cli") } };
  const handler =
    'import { get, ok, routes } from "@tenon/sdk";\n\nexport default routes({ hello: get("/hello", () => ok("Hello")) });\n';
  await mkdir(workspace);
  for (const [file, text] of [
    ["package.json", JSON.stringify(rootPackage)],
    ["pnpm-workspace.yaml", "packages: ['apps/*']\n"],
    ["apps/shop/package.json", JSON.stringify(project)],
    ["apps/shop/tenon.toml", '[project]\nname = "shop"\nversion = "1.0.0"\n'],
    ["apps/shop/src/handler.ts", handler],
  ] as const) {
    await folder.write(join("workspace", file), text);
  }
  const pnpm = (...args: string[]) => run(process.execPath, [found("pnpm"), "--silent", ...args], workspace);
  pnpm("install", "--offline", "--ignore-scripts");
  pnpm("exec", "tenon", "build");
  await expect(readFile(join(workspace, "apps/shop/dist/shop.wasm"))).resolves.toBeDefined();
  expect(run(process.execPath, [tenon, "--version"], workspace)).toMatch(/^tenon /);
});

function found(name: Parameters<typeof findProgram>[0]): string {
  const file = findProgram(name);
  if (file === undefined) throw new Error(`${name} is not installed`);
  return file;
}
