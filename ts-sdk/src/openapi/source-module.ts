import type { Comment, Expression, Node, ObjectPattern, Program, Statement } from "oxc-parser";
import { OpenApiError } from "./errors.ts";
import { ofBuild } from "./of-build.ts";

/** The origin of a name in a module. */
export type Binding =
  | { readonly from: "here"; readonly value: Node; readonly statement: Node }
  | { readonly from: "module"; readonly specifier: string; readonly name: string }
  | { readonly from: "namespace"; readonly specifier: string };

/** The parts of a TypeScript module that are needed to follow routes. */
export interface SourceModule {
  readonly file: string;
  readonly program: Program;
  readonly text: string;
  readonly comments: readonly Comment[];
  /** Top-level names. */
  readonly names: ReadonlyMap<string, Binding>;
  /** Exported names, including `default`. */
  readonly exports: ReadonlyMap<string, Binding | { readonly from: "name"; readonly name: string }>;
  /** Modules whose exports are all re-exported. */
  readonly stars: readonly string[];
}

/** A node in a module. */
export interface ModuleNode {
  readonly module: SourceModule;
  readonly node: Node;
  /** The statement that declares it and carries its doc comment. */
  readonly statement?: Node;
}

/** Parses a module and lists what it declares, imports and exports. */
export function parseModule(file: string, text: string): SourceModule {
  const { program: parsed, comments, errors } = ofBuild("oxc-parser").parseSync(file, text);
  if (errors.length > 0) throw new OpenApiError(`${file}: ${errors[0]?.message}`);
  const names = new Map<string, Binding>();
  const exports = new Map<string, Binding | { from: "name"; name: string }>();
  const stars: string[] = [];
  const program = parsed as Program;
  for (const statement of program.body) {
    declare(statement, statement, names);
    switch (statement.type) {
      case "ExportDefaultDeclaration":
        exports.set("default", { from: "here", value: statement.declaration, statement });
        break;
      case "ExportAllDeclaration":
        if (statement.exported === null) stars.push(statement.source.value);
        else exports.set(nameOf(statement.exported), { from: "namespace", specifier: statement.source.value });
        break;
      case "ExportNamedDeclaration": {
        for (const name of statement.declaration ? declare(statement.declaration, statement, names) : [])
          exports.set(name, { from: "name", name });
        for (const { local, exported } of statement.specifiers) {
          const name = nameOf(local);
          const binding = statement.source && { from: "module" as const, specifier: statement.source.value, name };
          exports.set(nameOf(exported), binding ?? { from: "name", name });
        }
      }
    }
  }
  return { file, program, text, comments, names, exports, stars };
}

/**
 * Adds the names that a statement declares or imports, and returns the names of its variables, functions and classes.
 */
export function declare(declaration: Statement, statement: Node, names: Map<string, Binding>): string[] {
  if (declaration.type === "ImportDeclaration") {
    const specifier = declaration.source.value;
    for (const each of declaration.specifiers) {
      if (each.type === "ImportNamespaceSpecifier") names.set(each.local.name, { from: "namespace", specifier });
      else {
        const name = each.type === "ImportDefaultSpecifier" ? "default" : nameOf(each.imported);
        names.set(each.local.name, { from: "module", specifier, name });
      }
    }
  }
  if ((declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") && declaration.id) {
    names.set(declaration.id.name, { from: "here", value: declaration, statement });
    return [declaration.id.name];
  }
  if (declaration.type !== "VariableDeclaration") return [];
  const declared: string[] = [];
  for (const { id, init } of declaration.declarations) {
    if (!init) continue;
    for (const { name, value, at } of id.type === "ObjectPattern" ? taken(id, init) : []) {
      names.set(name, { from: "here", value, statement: at });
      declared.push(name);
    }
    if (id.type !== "Identifier") continue;
    names.set(id.name, { from: "here", value: init, statement });
    declared.push(id.name);
  }
  return declared;
}

/** The names that a pattern takes out of an object, each with the member that it stands for. */
function taken({ properties }: ObjectPattern, object: Expression): { name: string; value: Node; at: Node }[] {
  return properties.flatMap((at) => {
    if (at.type !== "Property" || at.value.type !== "Identifier") return [];
    const { start, end, computed, key: property } = at;
    const value = { type: "MemberExpression", start, end, object, property, computed, optional: false } as Node;
    return [{ name: at.value.name, value, at }];
  });
}

/** The name in an import, an export or a property: an identifier or a string literal. */
export function nameOf(node: { readonly type: string }): string {
  const { name, value } = node as { name?: string; value?: unknown };
  return name ?? String(value);
}

/** The name of a property or a class's member, if it is static. */
export function keyOf(key: Node, computed: boolean): string | undefined {
  if (!computed || key.type === "Literal") return nameOf(key);
  const [only, ...more] = key.type === "TemplateLiteral" ? key.quasis : [];
  return more.length === 0 ? (only?.value.cooked ?? undefined) : undefined;
}

/** The expression inside `as`, `satisfies`, `!`, a type assertion in angle brackets, `await`, and parentheses. */
export function unwrap(node: Node): Node {
  switch (node.type) {
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "ParenthesizedExpression":
      return unwrap((node as { expression: Expression }).expression);
    case "AwaitExpression":
      return unwrap(node.argument);
    default:
      return node;
  }
}
