/** The path of the handler module: a file of code in the project's folder. */
const entry = /^(?!\/|.*\\|(?:.*\/)?\.\.(?:\/|$)).*[^/]\.[cm]?[jt]sx?$/;

/** Returns the reason why a text is not the path of a handler module; undefined for a valid one. */
export function entryProblem(path: string): string | undefined {
  if (entry.test(path) && !/\.d\.[cm]?ts$/.test(path)) return undefined;
  return "must be the path of a file of TypeScript or JavaScript in the project's folder, such as src/app.ts";
}

/** {@link entryProblem} in JSON Schema. */
export const entryRule = { pattern: entry.source };
