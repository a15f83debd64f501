// test262 as tasks for the probe, according to its INTERPRETING.md.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Tests that a component cannot run: the reason, and a predicate over their flags and text. */
const excluded = [
  ["module code: a component has no files to import at run time", (flags) => flags.includes("module")],
  ["another realm: the engine gives none to scripts", (_, text) => text.includes("$262.createRealm")],
  [
    "agents: a component has one thread",
    (flags, text) => flags.some((flag) => flag.startsWith("CanBlock")) || /\$262\.agent|\batomicsHelper\.js/.test(text),
  ],
  [
    "host objects that only a shell of the engine has",
    (_, text) => /\$262\.(?:IsHTMLDDA|AbstractModuleSource)/.test(text),
  ],
  ["a collection on demand: only a shell of the engine has it", (_, text) => text.includes("$262.gc")],
];

/**
 * Lists the tests of a checkout, in order.
 *
 * @param {string} checkout its folder
 * @returns {{ tests: { id: string, features: string[], task(): object, verdict(report: string): string }[], leftOut: Map<string, number> }}
 */
export function test262(checkout) {
  const leftOut = new Map();
  const tests = [];
  const files = readdirSync(join(checkout, "test"), { recursive: true }).map((file) => file.replaceAll("\\", "/"));
  for (const file of files.filter((each) => each.endsWith(".js") && !each.includes("_FIXTURE")).sort()) {
    const read = () => readFileSync(join(checkout, "test", file), "utf8");
    const text = read();
    const { flags, includes, features, negative } = frontMatter(text);
    const reason = excluded.find(([, isSo]) => isSo(flags, text))?.[0];
    if (reason !== undefined) {
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      continue;
    }
    for (const mode of modes(flags)) {
      const isAsync = flags.includes("async");
      const harness = flags.includes("raw")
        ? []
        : ["assert.js", "sta.js", ...(isAsync ? ["doneprintHandle.js"] : []), ...includes];
      tests.push({
        id: `${file} ${mode}`,
        features,
        task: () => ({
          scripts: [
            ...harness.map((name) => harnessFile(checkout, name)),
            mode === "strict" ? `"use strict";\n${read()}` : read(),
          ],
          ...(isAsync ? { until: ["Test262:AsyncTest"] } : {}),
        }),
        verdict: (report) => verdict(report, negative, isAsync),
      });
    }
  }
  return { tests, leftOut };
}

/** Parses the entries of a test's front matter (YAML) that determine how it runs. */
function frontMatter(source) {
  const text = /\/\*---([\s\S]*?)---\*\//.exec(source)?.[1] ?? "";
  const list = (key) => {
    const [, inline, block] =
      new RegExp(`^${key}:[ \\t]*(?:\\[([^\\]]*)\\]|((?:\\r?\\n\\s*-[^\\n]*)+))`, "m").exec(text) ?? [];
    const entries = inline === undefined ? block?.split(/\r?\n\s*-/) : inline.split(",");
    return (entries ?? []).map((entry) => entry.trim()).filter((entry) => entry !== "");
  };
  const negative = /^negative:[\s\S]*?\btype:\s*(\w+)/m.exec(text)?.[1];
  return { flags: list("flags"), includes: list("includes"), features: list("features"), negative };
}

function modes(flags) {
  if (flags.includes("raw") || flags.includes("noStrict")) return ["sloppy"];
  return flags.includes("onlyStrict") ? ["strict"] : ["sloppy", "strict"];
}

const harnessFiles = new Map();

/**
 * Returns a file of the harness. Each script is evaluated separately. So its top-level `const`, `let` and `class` would
 * be gone for the next one, unlike in a page or a shell. So they become `var`.
 */
function harnessFile(checkout, name) {
  let text = harnessFiles.get(name);
  if (text === undefined) {
    text = readFileSync(join(checkout, "harness", name), "utf8")
      .replaceAll(/^(?:const|let) /gm, "var ")
      .replaceAll(/^class (\w+)/gm, "var $1 = class $1");
    harnessFiles.set(name, text);
  }
  return text;
}

function verdict(text, negative, isAsync) {
  if (!text.startsWith("{")) return "fail";
  const { threw, printed } = JSON.parse(text);
  if (negative !== undefined) return threw?.name === negative ? "pass" : "fail";
  if (threw !== undefined) return "fail";
  return !isAsync || printed.includes("Test262:AsyncTestComplete") ? "pass" : "fail";
}
