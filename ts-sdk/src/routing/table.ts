import type { Operation } from "./operation.ts";
import { type Pattern, splitPath } from "./pattern.ts";

/** An operation reached by one of its paths. */
interface Target {
  readonly operation: Operation;
  readonly pattern: Pattern;
}

/** A place in the tree of segments. */
interface Place {
  readonly literals: Map<string, Place>;
  placeholder: Place | undefined;
  /** By method. */
  readonly targets: Map<string, Target>;
}

/** What a request's path and method came to. */
export type Match =
  | { readonly found: "operation"; readonly operation: Operation; readonly params: Readonly<Record<string, string>> }
  /** The path is known, with other methods. */
  | { readonly found: "path"; readonly methods: readonly string[] }
  /** A percent-encoding is malformed, in the placeholder named or elsewhere. */
  | { readonly found: "malformed"; readonly placeholder: string | undefined }
  | { readonly found: "nothing" };

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The routes of an app, made once. A match walks the path's segments, so its cost grows with their number and not with
 * the number of routes: at each segment a literal wins over a placeholder, and the order of declaration never matters.
 */
export class RouteTable {
  readonly #root = place();
  /** Paths without placeholders: one look-up, and such a path always wins. */
  readonly #literal = new Map<string, Place>();

  /** @throws TypeError when another operation has the same method and shape; the error names both. */
  add(operation: Operation, pattern: Pattern): void {
    let at = this.#root;
    for (const segment of pattern.segments) {
      if ("literal" in segment) {
        const next = at.literals.get(segment.literal) ?? place();
        at.literals.set(segment.literal, next);
        at = next;
      } else {
        at.placeholder ??= place();
        at = at.placeholder;
      }
    }
    const other = at.targets.get(operation.method);
    if (other) {
      const name = (target: Target) =>
        `${target.operation.name} (${operation.method} ${JSON.stringify(target.pattern.path)})`;
      throw new TypeError(`two routes answer the same requests: ${name(other)} and ${name({ operation, pattern })}`);
    }
    at.targets.set(operation.method, { operation, pattern });
    // A path with percent-encodings goes by the tree, on both sides.
    if (pattern.placeholders.length === 0 && !pattern.path.includes("%")) this.#literal.set(pattern.path, at);
  }

  /** Finds the operation for a method and a path that is still percent-encoded; each segment is decoded once. */
  match(method: string, path: string): Match {
    const wanted = method === "HEAD" ? "GET" : method;
    const known = path.includes("%") ? undefined : this.#literal.get(path);
    if (known) return answered(known, wanted, NO_PARAMS);
    if (path !== "" && path[0] !== "/") return { found: "nothing" };
    const segments = splitPath(path);
    const malformed = path.includes("%") ? decodeSegments(segments) : -1;
    const values: string[] = [];
    const reached = find(this.#root, segments, 0, values);
    const target = reached?.targets.get(wanted);
    if (malformed >= 0) return { found: "malformed", placeholder: target && placeholderAt(target.pattern, malformed) };
    if (!reached) return { found: "nothing" };
    const params: Record<string, string> = {};
    const names = target?.pattern.placeholders ?? [];
    for (let i = 0; i < names.length; i++) params[names[i] as string] = values[i] as string;
    return answered(reached, wanted, params);
  }
}

function place(): Place {
  return { literals: new Map(), placeholder: undefined, targets: new Map() };
}

/** What a path's own methods say to one. */
function answered({ targets }: Place, method: string, params: Readonly<Record<string, string>>): Match {
  const target = targets.get(method);
  return target
    ? { found: "operation", operation: target.operation, params }
    : { found: "path", methods: allowed(targets) };
}

/** Decodes in place; gives the index of the first segment that can't be decoded, which stays as it is, or -1. */
function decodeSegments(segments: string[]): number {
  let malformed = -1;
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] as string;
    if (!segment.includes("%")) continue;
    try {
      segments[i] = decodeURIComponent(segment);
    } catch {
      if (malformed < 0) malformed = i;
    }
  }
  return malformed;
}

function placeholderAt({ segments }: Pattern, index: number): string | undefined {
  const segment = segments[index];
  return segment && "placeholder" in segment ? segment.placeholder : undefined;
}

/**
 * Walks the tree to the path that is asked for, whatever its methods (as OpenAPI has it: concrete paths come first);
 * `values` ends up with the placeholders' values, by their order. No place is visited twice.
 */
function find(at: Place, segments: readonly string[], depth: number, values: string[]): Place | undefined {
  if (depth === segments.length) return at.targets.size > 0 ? at : undefined;
  const segment = segments[depth] as string;
  const literal = at.literals.get(segment);
  if (literal) {
    const reached = find(literal, segments, depth + 1, values);
    if (reached) return reached;
  }
  // A placeholder stands for something: "/users/" is not /users/{id}.
  if (!at.placeholder || segment === "") return undefined;
  values.push(segment);
  const reached = find(at.placeholder, segments, depth + 1, values);
  if (!reached) values.pop();
  return reached;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

function allowed(declared: ReadonlyMap<string, Target>): string[] {
  return METHODS.filter((method) => {
    if (method === "HEAD") return declared.has("GET");
    return method === "OPTIONS" || declared.has(method);
  });
}
