/** Marks the values below doc comments in a bundle: a run of it then finds the comments of its routes. */
import { types } from "node:util";
import type { Node } from "oxc-parser";
import type { App } from "../app/app.ts";
import type { Operation } from "../routing/operation.ts";
import type { BundleSources } from "./bundle-sources.ts";
import { type DocComment, type DocComments, parseDocComment } from "./doc-comment.ts";
import { ofBuild } from "./of-build.ts";

/** The name of the function in a marked bundle that takes the number of a comment and a value, and returns the value. */
export const MARK = "__tenonMark";

/** Expressions whose value may be a route. Functions and classes are none of them: a call around one would take its name. */
const MARKED: ReadonlySet<string> = new Set([
  "AwaitExpression",
  "CallExpression",
  "ConditionalExpression",
  "Identifier",
  "LogicalExpression",
  "MemberExpression",
]);

/** A route below a doc comment. */
interface MarkedRoute {
  readonly method: string;
  readonly paths: readonly string[];
  readonly key: string | undefined;
  readonly comment: DocComment;
}

/** A bundle with a call of {@link MARK} around each value below a doc comment. */
export class MarkedBundle {
  readonly code: string;
  readonly #comments: { readonly key: string | undefined; readonly comment: DocComment }[] = [];
  readonly #added: { readonly at: number; readonly text: string }[] = [];
  /** The offsets of the lines in the bundle before. */
  readonly #lines: readonly number[];
  readonly #sources: BundleSources;
  #offset = 0;
  /** Routes by their options, and by their handlers, because a group may copy a route with other options. */
  readonly #routes = new WeakMap<object, MarkedRoute[]>();

