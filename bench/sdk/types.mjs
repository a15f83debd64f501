// How long 500 routes take to type-check over an empty project: `node bench/sdk/types.mjs`. The budget is one second.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = join(here, "../../node_modules/typescript/bin/tsc");
const folder = join(here, ".tenon/types");
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

function seconds(at) {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    execFileSync(process.execPath, [tsc, "-p", at], { stdio: "inherit" });
    return (performance.now() - start) / 1000;
  });
  return Math.min(...times);
}

const empty = seconds(project("empty", `${head}export default routes({ index: get("/", () => ok({})) });\n`));
const many = seconds(project("many", full));
process.stdout.write(
  `${COUNT} routes: ${many.toFixed(2)} s; one route: ${empty.toFixed(2)} s; ${(many - empty).toFixed(2)} s more\n`,
);
rmSync(folder, { recursive: true });
