import type { CallExpression, Node, ObjectExpression } from "oxc-parser";
import { type DocComment, type DocComments, parseDocComment } from "./doc-comment.ts";
import { returnedBy } from "./returned.ts";
import type { SourceGraph } from "./source-graph.ts";
import { type Binding, nameOf, type Place, type SourceModule, unwrap } from "./source-module.ts";

/**
 * The doc comments of a handler module's routes, found in the source's syntax tree: above each key of the object that
 * `routes(…)` is given, or, where the key has none, above the declaration that its value names. Spread objects, imports,
 * re-exports and calls of functions that do nothing but return an object are followed.
 */
export function routeComments(graph: SourceGraph): DocComments {
  const found = new Map<string, DocComment>();
  const seen = new Set<Node>();

  function visit({ module, node }: Place): void {
    if (seen.has(node)) return;
    seen.add(node);
    const inner = unwrap(node);
    if (inner.type === "CallExpression") visitCall(module, inner);
    else if (inner.type === "ObjectExpression") visitObject(module, inner);
    else {
      const place = lookUp(module, inner);
      if (place !== undefined) visit(place);
    }
  }

  /** The objects that a function is given, as `routes` is, and then the one that it returns. */
  function visitCall(module: SourceModule, { callee, arguments: given }: CallExpression): void {
    for (const argument of given) visit({ module, node: argument });
    const inner = unwrap(callee);
    const returned = returnedBy(lookUp(module, inner) ?? { module, node: inner });
    if (returned !== undefined && unwrap(returned.node).type === "ObjectExpression") visit(returned);
  }

  function visitObject(module: SourceModule, { properties }: ObjectExpression): void {
    for (const property of properties) {
      if (property.type === "SpreadElement") visitSpread(module, unwrap(property.argument));
      else if (!property.computed || property.key.type === "Literal") {
        record(nameOf(property.key), commentBefore(module, property) ?? commentOf(module, property.value));
      }
    }
  }

  function visitSpread(module: SourceModule, node: Node): void {
    const binding = node.type === "Identifier" ? module.names.get(node.name) : undefined;
    if (binding?.from !== "namespace") visit({ module, node });
    else visitNamespace(graph.resolve(module.file, binding.specifier));
  }

  /** All that a module exports, as `...users` after `import * as users` has it. */
  function visitNamespace(module: SourceModule | undefined, depth = 0): void {
    if (module === undefined || depth > MAX_STEPS) return;
    for (const specifier of module.stars) visitNamespace(graph.resolve(module.file, specifier), depth + 1);
    for (const name of module.exports.keys()) record(name, commentAt(exported(module, name)));
  }

  /** The last of two of one name is the one that counts, with or without a comment. */
  function record(name: string, comment: DocComment | undefined): void {
    if (comment === undefined) found.delete(name);
    else found.set(name, comment);
  }

  /** The comment above the declaration of what a value names. */
  function commentOf(module: SourceModule, value: Node): DocComment | undefined {
    return commentAt(lookUp(module, unwrap(value)));
  }

  function commentAt(start: Place | undefined): DocComment | undefined {
    let place = start;
    for (let depth = 0; place !== undefined && depth < MAX_STEPS; depth++) {
      const comment = commentBefore(place.module, place.statement ?? place.node);
      if (comment !== undefined) return comment;
      place = lookUp(place.module, unwrap(place.node));
    }
    return undefined;
  }

  /** What a name or a member such as `users.list` stands for. */
  function lookUp(module: SourceModule, node: Node): Place | undefined {
    if (node.type === "Identifier") return follow(module, module.names.get(node.name));
    if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return undefined;
    const key = nameOf(node.property);
    const binding = module.names.get(node.object.name);
    if (binding?.from === "namespace") return exported(graph.resolve(module.file, binding.specifier), key);
    const object = follow(module, binding);
    return object && propertyOf(object, key);
  }

  function propertyOf({ module, node }: Place, key: string): Place | undefined {
    const object = unwrap(node);
    if (object.type !== "ObjectExpression") return undefined;
    for (const property of object.properties) {
      if (property.type === "Property" && !property.computed && nameOf(property.key) === key)
        return { module, node: property.value, statement: property };
    }
    return undefined;
  }

  function follow(module: SourceModule, binding: Binding | undefined): Place | undefined {
    if (binding?.from === "here") return { module, node: binding.value, statement: binding.statement };
    if (binding?.from === "module") return exported(graph.resolve(module.file, binding.specifier), binding.name);
    return undefined;
  }

  function exported(module: SourceModule | undefined, name: string, depth = 0): Place | undefined {
    if (module === undefined || depth > MAX_STEPS) return undefined;
    const binding = module.exports.get(name);
    if (binding?.from === "name") return follow(module, module.names.get(binding.name));
    if (binding !== undefined) return follow(module, binding);
    for (const specifier of module.stars) {
      const place = exported(graph.resolve(module.file, specifier), name, depth + 1);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  const start = exported(graph.entry, "default");
  if (start !== undefined) visit(start);
  return found;
}

/** How far a chain of names is followed; modules may import each other in a circle. */
const MAX_STEPS = 50;

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
