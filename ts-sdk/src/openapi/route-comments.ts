/** Finds the doc comments of routes in the sources. */
import type { CallExpression, Node, ObjectExpression } from "oxc-parser";
import { Declarations, MAX_STEPS } from "./declarations.ts";
import { type DocComment, type DocComments, parseDocComment } from "./doc-comment.ts";
import { returnedBy } from "./returned.ts";
import type { SourceGraph } from "./source-graph.ts";
import { keyOf, type ModuleNode, type SourceModule, unwrap } from "./source-module.ts";

/** The limit of nested groups, because one may name itself. */
const MAX_GROUPS = 20;

/**
 * Finds the doc comments of a handler module's routes in the source's syntax tree: above each key of the object passed
 * to `routes(…)`, or else above the declaration that its value names. It follows spread objects, imports, re-exports,
 * either side of a condition, and calls of functions that only return routes.
 */
export function routeComments(graph: SourceGraph): DocComments {
  const found = new Map<string, DocComment>();
  let seen = new Set<Node>();
  let group = "";
  const declarations = new Declarations(graph);

  function visit({ module, node }: ModuleNode): void {
    if (seen.has(node)) return;
    seen.add(node);
    const inner = unwrap(node);
    if (inner.type === "CallExpression") visitCall(module, inner);
    else if (inner.type === "ObjectExpression") visitObject(module, inner);
    else if (inner.type === "ConditionalExpression") visitEach(module, [inner.consequent, inner.alternate]);
    else if (inner.type === "LogicalExpression") visitEach(module, [inner.left, inner.right]);
    else if (inner.type === "Program") visitNamespace(module);
    else {
      const place = declarations.lookUp({ module, node: inner });
      if (place !== undefined) visit(place);
    }
  }

  /** Visits the objects passed to a function such as `routes`, and then what it returns. */
  function visitCall(module: SourceModule, call: CallExpression): void {
    // The second argument of `routes` holds options, whose names are none of routes.
    const given = isRoutes(module, call.callee) ? call.arguments.slice(0, 1) : call.arguments;
    for (const argument of given) visit({ module, node: argument });
    const returned = declarations.returnedFrom({ module, node: call });
    if (returned !== undefined) visit(returned);
  }

  function visitObject(module: SourceModule, { properties }: ObjectExpression): void {
    for (const property of properties) {
      if (property.type === "SpreadElement") visit({ module, node: property.argument });
      else {
        const name = keyOf(property.key, property.computed);
        if (name === undefined) continue;
        const value = { module, node: property.value };
        record(name, commentBefore(module, property) ?? commentOf(value));
        visitGroup(name, value);
      }
    }
  }

  /**
   * Visits the routes of a group: the second argument of the call that a value is or names, or of the call that its
   * function returns. It may be a function that makes them. A route's options look the same, but their names match no
   * operation.
   */
  function visitGroup(name: string, value: ModuleNode, depth = 0): void {
    const { module, node } = declarations.valueOf(value) ?? value;
    const inner = unwrap(node);
    if (inner.type !== "CallExpression" || depth > MAX_STEPS) return;
    visitDefinitions(name, module, inner.arguments[1]);
    const returned = declarations.returnedFrom({ module, node: inner });
    if (returned !== undefined) visitGroup(name, returned, depth + 1);
  }

  function visitDefinitions(name: string, module: SourceModule, definitions: Node | undefined): void {
    if (definitions === undefined || group.split(".").length > MAX_GROUPS) return;
    const before = group;
    group += `${name}.`;
    // A group may be used in several places, with other names.
    const outside = seen;
    seen = new Set(outside);
    const given = { module, node: definitions };
    visit(returnedBy(declarations.valueOf(given) ?? given) ?? given);
    seen = outside;
    group = before;
  }

  /** Visits alternatives, of which one is taken at run time: a comment in any of them counts, the first one's first. */
  function visitEach(module: SourceModule, nodes: readonly Node[]): void {
    const before = [...found];
    const each = nodes.map((node) => {
      restore(before);
      visit({ module, node });
      return [...found];
    });
    restore(each.reverse().flat());
  }

  function restore(entries: readonly (readonly [string, DocComment])[]): void {
    found.clear();
    for (const [name, comment] of entries) found.set(name, comment);
  }

  /** Visits all exports of a module, as `...users` after `import * as users` does. */
  function visitNamespace(module: SourceModule | undefined, depth = 0): void {
    if (module === undefined || depth > MAX_STEPS) return;
    for (const specifier of module.stars) visitNamespace(graph.resolve(module.file, specifier), depth + 1);
    for (const name of module.exports.keys()) {
      const value = declarations.exported(module, name);
      record(name, commentAt(value));
      if (value !== undefined) visitGroup(name, value);
    }
  }

  /** Records the last definition of a name, with or without a comment, because it is the one that counts. */
  function record(key: string, comment: DocComment | undefined): void {
    const name = group + key;
    if (comment === undefined) found.delete(name);
    else found.set(name, comment);
  }

  /** The comment above the declaration that a value names. */
  function commentOf(value: ModuleNode): DocComment | undefined {
    return commentAt(declarations.lookUp(value));
  }

  function commentAt(start: ModuleNode | undefined): DocComment | undefined {
    let place = start;
    for (let depth = 0; place !== undefined && depth < MAX_STEPS; depth++) {
      const comment = commentBefore(place.module, place.statement ?? place.node);
      if (comment !== undefined) return comment;
      place = declarations.lookUp(place);
    }
    return undefined;
  }

  const start = declarations.exported(graph.entry, "default");
  if (start !== undefined) visit(start);
  return found;
}

/** Reports whether a function is `routes`, also imported under another name or as a member of a namespace. */
function isRoutes({ names }: SourceModule, callee: Node): boolean {
  const inner = unwrap(callee);
  if (inner.type === "MemberExpression") return keyOf(inner.property, inner.computed) === "routes";
  if (inner.type !== "Identifier") return false;
  const binding = names.get(inner.name);
  return (binding?.from === "module" ? binding.name : inner.name) === "routes";
}

/** The doc comment directly above a node, with only space and other comments between them. */
function commentBefore({ text, comments }: SourceModule, { start }: Node): DocComment | undefined {
  let end = start;
  for (let i = comments.length - 1; i >= 0; i--) {
    const comment = comments[i];
    if (comment === undefined || comment.end > start) continue;
    if (text.slice(comment.end, end).trim() !== "") return undefined;
    if (comment.type === "Block" && comment.value.startsWith("*")) return parseDocComment(comment.value);
    end = comment.start;
  }
  return undefined;
}
