import type {
  CallExpression,
  ClassElement,
  MethodDefinition,
  Node,
  ObjectPropertyKind,
  PropertyDefinition,
} from "oxc-parser";
import { returnedBy } from "./returned.ts";
import type { SourceGraph } from "./source-graph.ts";
import { type Binding, keyOf, type ModuleNode, type SourceModule, unwrap } from "./source-module.ts";

/** The limit of steps along a chain of names, because modules may import each other in a circle. */
export const MAX_STEPS = 50;

/** The expressions that name a declaration elsewhere. */
const NAMES: ReadonlySet<string> = new Set(["Identifier", "MemberExpression", "ImportExpression"]);

/** Finds the declarations of names in the modules of a handler. */
export class Declarations {
  readonly #graph: SourceGraph;

  constructor(graph: SourceGraph) {
    this.#graph = graph;
  }

  /**
   * The declaration of a name or of a member such as `users.admin.list`; for a namespace or a dynamic import, the
   * module's program.
   */
  lookUp({ module, node }: ModuleNode, depth = 0): ModuleNode | undefined {
    if (depth > MAX_STEPS) return undefined;
    const inner = unwrap(node);
    if (inner.type === "Identifier") return this.#follow(module, module.names.get(inner.name));
    if (inner.type === "ImportExpression" && inner.source.type === "Literal")
      return this.#follow(module, { from: "namespace", specifier: String(inner.source.value) });
    if (inner.type !== "MemberExpression") return undefined;
    const key = keyOf(inner.property, inner.computed);
    const object = this.#value({ module, node: inner.object }, depth + 1);
    return object && key !== undefined ? this.#member(object, key, depth + 1) : undefined;
  }

  /** The declaration of an export. */
  exported(module: SourceModule | undefined, name: string, depth = 0): ModuleNode | undefined {
    if (module === undefined || depth > MAX_STEPS) return undefined;
    const binding = module.exports.get(name);
    if (binding?.from === "name") return this.#follow(module, module.names.get(binding.name));
    if (binding !== undefined) return this.#follow(module, binding);
    for (const specifier of module.stars) {
      const place = this.exported(this.#graph.resolve(module.file, specifier), name, depth + 1);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  /** The expression that the function of a call returns. */
  returnedFrom({ module, node }: ModuleNode & { readonly node: CallExpression }, depth = 0): ModuleNode | undefined {
    const callee = { module, node: unwrap(node.callee) };
    return returnedBy(this.lookUp(callee, depth) ?? callee);
  }

  /** The value of a name or a member: an expression that is neither. */
  valueOf(place: ModuleNode): ModuleNode | undefined {
    return this.#value(place, 0);
  }

  #follow(module: SourceModule, binding: Binding | undefined): ModuleNode | undefined {
    if (binding?.from === "here") return { module, node: binding.value, statement: binding.statement };
    const other = binding && this.#graph.resolve(module.file, binding.specifier);
    if (binding?.from === "module") return this.exported(other, binding.name);
    return other && { module: other, node: other.program };
  }

  /** Follows a declaration until it is not a name. */
  #value(place: ModuleNode, depth: number): ModuleNode | undefined {
    if (!NAMES.has(unwrap(place.node).type)) return place;
    const next = this.lookUp(place, depth);
    return next && depth < MAX_STEPS ? this.#value(next, depth + 1) : undefined;
  }

  /** A property of an object or of what a call returns, a static member of a class, or an export. */
  #member({ module, node }: ModuleNode, key: string, depth: number): ModuleNode | undefined {
    if (depth > MAX_STEPS) return undefined;
    const inner = unwrap(node);
    if (inner.type === "Program") return this.exported(module, key);
    if (inner.type === "CallExpression") {
      const returned = this.returnedFrom({ module, node: inner }, depth + 1);
      const object = returned && this.#value(returned, depth + 1);
      return object && this.#member(object, key, depth + 1);
    }
    // The last definition of a name counts.
    for (const member of membersOf(inner).reverse()) {
      if (member.type === "SpreadElement") {
        const object = this.#value({ module, node: member.argument }, depth + 1);
        const found = object && this.#member(object, key, depth + 1);
        if (found !== undefined) return found;
      } else if (member.value && keyOf(member.key, member.computed) === key) {
        return { module, node: member.value, statement: member };
      }
    }
    return undefined;
  }
}

function membersOf(node: Node): (ObjectPropertyKind | MethodDefinition | PropertyDefinition)[] {
  switch (node.type) {
    case "ObjectExpression":
      return [...node.properties];
    case "ClassDeclaration":
    case "ClassExpression":
      return node.body.body.filter(isStatic);
    default:
      return [];
  }
}

function isStatic(element: ClassElement): element is MethodDefinition | PropertyDefinition {
  return (element.type === "PropertyDefinition" || element.type === "MethodDefinition") && element.static;
}
