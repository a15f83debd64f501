// Writes guest/src/polyfills/normalization-tables.ts from the tables of the Node that runs this: decompositions and combining classes, as
// differences in base 36.
//
//   node cli/scripts/normalization.mjs
import { writeFileSync } from "node:fs";

const canonical = [];
const compatible = [];
const marks = [];
const last = { canonical: 0, compatible: 0 };
const points = (text) => [...text].map((each) => each.codePointAt(0));
const entry = (list, code, text) => {
  const name = list === canonical ? "canonical" : "compatible";
  list.push([code - last[name], ...points(text)].map((each) => each.toString(36)).join(" "));
  last[name] = code;
};
for (let code = 0; code < 0x110000; code++) {
  // Surrogates are no characters, and Hangul is composed by a rule.
  if ((code >= 0xd800 && code < 0xe000) || (code >= 0xac00 && code <= 0xd7a3)) continue;
  const text = String.fromCodePoint(code);
  const decomposed = text.normalize("NFD");
  const further = text.normalize("NFKD");
  // Texts that are never composed again are marked.
  if (decomposed !== text) entry(canonical, code, text.normalize("NFC") === text ? decomposed : `${decomposed}\0`);
  if (further !== decomposed) entry(compatible, code, further);
  else if (decomposed === text && /\p{M}/u.test(text)) marks.push(code);
}

// The combining classes: marks of the same class keep their order, and others are sorted. A class is recognized by its
// order among others.
const before = (a, b) => {
  const text = String.fromCodePoint(a, b);
  return text.normalize("NFD") === text;
};
const isStarter = (mark) => !marks.some((other) => !before(mark, other) || !before(other, mark));
const combining = marks.filter((mark) => !isStarter(mark));
const groups = [];
for (const mark of combining) {
  const group = groups.find(([first]) => before(first, mark) && before(mark, first));
  if (group) group.push(mark);
  else groups.push([mark]);
}
groups.sort(([a], [b]) => (before(a, b) ? -1 : 1));
const classes = groups.map((group) =>
  group.map((mark, index) => (mark - (group[index - 1] ?? 0)).toString(36)).join(" "),
);

writeFileSync(
  new URL("../../guest/src/polyfills/normalization-tables.ts", import.meta.url),
  `// Written by cli/scripts/normalization.mjs from Unicode ${process.versions.unicode}.
export const unicodeVersion = "${process.versions.unicode}";
/** Each character as the difference to the previous one, and its decomposition; a final 0 excludes it from composition. */
export const canonical =
  "${canonical.join(",")}";
/** The same for compatibility decompositions that differ. */
export const compatible =
  "${compatible.join(",")}";
/** The marks of each combining class, in class order. */
export const classes =
  "${classes.join(",")}";
`,
);