  /**
   * @param code as esbuild writes it, with a comment above each module
   * @param read the modules that may declare routes, by the paths in those comments
   */
  constructor(code: string, sources: BundleSources, read: ReadonlySet<string>) {
    this.#sources = sources;
    this.#lines = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
    const modules = [...code.matchAll(/^\/\/ (.+)$/gm)];
    for (const [i, { index, 1: path = "" }] of modules.entries()) {
      if (read.has(path)) this.#read(code.slice(index, modules[i + 1]?.index), index);
    }
    this.#added.sort((a, b) => a.at - b.at);
    const ends = this.#added.map(({ at, text }, i) => text + code.slice(at, this.#added[i + 1]?.at));
    this.code = code.slice(0, this.#added[0]?.at) + ends.join("");
  }

  /** Does what the code calls {@link MARK}. */
  readonly mark = (number: number, value: unknown): unknown => {
    // A proxy, such as a checked environment, may throw for names that it does not know.
    if (types.isProxy(value)) return value;
    const { handler, options, method, paths } = Object(value) as Partial<Operation>;
    const comment = this.#comments[number];
    if (
      handler !== undefined &&
      options !== undefined &&
      method !== undefined &&
      paths !== undefined &&
      comment !== undefined
    ) {
      for (const by of [options, handler])
        this.#routes.set(by, [...(this.#routes.get(by) ?? []), { method, paths, ...comment }]);
    }
    return value;
  };

  /** The comments of an app's routes after the run: above the last key of that name, or else above the first declaration. */
  commentsOf(app: App): DocComments {
    return commentsBy(app, ({ name, handler, options, method, paths }) => {
      const isSame = (route: MarkedRoute) =>
        route.method === method && route.paths.every((path, i) => paths[i]?.endsWith(path));
      const routes = (this.#routes.get(options) ?? this.#routes.get(handler) ?? []).filter(isSame);
      return routes.filter(({ key }) => isNamed(name, key)).at(-1) ?? routes[0];
    });
  }

  /** The comments above keys of the names that routes have, for a module that does not run. */
  commentsByKey(app: App): DocComments {
    return commentsBy(app, ({ name }) => this.#comments.filter(({ key }) => isNamed(name, key)).at(-1));
  }

  /** Returns the column in the bundle before; the line is the same. Both count from 0. */
  columnOf(line: number, column: number): number {
    const start = this.#lines[line] ?? 0;
    const end = this.#lines[line + 1] ?? Number.POSITIVE_INFINITY;
    const before = this.#added.filter(({ at }) => at >= start && at < end);
    return before.reduce(
      (left, { at, text }) => (start + left > at ? Math.max(left - text.length, at - start) : left),
      column,
    );
  }

  #lineOf(offset: number): number {
    let [low, high] = [0, this.#lines.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Reads a module, which begins at an offset of the bundle. */
  #read(code: string, offset: number): void {
    this.#offset = offset;
    this.#visit(ofBuild("oxc-parser").parseSync("module.mjs", code).program);
  }

  #visit(node: Node): void {
    if (node.type === "Property" && node.kind === "init" && !node.method) {
      const key = keyOf(node.key, node.computed);
      this.#mark(node.value, node, key, node.shorthand ? `${key}: ` : "");
    } else if (node.type === "PropertyDefinition" && node.static) this.#mark(node.value, node);
    else if (node.type === "AssignmentExpression" && node.operator === "=") this.#mark(node.right, node);
    else if (node.type === "VariableDeclarator") this.#mark(node.init, node);
    else if (node.type === "Program" || node.type === "BlockStatement") node.body.forEach(this.#markTaken, this);
    for (const child of Object.values(node)) {
      for (const each of Array.isArray(child) ? child : [child]) {
        if (typeof each?.type === "string" && each.type !== "ObjectPattern") this.#visit(each);
      }
    }
  }

  /** Adds a call around a value, if there is a comment above a node. */
  #mark(value: Node | null, at: Node, key?: string, before = ""): void {
    const call = value !== null && MARKED.has(value.type) ? this.#callOf(at, key) : undefined;
    if (value === null || call === undefined) return;
    this.#add(value.start, before + call);
    this.#add(value.end, ")");
  }

  /** Adds calls for the names that a pattern takes out of an object, after the statement. */
  #markTaken(statement: Node): void {
    if (statement.type !== "VariableDeclaration") return;
    for (const { id } of statement.declarations) {
      for (const each of id.type === "ObjectPattern" ? id.properties : []) {
        if (each.type !== "Property" || each.value.type !== "Identifier") continue;
        const call = this.#callOf(each);
        if (call !== undefined) this.#add(statement.end, `${call}${each.value.name});`);
      }
    }
  }

  /** The beginning of a call with the comment above a node; undefined when there is none. */
  #callOf({ start }: Node, key?: string): string | undefined {
    const at = this.#offset + start;
    const line = this.#lineOf(at);
    const place = this.#sources.placeOf(line, at - (this.#lines[line] ?? 0));
    const text = place && this.#sources.commentBefore(place);
    const comment = text === undefined ? undefined : parseDocComment(text);
    return comment && `${MARK}(${this.#comments.push({ key, comment }) - 1}, `;
  }

  #add(at: number, text: string): void {
    this.#added.push({ at: this.#offset + at, text });
  }
}

function commentsBy(
  { operations }: App,
  find: (operation: Operation) => { readonly comment: DocComment } | undefined,
): DocComments {
  const found = operations.map((operation) => [operation.name, find(operation)?.comment] as const);
  return new Map(found.flatMap(([name, comment]) => (comment === undefined ? [] : [[name, comment] as const])));
}

/** Reports whether a key is the last part of a route's name. */
const isNamed = (name: string, key: string | undefined) => key !== undefined && `.${name}`.endsWith(`.${key}`);

/** The name of a property, if it is static. */
function keyOf(key: Node, computed: boolean): string | undefined {
  if (key.type === "Identifier" && !computed) return key.name;
  if (key.type === "Literal") return String(key.value);
  return key.type === "TemplateLiteral" && key.expressions.length === 0
    ? (key.quasis[0]?.value.cooked ?? undefined)
    : undefined;
}
