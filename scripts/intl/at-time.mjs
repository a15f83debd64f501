// Writes cli/src/build/intl/at-time.ts: how a date and a time are joined in the styles `full` and `long`. The data of formatjs
// lacks it; Node's has it.
//
//   node scripts/intl/at-time.mjs <folder with node_modules/@formatjs/intl-datetimeformat>
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, root, run } from "../setup.mjs";

const [folder] = process.argv.slice(2);
if (folder === undefined) fail("usage: node scripts/intl/at-time.mjs <folder with node_modules>");
const data = join(folder, "node_modules/@formatjs/intl-datetimeformat/locale-data");
const when = new Date(Date.UTC(2026, 10, 22, 15, 4, 5));
const patterns = {};
for (const file of readdirSync(data).filter((name) => name.endsWith(".js"))) {
  const tag = file.replace(/\.js$/, "");
  if (Intl.DateTimeFormat.supportedLocalesOf([tag]).length === 0) continue;
  const [, text] = /JSON\.parse\((".*")\)/s.exec(readFileSync(join(data, file), "utf8"));
  const { dateTimeFormat } = JSON.parse(JSON.parse(text)).data;
  const own = ["full", "long"].map((style) => joined(tag, style));
  const isStandard = own.every((each, index) => each === plain(dateTimeFormat[["full", "long"][index]]));
  patterns[tag] = isStandard ? [] : own;
}
for (const [tag, own] of Object.entries(patterns)) {
  const parent = patterns[tag.split("-")[0]] ?? [];
  if (tag.includes("-") ? String(own) === String(parent) : own.length === 0) delete patterns[tag];
}
const rows = Object.entries(patterns).map(
  ([tag, own]) => `  ${JSON.stringify(tag)}: ${JSON.stringify([...new Set(own)])},`,
);
const file = join(root, "cli/src/build/intl/at-time.ts");
writeFileSync(
  file,
  `/**
 * How a date and a time are joined in the styles \`full\` and \`long\`, by locale or language: one pattern for both, one for
 * each, or none where the data of formatjs is right. Written by scripts/intl/at-time.mjs from CLDR ${process.versions.cldr}.
 */
export const atTime: Readonly<Record<string, readonly string[]>> = {
${rows.join("\n")}
};
`,
);
run("npx", ["biome", "check", "--write", file]);

/** The pattern with which Node joins a date, \`{1}\`, and a time, \`{0}\`. */
function joined(tag, dateStyle) {
  const options = { timeZone: "UTC", numberingSystem: "latn", calendar: "gregory" };
  const text = (styles) => new Intl.DateTimeFormat(tag, { ...options, ...styles }).format(when);
  const [date, time] = [text({ dateStyle }), text({ timeStyle: "medium" })];
  return plain(text({ dateStyle, timeStyle: "medium" }).replace(date, "{1}").replace(time, "{0}"));
}

function plain(pattern) {
  return pattern.replaceAll("'", "").replaceAll("\u202f", " ");
}
