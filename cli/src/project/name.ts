/** Names of projects: checks, and their form in WIT. */
import { TenonError } from "../errors.ts";

/** The longest name that npm takes. */
const maxLength = 214;

/**
 * Checks a project's name: a package name of npm without a scope, since it also names files and the module in URLs.
 *
 * @throws TenonError `NAME` saying which rule it breaks
 */
export function checkProjectName(name: string): void {
  const problem = problemOf(name);
  if (problem === undefined) return;
  const similar = (scoped.exec(name)?.[1] ?? name).toLowerCase();
  const example = problemOf(similar) === undefined ? similar : "my-service";
  throw new TenonError("NAME", `\`${name}\` cannot name a project: ${problem}`, `for example: tenon new ${example}`);
}

/** The same rules for the name that a project already has. */
export function projectNameProblem(name: string): string | undefined {
  const problem = problemOf(name);
  return problem === undefined ? undefined : `cannot name a project: ${problem}`;
}

/** The same rules in JSON Schema. */
export const projectNameRule = {
  maxLength,
  pattern: "^[a-z0-9][a-z0-9._-]*$",
  not: {
    anyOf: [
      { enum: ["node_modules", "favicon.ico"] },
      { pattern: "(?:-composed|\\.wasm|\\.)$" },
      { pattern: "^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\\.|$)" },
    ],
  },
};

/** Names of devices on Windows, which no file or folder can have there, with any extension. */
const devices = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;

/** A package name with a scope, and the name after it. */
const scoped = /^@[^/]+\/([^/]+)$/;

function problemOf(name: string): string | undefined {
  if (name === "") return "it is empty";
  if (name.length > maxLength) return `it is longer than ${maxLength} characters`;
  if (name === "node_modules" || name === "favicon.ico") return "npm reserves it";
  if (/[A-Z]/.test(name)) return "npm names are in lower case";
  if (scoped.test(name)) return "it has a scope, and the name is also that of files and of the module in URLs";
  if (!/^[a-z0-9]/.test(name)) return "it must begin with a letter (a to z) or a digit";
  if (!/^[a-z0-9._-]+$/.test(name)) return "only letters (a to z), digits and . _ - may be in it";
  if (devices.test(name)) return "Windows reserves it for a device";
  if (name.endsWith(".")) return "Windows cannot have a file whose name ends with a dot";
  if (name.endsWith("-composed") || name.endsWith(".wasm")) return "the ending marks files that tenon builds";
  return undefined;
}

/**
 * The name as an identifier of WIT: words of letters and digits, each beginning with a letter, joined by hyphens
 * (component model, `WIT.md`, identifiers).
 */
export function witName(name: string): string {
  const words = name.split(/[^a-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => (/^[0-9]/.test(word) ? `n${word}` : word)).join("-");
}
