import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { type Node, type ObjectExpression, type Program, parseSync } from "oxc-parser";

/**
 * Leaves out of a bundle what only the OpenAPI document needs: doc comments, and the attribute `docs` of fields. (esbuild
 * keeps comments inside expressions, and so those above the routes.) Everything else keeps its place, for error messages
 * and the source map.
 */
export const stripDocs: Plugin = {
  name: "strip-docs",
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path }) => {
      if (/[\\/]node_modules[\\/]/.test(path)) return undefined;
      const text = await readFile(path, "utf8");
      return { contents: withoutDocs(path, text), loader: /\.[cm]?ts$/.test(path) ? "ts" : "js" };
    });
  },
};

/** A module's text with its documentation blanked; as it is when it does not parse, which esbuild tells better. */
export function withoutDocs(file: string, text: string): string {
  if (!text.includes("/**") && !text.includes("docs")) return text;
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) return text;
  const edits: Edit[] = comments
    .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ start, end }) => ({ start, end, put: "" }));
  // A spread of nothing stands where any property may, whatever commas are around it.
  for (const { start, end } of docsProperties(program as Program)) edits.push({ start, end, put: "...0" });
  return apply(text, edits);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

function apply(text: string, edits: readonly Edit[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, put } of [...edits].sort((a, b) => a.start - b.start)) {
    // A comment inside of a property is gone with it.
    if (start < at) continue;
    result += text.slice(at, start) + put + text.slice(start + put.length, end).replace(/[^\r\n]/g, " ");
    at = end;
  }
  return result + text.slice(at);
}

const KINDS = new Set(["string", "u32", "i32", "i64", "f64", "bool", "enum"]);

/** The properties `docs` in what is given to `field.…` and `list`, directly or by the name of a constant. */
function docsProperties(program: Program): Node[] {
  const { names, namespaces, constants } = declarations(program);
  const found: Node[] = [];
  const seen = new Set<Node>();

  function isFieldCall(callee: Node): boolean {
    if (callee.type === "Identifier") return names.get(callee.name) === "list";
    if (callee.type !== "MemberExpression") return false;
    const property = nameOf(callee.property);
    if (property === "list") return callee.object.type === "Identifier" && namespaces.has(callee.object.name);
    return KINDS.has(property) && isField(callee.object);
  }

  function isField(node: Node): boolean {
    if (node.type === "Identifier") return names.get(node.name) === "field";
    if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return false;
    return namespaces.has(node.object.name) && nameOf(node.property) === "field";
  }

  function collect(given: Node): void {
    const node = inner(given);
    if (seen.has(node)) return;
    seen.add(node);
    if (node.type === "ObjectExpression") {
      for (const property of node.properties) {
        if (property.type === "SpreadElement") collect(property.argument);
        else if (!property.computed && nameOf(property.key) === "docs") found.push(property);
      }
    } else if (node.type === "Identifier") {
      const constant = constants.get(node.name);
      if (constant !== undefined) collect(constant);
    }
  }

  walk(program, (node) => {
    if (node.type === "CallExpression" && isFieldCall(node.callee)) for (const each of node.arguments) collect(each);
  });
  return found;
}

interface Declarations {
  /** What local names were imported as, from the SDK or from a module that passes it on. */
  readonly names: ReadonlyMap<string, string>;
  /** Names of the whole SDK. */
  readonly namespaces: ReadonlySet<string>;
  /** Objects that have a name in the module. */
  readonly constants: ReadonlyMap<string, ObjectExpression>;
}

function declarations(program: Program): Declarations {
  const names = new Map<string, string>();
  const namespaces = new Set<string>();
  const constants = new Map<string, ObjectExpression>();
  walk(program, (node) => {
    if (node.type === "ImportDeclaration") {
      for (const specifier of node.specifiers) {
        if (specifier.type === "ImportSpecifier") names.set(specifier.local.name, nameOf(specifier.imported));
        else if (node.source.value === "@tenon/sdk") namespaces.add(specifier.local.name);
      }
    }
    if (node.type === "VariableDeclarator" && node.id.type === "Identifier" && node.init) {
      const value = inner(node.init);
      if (value.type === "ObjectExpression") constants.set(node.id.name, value);
    }
  });
  return { names, namespaces, constants };
}

const WRAPPERS = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "ParenthesizedExpression"]);

/** The expression inside `as const` and its like. */
function inner(node: Node): Node {
  return WRAPPERS.has(node.type) ? inner((node as unknown as { expression: Node }).expression) : node;
}

function nameOf(node: Node): string {
  const { name, value } = node as { name?: string; value?: unknown };
  return name ?? String(value);
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (typeof node !== "object" || node === null) return;
  if ("type" in node) visit(node as Node);
  for (const child of Object.values(node)) walk(child, visit);
}
