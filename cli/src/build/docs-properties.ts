/** Finds the documentation of fields in a module, which only the OpenAPI document needs. */
import type { Node, ObjectExpression, ParseResult, Program } from "oxc-parser";
import { importOf, type Origin, type SdkNames } from "./sdk-names.ts";

/**
 * Finds the properties `docs` in a module's arguments of `field.…`, `list` and `record`: in the call, or in a constant
 * that only such calls use. Properties that may have another meaning are left out.
 */
export async function docsProperties(file: string, parsed: ParseResult, names: SdkNames): Promise<Node[]> {
  const program = parsed.program as Program;
  const module = new Names(program);
  const origins = new Map<string, Promise<Origin | undefined>>();

  function originOf(name: string): Promise<Origin | undefined> {
    let origin = origins.get(name);
    if (origin === undefined) {
      origin = find(name);
      origins.set(name, origin);
    }
    return origin;
  }

  async function find(name: string): Promise<Origin | undefined> {
    if (!module.isClear(name)) return undefined;
    const imported = importOf(parsed.module, name);
    if (imported?.name !== undefined) return names.imported(imported.specifier, imported.name, file);
    if (imported) return { specifier: imported.specifier, importer: file };
    const alias = module.aliases.get(name);
    if (alias === undefined) return undefined;
    const origin = await originOfNode(alias.of);
    return alias.member === undefined ? origin : names.member(origin, alias.member);
  }

  async function originOfNode(node: Node): Promise<Origin | undefined> {
    if (node.type === "Identifier") return originOf(node.name);
    if (node.type !== "MemberExpression" || node.computed) return undefined;
    return names.member(await originOfNode(node.object), nameOf(node.property));
  }

  const attributes = new Attributes(module);
  for (const { callee, given } of module.calls) {
    const origin = await originOfNode(callee);
    if (origin === "kind" || origin === "list" || origin === "record")
      for (const each of given) attributes.collect(each, undefined);
  }
  return attributes.docs();
}

/** The origin of a name: an expression, or a member of it. */
interface Alias {
  readonly of: Node;
  readonly member: string | undefined;
}

/** The names of a module, and its calls. */
class Names {
  readonly calls: { readonly callee: Node; readonly given: readonly Node[] }[] = [];
  readonly aliases = new Map<string, Alias>();
  /** Objects that have a name. */
  readonly constants = new Map<string, ObjectExpression>();
  /** The places where each name is read or used otherwise. */
  readonly uses = new Map<string, Node[]>();
  readonly #declared = new Map<string, number>();

  constructor(program: Program) {
    this.#visit(program);
  }

  /** Reports whether a name has one meaning in the module. Scopes are not distinguished. */
  isClear(name: string): boolean {
    return this.#declared.get(name) === 1;
  }

  #visit(node: Node): void {
    switch (node.type) {
      case "Identifier":
        this.uses.set(node.name, [...(this.uses.get(node.name) ?? []), node]);
        return;
      case "ImportDeclaration":
        for (const { local } of node.specifiers) this.#declare(local);
        return;
      case "CallExpression":
        this.calls.push({ callee: node.callee, given: node.arguments });
        break;
      case "VariableDeclarator":
        this.#declareVariable(node.id, node.init);
        if (node.init) this.#visit(node.init);
        return;
      case "MemberExpression":
        this.#visit(node.object);
        if (node.computed) this.#visit(node.property);
        return;
      case "Property":
        if (node.computed) this.#visit(node.key);
        this.#visit(node.value);
        return;
      case "CatchClause":
        if (node.param) this.#declare(node.param);
        this.#visit(node.body);
        return;
    }
    if (isFunction(node)) {
      if (node.id) this.#declare(node.id);
      for (const each of node.params) this.#declare(each);
      if (node.body) this.#visit(node.body);
      return;
    }
    if ("id" in node && isNode(node.id)) this.#declare(node.id);
    if (node.type.startsWith("TS") && !WRAPPERS.has(node.type) && !HOLDERS.has(node.type)) return;
    for (const child of children(node)) this.#visit(child);
  }

  #declareVariable(id: Node, init: Node | null): void {
    this.#declare(id);
    if (init === null) return;
    const value = inner(init);
    if (id.type === "Identifier") {
      if (value.type === "ObjectExpression") this.constants.set(id.name, value);
      else this.aliases.set(id.name, { of: value, member: undefined });
    } else if (id.type === "ObjectPattern") {
      for (const each of id.properties) {
        if (each.type === "Property" && !each.computed && each.value.type === "Identifier")
          this.aliases.set(each.value.name, { of: value, member: nameOf(each.key) });
      }
    }
  }

  /** Declares the names of a pattern, and visits the defaults in it. */
  #declare(pattern: Node): void {
    switch (pattern.type) {
      case "Identifier":
        this.#declared.set(pattern.name, (this.#declared.get(pattern.name) ?? 0) + 1);
        return;
      case "Property":
        if (pattern.computed) this.#visit(pattern.key);
        this.#declare(pattern.value);
        return;
      case "AssignmentPattern":
        this.#declare(pattern.left);
        this.#visit(pattern.right);
        return;
      default:
        for (const child of children(pattern)) this.#declare(child);
    }
  }
}

