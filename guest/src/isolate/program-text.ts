/** Makes the text of an isolate's program from what esbuild bundles; the build and the tests do. */

/** The options of esbuild. */
export const programOptions = {
  bundle: true,
  write: false,
  minify: true,
  format: "cjs",
  platform: "neutral",
  target: "es2023",
  mainFields: ["module", "main"] as string[],
  legalComments: "none",
  logLevel: "silent",
} as const;

/** Returns the text: an expression whose value is the default export of `program.ts`. */
export function programText([output]: readonly { readonly text: string }[]): string {
  return `(evaluate) => { const module = { exports: {} }; ${output?.text}\nreturn module.exports.default(evaluate); }`;
}
