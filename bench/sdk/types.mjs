// What 500 routes with 1,500 schemas cost the type checker over an empty project: `npm run build && node bench/sdk/types.mjs`.
// The budget is a second. A clock makes no test, so what CI holds the SDK to is the number of type instantiations, which is
// what the time goes into and is the same on every machine: `--instantiations` prints that alone.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = join(here, "../../node_modules/typescript/bin/tsc");
const COUNT = 500;
const ROUNDS = 5;

const head = `import { field, get, list, ok, Path, post, created, Query, routes, Type } from "@tenon/sdk";\n`;
const route = (i) => `
const T${i} = Type("T${i}", { id: field.u32(), name: field.string({ max: 100 }), tags: list(field.string()), note: field.string().optional() });
const P${i} = Path("P${i}", { id: field.u32() });
const Q${i} = Query("Q${i}", { page: field.u32({ default: 1 }), q: field.string().optional() });
export const r${i} = ${
  i % 2
    ? `get("/things${i}/{id}", { path: P${i}, query: Q${i}, response: T${i} }, ({ path, query }) => ok({ id: path.id + query.page, name: "", tags: [] }))`
    : `post("/things${i}/{id}", { path: P${i}, body: T${i}, response: T${i}, status: 201 }, ({ body }) => created("/", { ...body, tags: [] }))`
};`;
const all = Array.from({ length: COUNT }, (_, i) => i);
const full = `${head}${all.map(route).join("")}\nexport default routes({ ${all.map((i) => `r${i}`).join(", ")} });\n`;

// Beside this file, so that the package is found.
mkdirSync(join(here, ".tenon"), { recursive: true });
const folder = mkdtempSync(join(here, ".tenon/types-"));

function project(name, source) {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "index.ts"), source);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "ES2022",
    lib: ["ES2022"],
    module: "NodeNext",
    types: [],
    skipLibCheck: true,
  };
  writeFileSync(join(at, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
  return at;
}

/** Checks a project; an error in it ends the program. */
const check = (at, ...flags) => execFileSync(process.execPath, [tsc, "-p", at, ...flags], { encoding: "utf8" });

function instantiations(at) {
  return Number(/^Instantiations:\s+(\d+)$/m.exec(check(at, "--extendedDiagnostics", "--singleThreaded"))[1]);
}

function seconds(at) {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    check(at);
    return (performance.now() - start) / 1000;
  });
  return Math.min(...times);
}

try {
  const many = project("many", full);
  const count = instantiations(many);
  if (process.argv.includes("--instantiations")) {
    process.stdout.write(`${count}\n`);
  } else {
    const empty = project("empty", `${head}export default routes({ index: get("/", () => ok({})) });\n`);
    const [one, all] = [seconds(empty), seconds(many)];
    process.stdout.write(
      `${COUNT} routes: ${all.toFixed(2)} s; one route: ${one.toFixed(2)} s; ${(all - one).toFixed(2)} s more; ${count} instantiations\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
