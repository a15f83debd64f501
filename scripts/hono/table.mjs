// The section of docs/conformance.md about Hono's tests.
import { writeSection } from "../section.mjs";
import { reasonFor } from "./files.mjs";

/** Writes the section: one row for each part of Hono, then the reasons with the number of tests. */
export function writeTable({ version, commit, results, left }) {
  const tests = results.flatMap(({ file, tests }) => tests.map((test) => ({ file, part: partOf(file), ...test })));
  const passes = ({ verdict }) => verdict === "passed";
  const ours = tests.filter((test) => !passes(test) && test.under === "passed");
  const both = tests.filter((test) => !passes(test) && test.under !== "passed");
  const passed = tests.filter(passes).length;
  const share = ((100 * passed) / tests.length).toFixed(1);
  const row = (name, of) => {
    const files = new Set(of.map(({ file }) => file)).size;
    const failed = of.length - of.filter(passes).length;
    return `| ${name} | ${files} | ${of.length} | ${of.length - failed} | ${failed} |`;
  };
  const parts = [...new Set(tests.map(({ part }) => part))];
  const counted = (of, reason) =>
    Object.entries(grouped(of, reason))
      .sort(([, one], [, other]) => other.length - one.length)
      .map(([text, { length }]) => `| ${text} | ${length} |`);
  const text = [
    `Hono ${version}, commit \`${commit}\`: ${passed} of ${tests.length} tests pass in a component (${share}%). Under Node`,
    `${tests.filter(({ under }) => under === "passed").length} pass with the same harness.`,
    "",
    "| part | files | tests | passed | failed |",
    "|---|---:|---:|---:|---:|",
    ...parts.map((part) =>
      row(
        part,
        tests.filter((test) => test.part === part),
      ),
    ),
    row("all", tests),
    "",
    "| reason of tests that fail only in a component | tests |",
    "|---|---:|",
    ...counted(ours, ({ file, name }) => reasonFor(file, name) ?? "no reason is listed"),
    ...(both.length > 0
      ? [`| fail under Node, too: the harness has no namespaces of modules that can be spied on | ${both.length} |`]
      : []),
    "",
    "| reason for which files do not run | files |",
    "|---|---:|",
    ...Object.entries(left).map(([reason, count]) => `| ${reason} | ${count} |`),
  ].join("\n");
  writeSection("docs/conformance.md", "hono", text);
}

/** The part of Hono that a file tests: a folder of middleware and helpers has a row for each. */
function partOf(file) {
  const [first, second] = file.split("/");
  if (second === undefined) return "core";
  return first === "middleware" || first === "helper" ? `${first} \`${second}\`` : `\`${first}\``;
}

function grouped(of, reason) {
  const groups = {};
  for (const each of of) {
    const key = reason(each);
    groups[key] = [...(groups[key] ?? []), each];
  }
  return groups;
}
