/** The route table, which finds the operation of a request. */
import type { Operation } from "./operation.ts";
import type { Pattern } from "./pattern.ts";
import type { Match } from "./step.ts";

/** An operation at one of its paths. */
interface Target {
  readonly operation: Operation;
  readonly pattern: Pattern;
}

/** A node in the tree of segments. */
interface TreeNode {
  /** The branches for literal segments, by their length. A long list of one length is searched by {@link hash}. */
  readonly literals: (Branch[] | undefined)[];
  readonly byHash: Map<number, Branch[]>;
  placeholder: TreeNode | undefined;
  /** The place for the rest of the path. */
  rest: TreeNode | undefined;
  /** Targets by method. */
  readonly targets: Map<string, Target>;
}

interface Branch {
  readonly text: string;
  readonly place: TreeNode;
}

/**
 * The routes of an app, made once. A match walks the path's segments, so its cost grows with their number and not with
 * the number of routes: at each segment a literal wins over a placeholder, and the order of declaration never matters.
 */
export class RouteTable {
  readonly #root = place();

  /** @throws TypeError when another operation has the same method and shape; the error names both. */
  add(operation: Operation, pattern: Pattern): void {
    let at = this.#root;
    for (const segment of pattern.segments) {
      if ("literal" in segment) {
        at = step(at, segment.literal) ?? grow(at, segment.literal);
      } else {
        const kind = segment.rest ? "rest" : "placeholder";
        at[kind] ??= place();
        at = at[kind] as TreeNode;
      }
    }
    const other = at.targets.get(operation.method);
    if (other) {
      const name = (target: Target) =>
        `${target.operation.name} (${operation.method} ${JSON.stringify(target.pattern.path)})`;
      throw new TypeError(`two routes answer the same requests: ${name(other)} and ${name({ operation, pattern })}`);
    }
    at.targets.set(operation.method, { operation, pattern });
  }

  /** Finds the operation for a method and a path that is still percent-encoded; each segment is decoded once. */
  match(method: string, path: string): Match {
    // The text before the first slash, and then the segments.
    const segments = path.split("/");
    if (segments[0] !== "") return NOTHING;
    const undecoded = path.includes("%") ? decodeSegments(segments) : NONE;
    const values: string[] = [];
    const reached = find(this.#root, segments, 1, values);
    const target = reached?.targets.get(method === "HEAD" ? "GET" : method);
    if (!target && undecoded.length > 0) return { found: "malformed" };
    if (!target) return reached ? { found: "path", methods: allowed(reached.targets) } : NOTHING;
    const { operation, pattern } = target;
    const { placeholders } = pattern;
    const params: Record<string, string> = {};
    for (let i = 0; i < placeholders.length; i++) params[placeholders[i] as string] = values[i] as string;
    const malformed = undecoded.length === 0 ? NONE : undecoded.map((index) => placeholderAt(pattern, index - 1));
    return { found: "operation", operation, params, malformed };
  }
}

const NOTHING: Match = { found: "nothing" };
const NONE: readonly never[] = [];

function place(): TreeNode {
  return { literals: [], byHash: new Map(), placeholder: undefined, rest: undefined, targets: new Map() };
}

const NOWHERE = /* @__PURE__ */ place();

/** The number of branches from which they are found by hash. */
const MANY = 8;

// A segment is never looked up as a key, because the engine would intern it: every fresh instance would pay for the
// written tables.

function step(from: TreeNode, text: string): TreeNode | undefined {
  return from.literals[text.length]?.find((known) => known.text === text)?.place;
}

function grow({ literals, byHash }: TreeNode, text: string): TreeNode {
  const added = { text, place: place() };
  literals[text.length] = [...(literals[text.length] ?? []), added];
  const key = hash(text);
  byHash.set(key, [...(byHash.get(key) ?? []), added]);
  return added.place;
}

/** A hash of a text's length and four characters; the last ones differ the most. */
function hash(text: string): number {
  const { length } = text;
  if (length === 0) return 0;
  const middle = text.charCodeAt(length >> 1);
  const last = text.charCodeAt(length - 1);
  const before = length < 2 ? 0 : text.charCodeAt(length - 2);
  return (((length * 31 + text.charCodeAt(0)) * 31 + middle) * 31 + before) * 65537 + last;
}

/** Decodes in place, and returns the indexes of the segments that can't be decoded, which stay as they are. */
function decodeSegments(segments: string[]): number[] {
  const undecoded: number[] = [];
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i] as string;
    if (!segment.includes("%")) continue;
    try {
      segments[i] = decodeURIComponent(segment);
    } catch {
      undecoded.push(i);
    }
  }
  return undecoded;
}

function placeholderAt({ segments }: Pattern, index: number): string | undefined {
  // The last placeholder may take several segments.
  const segment = segments[Math.min(index, segments.length - 1)];
  return segment && "placeholder" in segment ? segment.placeholder : undefined;
}

/**
 * Walks the tree to the requested path, whatever its methods (as in OpenAPI, concrete paths come first). At the end,
 * `values` has the placeholders' values in order. No node is visited twice.
 */
function find(from: TreeNode, segments: readonly string[], first: number, values: string[]): TreeNode | undefined {
  let at = from;
  let rest: TreeNode | undefined;
  let restFrom = 0;
  let restAfter = 0;
  for (let depth = first; depth < segments.length; depth++) {
    const segment = segments[depth] as string;
    // The deepest place for the rest counts, and a last segment of "" is none.
    if (at.rest && (segment !== "" || depth < segments.length - 1)) {
      rest = at.rest;
      restFrom = depth;
      restAfter = values.length;
    }
    let literal: TreeNode | undefined;
    let among = at.literals[segment.length];
    if (among !== undefined) {
      if (among.length > MANY) among = at.byHash.get(hash(segment)) ?? [];
      for (let i = 0; i < among.length; i++) {
        const known = among[i] as Branch;
        if (known.text !== segment) continue;
        literal = known.place;
        break;
      }
    }
    // A placeholder needs a value: "/users/" is not /users/{id}.
    const placeholder = segment === "" ? undefined : at.placeholder;
    if (literal && placeholder) {
      const before = values.length;
      const reached = find(literal, segments, depth + 1, values);
      if (reached) return reached;
      values.length = before;
    }
    if (placeholder) values.push(segment);
    const next = placeholder ?? literal;
    if (!next) {
      at = NOWHERE;
      break;
    }
    at = next;
  }
  if (at.targets.size > 0) return at;
  if (rest) {
    values.length = restAfter;
    values.push(segments.slice(restFrom).join("/"));
  }
  return rest;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

function allowed(declared: ReadonlyMap<string, Target>): string[] {
  return METHODS.filter((method) => {
    if (method === "HEAD") return declared.has("GET");
    return method === "OPTIONS" || declared.has(method);
  });
}
