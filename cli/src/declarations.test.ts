/** The package's declarations in a project with nothing but TypeScript: no types of Node, and libraries checked as well. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;

const program = `
import { HttpSidecar, migrate, Runtime, type RuntimeOptions, Services, Sidecar, TenonError } from "tenon";
const options: RuntimeOptions = { modules: ["a.wasm"], onLog: ({ level, message }) => [level, message.length] };
const runtime: Runtime = await Runtime.create(options);
const response: Response = await runtime.fetch("http://localhost/run/a/");
const { handle } = runtime;
await handle({ headers: {}, rawHeaders: [] }, { statusCode: 200, headersSent: false, writableEnded: false }, () => {});
await runtime[Symbol.asyncDispose]();
// @ts-expect-error: not a path
await runtime.reload("a", 1);
export { HttpSidecar, migrate, response, Services, Sidecar, TenonError };
`;

beforeAll(async () => {
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b"], { cwd: root });
  folder = await mkdtemp(join(tmpdir(), "tenon-declarations-"));
  await mkdir(join(folder, "node_modules/@tenon"), { recursive: true });
  await symlink(join(root, "cli"), join(folder, "node_modules/tenon"));
  await symlink(join(root, "bindings"), join(folder, "node_modules/@tenon/native"));
  await symlink(join(root, "ts-sdk"), join(folder, "node_modules/@tenon/sdk"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "a.ts"), program);
});
afterAll(() => rm(folder, { recursive: true }));

const compilers = { "5.9": "examples/client/package.json", "7": "package.json" };

test.each(Object.entries(compilers))(
  "TypeScript %s without the types of Node",
  { timeout: 120_000 },
  (version, from) => {
    const manifest = createRequire(join(root, from)).resolve("typescript/package.json");
    expect(createRequire(manifest)(manifest).version).toMatch(new RegExp(`^${version.replace(".", "\\.")}\\.`));
    for (const lib of [
      ["ES2022", "DOM"],
      ["ESNext", "DOM", "DOM.Iterable"],
    ]) {
      const compilerOptions = {
        noEmit: true,
        strict: true,
        skipLibCheck: false,
        preserveSymlinks: true,
        types: [],
        lib,
      };
      const [module, moduleResolution, target] = ["nodenext", "nodenext", "es2022"];
      const config = { compilerOptions: { ...compilerOptions, module, moduleResolution, target }, files: ["a.ts"] };
      expect(complaints(join(manifest, "../bin/tsc"), config)).toBe("");
    }
  },
);

function complaints(compiler: string, config: object): string {
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  try {
    return execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8", cwd: folder });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
