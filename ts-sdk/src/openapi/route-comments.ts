import type { CallExpression, Node, ObjectExpression } from "oxc-parser";
import { Declarations, MAX_STEPS } from "./declarations.ts";
import { type DocComment, type DocComments, parseDocComment } from "./doc-comment.ts";
import { returnedBy } from "./returned.ts";
import type { SourceGraph } from "./source-graph.ts";
import { keyOf, type Place, type SourceModule, unwrap } from "./source-module.ts";

/** How deep groups are followed: one may name itself. */
const MAX_GROUPS = 20;

/**
 * The doc comments of a handler module's routes, found in the source's syntax tree: above each key of the object that
 * `routes(…)` is given, or, where the key has none, above the declaration that its value names. Spread objects, imports,
 * re-exports, either side of a condition and calls of functions that do nothing but return an object are followed.
 */
export function routeComments(graph: SourceGraph): DocComments {
  const found = new Map<string, DocComment>();
  let seen = new Set<Node>();
  let group = "";
  const declarations = new Declarations(graph);

  function visit({ module, node }: Place): void {
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

  /** The objects that a function is given, as `routes` is, and then the one that it returns. */
  function visitCall(module: SourceModule, { callee, arguments: given }: CallExpression): void {
    for (const argument of given) visit({ module, node: argument });
    const inner = { module, node: unwrap(callee) };
    const returned = returnedBy(declarations.lookUp(inner) ?? inner);
    if (returned !== undefined && unwrap(returned.node).type === "ObjectExpression") visit(returned);
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
   * The routes of a group: the second argument of the call that a value is or names. Names behind a route's options, which
   * stand there as well, are those of no operation.
   */
  function visitGroup(name: string, value: Place): void {
    const { module, node } = declarations.valueOf(value) ?? value;
    const inner = unwrap(node);
    const definitions = inner.type === "CallExpression" ? inner.arguments[1] : undefined;
    if (definitions === undefined || group.split(".").length > MAX_GROUPS) return;
    const before = group;
    group += `${name}.`;
    // A group may stand in several places, with other names there.
    const outside = seen;
    seen = new Set(outside);
    visit({ module, node: definitions });
    seen = outside;
    group = before;
  }

  /** Of objects one of which is taken, nobody knows here which: a comment in any of them counts, the first one's first. */
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

  /** All that a module exports, as `...users` after `import * as users` has it. */
  function visitNamespace(module: SourceModule | undefined, depth = 0): void {
    if (module === undefined || depth > MAX_STEPS) return;
    for (const specifier of module.stars) visitNamespace(graph.resolve(module.file, specifier), depth + 1);
    for (const name of module.exports.keys()) {
      const value = declarations.exported(module, name);
      record(name, commentAt(value));
      if (value !== undefined) visitGroup(name, value);
    }
  }

  /** The last of two of one name is the one that counts, with or without a comment. */
  function record(key: string, comment: DocComment | undefined): void {
    const name = group + key;
    if (comment === undefined) found.delete(name);
    else found.set(name, comment);
  }

  /** The comment above the declaration of what a value names. */
  function commentOf(value: Place): DocComment | undefined {
    return commentAt(declarations.lookUp(value));
  }

  function commentAt(start: Place | undefined): DocComment | undefined {
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

/** The doc comment right above something: between the two is nothing but space and other comments. */
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
