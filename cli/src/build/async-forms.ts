/**
 * Writes into asynchronous functions what `AsyncLocalStorage` needs to follow them (`guest/src/node/async-context.ts`): JavaScript cannot
 * observe the callbacks of `await`, so the stores are kept before each `await`, and restored after it. The functions stay what they
 * are. A compiler that writes them as generators gives `new.target` another meaning, and ends an asynchronous generator inside of a
 * `finally` that awaits.
 */
import { type Node, parseSync } from "oxc-parser";
import { Insertions } from "./insertions.ts";
import { memberName, walk } from "./used-names.ts";

/** The names that are written, and how a module exports each. */
export const asyncFormNames: Readonly<Record<string, string>> = Object.fromEntries(
  ["Now", "After", "Resumed", "Followed", "Each", "Executor", "Promise"].map((name) => [
    `__tenon${name}`,
    `export { ${name === "Promise" ? "OwnPromise" : name.toLowerCase()} as __tenon${name} } from "tenon-node:async-context.js";`,
  ]),
);

const KEEP = "__tenonAt = __tenonNow(), ";
const RESTORE = " __tenonAfter(__tenonAt);";

/** A function, and what its body has directly. */
type Owner = Node & { readonly async?: boolean; readonly generator?: boolean };

/**
 * Returns the source in the form described above, with a source map inside; the same text when it has no asynchronous function.
 *
 * @param source the name that the map has for the source
 */
export function withAsyncForms(file: string, text: string, source: string): string {
  if (!/\basync\b|\bPromise\b/.test(text)) return text;
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return text;
  const insertions = new Insertions(text);
  const prepared = new Set<Node>();
  /** Declares the variable in a function; returns the beginning of a list of arguments that sets it. */
  const kept = (owner: Owner): string => {
    const start = bodyStart(owner);
    // The expression that an arrow function returns has no statements which would need it.
    if (start === undefined) return "__tenonNow(), ";
    if (!prepared.has(owner)) {
      prepared.add(owner);
      insertions.before(start, " let __tenonAt;");
    }
    return KEEP;
  };

  walk(program as unknown as Node, [], (node, above) => {
    followResolve(node);
    const owner = ownerOf(above);
    if (owner?.async !== true) return;
    const { type } = node;
    if (type === "AwaitExpression") {
      insertions.around(node, `__tenonAfter(${kept(owner)}`, ")");
      insertions.around(node.argument, "__tenonFollowed(", ")");
    } else if (type === "YieldExpression") {
      insertions.around(node, `__tenonResumed(${kept(owner)}`, ")");
      if (node.argument) insertions.around(node.argument, node.delegate ? "__tenonEach(" : "__tenonFollowed(", ")");
    } else if (type === "ReturnStatement") {
      if (node.argument) insertions.around(node.argument, "__tenonFollowed(", ")");
    } else if (type === "TryStatement") {
      kept(owner);
      for (const block of [node.handler?.body, node.finalizer]) if (block) insertions.before(block.start + 1, RESTORE);
    } else if (type === "ForOfStatement" && node.await) {
      kept(owner);
      insertions.around(labelled(node, above), "{ ", `${RESTORE} }`);
      insertions.around(node.right, `(${KEEP}__tenonEach(`, "))");
      const { body } = node;
      if (body.type === "BlockStatement") insertions.before(body.start + 1, RESTORE);
      else insertions.around(body, `{${RESTORE} `, " }");
    } else if (isReturned(node, owner, above)) insertions.around(node, "__tenonFollowed(", ")");
  });
  /** Has the functions that resolve a promise follow objects with a method `then`. */
  function followResolve(node: Node): void {
    if (node.type === "NewExpression" && isPromise(node.callee)) {
      const [executor] = node.arguments;
      if (executor && executor.type !== "SpreadElement") insertions.around(executor, "__tenonExecutor(", ")");
    }
    if (
      (node.type === "ClassDeclaration" || node.type === "ClassExpression") &&
      node.superClass &&
      isPromise(node.superClass)
    ) {
      insertions.around(node.superClass, "(", ", __tenonPromise)");
    }
  }
  return insertions.isEmpty ? text : insertions.apply(source);
}

/** Reports whether an expression is the global `Promise`. */
function isPromise(node: Node): boolean {
  return node.type === "MemberExpression"
    ? memberName(node) === "Promise"
    : node.type === "Identifier" && node.name === "Promise";
}

/** The function whose body has a node directly. */
function ownerOf(above: readonly Node[]): Owner | undefined {
  for (let i = above.length - 1; i >= 0; i--) {
    const node = above[i] as Node;
    if (/^(?:Arrow)?Function/.test(node.type) && node.type !== ("FunctionBody" as string)) return node as Owner;
    // Fields of classes are functions of their own, which cannot await.
    if (/^(?:PropertyDefinition|AccessorProperty)$|^StaticBlock$/.test(node.type)) return undefined;
  }
  return undefined;
}

/** Reports whether a node is the expression that an asynchronous arrow function returns. */
function isReturned(node: Node, owner: Owner, above: readonly Node[]): boolean {
  return above.at(-1) === owner && owner.type === "ArrowFunctionExpression" && owner.expression && owner.body === node;
}

/** A loop with its labels. */
function labelled(loop: Node, above: readonly Node[]): Node {
  let outer = loop;
  for (let i = above.length - 1; above[i]?.type === "LabeledStatement"; i--) outer = above[i] as Node;
  return outer;
}

/** The place after the directives of a function; undefined when it has no statements. */
function bodyStart(node: Node): number | undefined {
  const { body } = node as unknown as { body: Node & { readonly body?: readonly Node[] } };
  if (body.type !== "BlockStatement" && body.type !== ("FunctionBody" as string)) return undefined;
  const directives = (body.body ?? []).filter((each) => "directive" in each && typeof each.directive === "string");
  return directives.at(-1)?.end ?? body.start + 1;
}
