// Cost of 500 routes with 1,500 schemas for the type checker, relative to an empty project: `npm run build && node
// bench/sdk/types.mjs`. Three modes: the routes alone, `middleware` around each of them (kits, groups and `cors`), and
// a typed `client` that calls each. The budget is a second. CI cannot test times, so it limits the number of type
// instantiations, which take most of the time and are the same on every machine. `--instantiations` prints them for one
// mode.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = join(here, "../../node_modules/typescript/bin/tsc");
const COUNT = 500;
const ROUNDS = 5;

const head = `import { field, get, list, ok, Path, post, created, Query, routes, Type } from "@tenon/sdk";\n`;
const headAround = `import { bearer, cors, field, get, group, list, middleware, ok, Path, post, created, Query, routes, Type, use } from "@tenon/sdk";
const signedIn = use(bearer((token) => ({ name: token })));
const timed = middleware(async (req, next) => (await next({ at: 0 })).header("server-timing", "app"));
`;
const schemas = (i) => `
const T${i} = Type("T${i}", { id: field.u32(), name: field.string({ max: 100 }), tags: list(field.string()), note: field.string().optional() });
const P${i} = Path("P${i}", { id: field.u32() });
const Q${i} = Query("Q${i}", { page: field.u32({ default: 1 }), q: field.string().optional() });`;
const route = (i, kit = "", { name, context } = { name: '""', context: "" }) =>
  i % 2
    ? `${kit}get("/things${i}/{id}", { path: P${i}, query: Q${i}, response: T${i} }, ({ path, query }${context}) => ok({ id: path.id + query.page, name: ${name}, tags: [] }))`
    : `${kit}post("/things${i}/{id}", { path: P${i}, body: T${i}, response: T${i}, status: 201 }, ({ body }${context}) => created("/", { ...body, name: ${name}, tags: [] }))`;
const all = Array.from({ length: COUNT }, (_, i) => i);
const plain = `${head}${all.map((i) => `${schemas(i)}\nexport const r${i} = ${route(i)};`).join("")}
const app = routes({ ${all.map((i) => `r${i}`).join(", ")} });
export default app;
`;

const GROUP = 10;
const user = { name: "user.name", context: ", _, { user }" };
const groups = all.filter((i) => i % GROUP === 0);
const around = `${headAround}${all.map((i) => `${schemas(i)}\nconst r${i} = ${route(i, "signedIn.", user)};`).join("")}
${groups.map((i) => `const g${i} = group("/g${i}", { ${all.slice(i, i + GROUP).map((n) => `r${n}`)} }, { use: [timed] });`).join("\n")}
export default routes({ ${groups.map((i) => `g${i}`)} }, { use: [cors({ origin: "*" })] });
`;

const call = (i) =>
  `await api.r${i}({ path: { id: 1 }, ${i % 2 ? `query: { q: "x" }` : `body: { id: 1, name: "", tags: [] }`} })`;
const calls = `import { client } from "@tenon/sdk/client";
${plain}const api = client<typeof app>("http://localhost");
${all.map((i) => `export const c${i} = ${call(i)};\nif (c${i}.ok) c${i}.data.name;`).join("\n")}
`;

const MODES = { plain, middleware: around, client: calls };

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

/** Checks a project. An error in it ends the program. */
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
  const at = process.argv.indexOf("--instantiations");
  if (at > 0) {
    const mode = process.argv[at + 1] ?? "plain";
    process.stdout.write(`${instantiations(project(mode, MODES[mode]))}\n`);
  } else {
    const empty = project("empty", `${head}export default routes({ index: get("/", () => ok({})) });\n`);
    const one = seconds(empty);
    for (const [mode, source] of Object.entries(MODES)) {
      const many = project(mode, source);
      const all = seconds(many);
      process.stdout.write(
        `${mode}: ${COUNT} routes ${all.toFixed(2)} s, one route ${one.toFixed(2)} s, ${(all - one).toFixed(2)} s more; ${instantiations(many)} instantiations\n`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