/** A place in the arguments of fields: in a call, or in a named constant. */
interface ArgumentNode {
  readonly node: Node;
  readonly constant: string | undefined;
}

/** The arguments of fields. */
class Attributes {
  readonly #names: Names;
  readonly #docs: ArgumentNode[] = [];
  readonly #uses: ArgumentNode[] = [];
  readonly #constants = new Set<string>();

  constructor(names: Names) {
    this.#names = names;
  }

  /** Collects the arguments of a call, or the content of a constant passed to it. */
  collect(given: Node, constant: string | undefined): void {
    const node = inner(given);
    if (node.type === "ObjectExpression") {
      for (const property of node.properties) {
        if (property.type === "SpreadElement") this.collect(property.argument, constant);
        else if (isNamedDocs(property)) this.#docs.push({ node: property, constant });
      }
    } else if (node.type === "ConditionalExpression") {
      this.collect(node.consequent, constant);
      this.collect(node.alternate, constant);
    } else if (node.type === "LogicalExpression") {
      this.collect(node.right, constant);
    } else if (node.type === "Identifier") {
      this.#uses.push({ node, constant });
      const value = this.#names.constants.get(node.name);
      if (value === undefined || !this.#names.isClear(node.name) || this.#constants.has(node.name)) return;
      this.#constants.add(node.name);
      this.collect(value, node.name);
    }
  }

  /** The properties `docs` of all that is used for nothing else. */
  docs(): Node[] {
    const onlyHere = new Set(this.#constants);
    for (let changed = true; changed; ) {
      const counted = this.#uses.filter(({ constant }) => constant === undefined || onlyHere.has(constant));
      const known = new Set(counted.map(({ node }) => node));
      const others = [...onlyHere].filter((name) => this.#names.uses.get(name)?.some((use) => !known.has(use)));
      for (const name of others) onlyHere.delete(name);
      changed = others.length > 0;
    }
    const found = this.#docs.filter(({ constant }) => constant === undefined || onlyHere.has(constant));
    return found.map(({ node }) => node);
  }
}

/** Wrappers of an expression that only the type checker sees. */
const WRAPPERS = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "ParenthesizedExpression"]);

/** Constructs of TypeScript in which expressions stand. */
const HOLDERS = new Set([
  "TSEnumDeclaration",
  "TSEnumBody",
  "TSEnumMember",
  "TSModuleDeclaration",
  "TSModuleBlock",
  "TSExportAssignment",
  "TSInstantiationExpression",
  "TSParameterProperty",
  "TSTypeAssertion",
]);

/** The expression inside `as const` and its like. */
function inner(node: Node): Node {
  return WRAPPERS.has(node.type) ? inner((node as unknown as { expression: Node }).expression) : node;
}

function isNamedDocs(property: Extract<Node, { type: "Property" }>): boolean {
  return (!property.computed || property.key.type === "Literal") && nameOf(property.key) === "docs";
}

type FunctionNode = Node & { readonly id?: Node | null; readonly params: readonly Node[]; readonly body: Node | null };

function isFunction(node: Node): node is FunctionNode {
  return "params" in node && Array.isArray(node.params);
}

function nameOf(node: Node): string {
  const { name, value } = node as { name?: string; value?: unknown };
  return name ?? String(value);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

function children(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}
