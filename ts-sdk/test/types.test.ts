import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

// Vitest's own type checking needs a compiler API that TypeScript 7 no longer has; its compiler checks the same.
it("type-checks every source, test and *.test-d.ts", { timeout: 120_000 }, async () => {
  const run = promisify(execFile)(process.execPath, [tsc, "-p", "tsconfig.types.json", "--pretty", "false"], {
    cwd: root,
  });
  const output = await run.then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  );
  expect(output).toBe("");
});

it.each([
  ["ok(load())", "await the promise first: ok(await …)"],
  ['created("/a", load())', "await the promise first: ok(await …)"],
  ["accepted(load())", "await the promise first: ok(await …)"],
  ['ok(ensure(load(), 404, "none"))', "await the promise first: ensure(await …)"],
])("the compiler's error says what to do about the promise of %s", { timeout: 120_000 }, async (answer, said) => {
  const scratch = join(root, ".tenon");
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(join(scratch, "promise-"));
  try {
    const file = join(folder, "handler.ts");
    const text = `import { accepted, created, ensure, get, ok, routes } from "../../src/index.ts";
declare function load(): Promise<{ a: string }>;
export default routes({ a: get("/a", () => ${answer}), b: get("/b", () => (accepted(), created("/b", 1), ensure(ok(1), 404, ""))) });
`;
    await writeFile(file, text);
    const options =
      "--noEmit --ignoreConfig --strict --module nodenext --target esnext --allowImportingTsExtensions --pretty false";
    const run = promisify(execFile)(process.execPath, [tsc, ...options.split(" "), file]);
    const output = await run.then(
      () => "",
      (failed: { stdout: string }) => failed.stdout,
    );
    const own = output.split("\n").filter((line) => line.includes("handler.ts(3,"));
    expect(own.join("\n")).toContain(`"${said}"`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

// Budgets, in instantiations, for 500 routes with 1,500 schemas: raise them only deliberately. The number is the same
// on every machine and dominates the time, which `bench/sdk/types.mjs` measures.
it.each([
  ["routes", "plain", 332_000],
  ["kits, groups and middleware of an app", "middleware", 352_000],
  ["routes and a typed client that calls each", "client", 460_000],
])("costs the type checker little: %s", { timeout: 120_000 }, async (_what, mode, budget) => {
  const program = fileURLToPath(new URL("../../bench/sdk/types.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--instantiations", mode]);
  expect(Number(stdout)).toBeGreaterThan(100_000);
  expect(Number(stdout)).toBeLessThan(budget);
});
