// The files that do not run, and the tests that fail in a component, each with its reason.

/** Files that do not apply, by their path below `src`. The first pattern that fits counts. */
export const left = [
  [/^adapter\//, "adapters for the events of other platforms"],
  [/^jsx\/(?:dom\/|hooks\/dom\.|components\.|streaming\.)/, "a page in a browser, by jsdom"],
  [/^utils\/color\.|^jsx\/context-isolation\./, "esbuild or vitest's loader of modules in the test"],
  [/types\.test\.ts$/, "types, which only the compiler checks"],
];

const shortNames = "a release (`-r`) shortens the names of functions, and the test compares them";
const noProcess = "there is no `globalThis.process`, whose `NO_COLOR` the test sets";

/** Tests that pass under Node and fail in a component: file, names, reason. */
export const reasons = [
  ["client/client.test.ts", /function source with function\.toString$/, shortNames],
  ["helper/dev/index.test.ts", /should return correct data$|includes handlers and middlewares$/, shortNames],
  ["helper/dev/index.test.ts", /NO_COLOR > should render not colorized/, noProcess],
  ["middleware/logger/index.test.ts", /NO_COLOR/, noProcess],
  ["helper/adapter/index.test.ts", /current runtime key$/, "the test expects the name `node`"],
  ["jsx/index.test.tsx", /between concurrent requests$|should preserve context when using await before html/],
  [
    "client/client.test.ts",
    /get an error response$/,
    "the test expects the words of V8's exception for a `BigInt` in JSON",
  ],
];

/** The reason for which a test fails in a component; undefined when it has to pass. */
export const reasonFor = (file, name) => reasons.find(([each, names]) => each === file && names.test(name))?.[2];
