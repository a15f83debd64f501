// The part of docs/conformance.md about locales.
import { writeSection } from "../section.mjs";

/** Writes the number of results and of differences by kind, the reasons, and the sizes. */
export function writeTable({ expected, differences, locales, cldr, sizes }) {
  const kinds = [...new Set(expected.map(([kind]) => kind))];
  const count = (of, test) => of.filter(test).length;
  const reasons = [...new Set(differences.map(({ reason }) => reason ?? "no reason is listed"))]
    .map((reason) => [reason, count(differences, (each) => (each.reason ?? "no reason is listed") === reason)])
    .sort(([, one], [, other]) => other - one);
  const text = [
    `${expected.length} results for the locales ${locales.map((each) => `\`${each}\``).join(", ")}, ${differences.length} of which differ from Node's`,
    `(CLDR ${cldr}):`,
    "",
    "| kind | results | differ |",
    "|---|---:|---:|",
    ...kinds.map((kind) => {
      const differ = count(differences, (each) => each.kind === kind);
      return `| ${kind} | ${count(expected, ([each]) => each === kind)} | ${differ} |`;
    }),
    "",
    "| difference | results |",
    "|---|---:|",
    ...reasons.map(([reason, number]) => `| ${reason} | ${number} |`),
    "",
    "| use, with two locales | adds to the component, MB |",
    "|---|---:|",
    ...sizes.map(([use, megabytes]) => `| ${use} | ${megabytes} |`),
  ].join("\n");
  writeSection("docs/conformance.md", "intl", text);
}
