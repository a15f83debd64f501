// Writes the tables of docs/compared.md: `node table.mjs`. With `--check` it fails when they differ from the page's.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const page = new URL("../../docs/compared.md", import.meta.url);
const sides = ["tenon", "hono"];
const apps = {
  crud: "A CRUD API over SQL",
  webhook: "A webhook that calls a third party",
  split: "An app in several files",
};

/** Counts the lines of a source without blank lines and comments, and the lines of its imports. */
export function count(source) {
  const lines = { all: 0, imports: 0 };
  let [isComment, isImport] = [false, false];
  for (const line of source.split("\n").map((each) => each.trim())) {
    if (line.startsWith("/*")) isComment = true;
    if (!isComment && line !== "" && !line.startsWith("//")) {
      isImport ||= /^import\b/.test(line);
      lines.all++;
      if (isImport) lines.imports++;
      if (line.endsWith(";")) isImport = false;
    }
    if (line.endsWith("*/")) isComment = false;
  }
  return lines;
}

/** Counts the lines of an app's files together. */
export function countApp(app, side) {
  const folder = new URL(`${app}/${side}/`, import.meta.url);
  const files = readdirSync(folder).map((name) => count(readFileSync(new URL(name, folder), "utf8")));
  const sum = (key) => files.reduce((total, lines) => total + lines[key], 0);
  return { files: files.length, all: sum("all"), imports: sum("imports") };
}

/** Lists the mistakes of a side, and whether the compiler refuses each. */
export function mistakes(side) {
  const source = readFileSync(new URL(`mistakes/${side}.ts`, import.meta.url), "utf8");
  return source
    .split(/^\/\/ Mistake: /m)
    .slice(1)
    .map((block) => ({ name: block.slice(0, block.indexOf("\n")), isCaught: block.includes("@ts-expect-error") }));
}

function linesTable() {
  const rows = Object.entries(apps).map(([app, title]) => {
    const cells = sides.map((side) => {
      const { files, all, imports } = countApp(app, side);
      return `${all} (${all - imports} without imports${files === 1 ? "" : `, ${files} files`})`;
    });
    return `| [${title}](../examples/compared/${app}) | ${cells.join(" | ")} |`;
  });
  return ["| lines | Tenon | Hono with Zod |", "|---|---|---|", ...rows].join("\n");
}

function mistakesTable() {
  const [tenon, hono] = sides.map(mistakes);
  const rows = tenon.map(({ name, isCaught }, at) => {
    if (hono[at]?.name !== name) throw new Error(`hono.ts lacks the mistake “${name}” at this place`);
    return `| ${name} | ${isCaught ? "yes" : "no"} | ${hono[at].isCaught ? "yes" : "no"} |`;
  });
  return ["| the compiler refuses | Tenon | Hono with Zod |", "|---|---|---|", ...rows].join("\n");
}

/** Returns the page with the tables of the sources. */
export function written(text) {
  let result = text;
  for (const [name, table] of Object.entries({ lines: linesTable(), mistakes: mistakesTable() })) {
    const [begin, end] = [`<!-- ${name}: written by examples/compared/table.mjs -->\n`, "\n<!-- end -->"];
    const at = result.indexOf(begin) + begin.length;
    if (at < begin.length) throw new Error(`docs/compared.md has no place for the table of ${name}`);
    result = `${result.slice(0, at)}\n${table}\n${result.slice(result.indexOf(end, at))}`;
  }
  return result;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const text = readFileSync(page, "utf8");
  const current = written(text);
  if (process.argv.includes("--check")) process.exitCode = current === text ? 0 : 1;
  else writeFileSync(page, current);
}
