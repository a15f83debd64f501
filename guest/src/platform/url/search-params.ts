/** `URLSearchParams` (URL Standard, section 6.2). */
import { pairIterators } from "@tenon/sdk/web-idl";
import { type Pair, parseForm, serializeForm } from "./form-urlencoded.ts";

type Changed = (query: string) => void;

// Functions and not private methods, because each object with private methods gets a property more.
let pairsIn: (params: URLSearchParams) => Pair[];
let update: (params: URLSearchParams) => void;
let make: (query: string, changed: Changed) => URLSearchParams;
let replace: (params: URLSearchParams, query: string) => void;

/** A list of pairs. That of a URL parses the query when it is asked for the first time. */
export class URLSearchParams {
  /** The pairs, unless `#query` has to be parsed first. */
  #pairs: Pair[] | undefined;
  #query: string;
  /** Writes the new query into the URL. */
  #changed: Changed | undefined;

  static {
    pairsIn = (params) => {
      params.#pairs ??= parseForm(params.#query);
      return params.#pairs;
    };
    update = (params) => params.#changed?.(serializeForm(pairsIn(params)));
    make = (query, changed) => {
      const params = new URLSearchParams();
      params.#changed = changed;
      replace(params, query);
      return params;
    };
    replace = (params, query) => {
      params.#query = query;
      params.#pairs = undefined;
    };
  }

  // Parameters with defaults do not count for `length`.
  constructor(init: unknown = "") {
    this.#query = "";
    if (init === "") return;
    if ((typeof init === "object" && init !== null) || typeof init === "function") {
      this.#pairs = pairsOf(init);
      return;
    }
    const text = textOf(init);
    this.#query = text.startsWith("?") ? text.slice(1) : text;
  }

  get size(): number {
    return pairsIn(this).length;
  }

  append(name: string, value: string): void {
    const pairs = pairsIn(this);
    // biome-ignore lint/complexity/noArguments: `undefined` is a name.
    expect("append", arguments.length, 2);
    pairs.push([textOf(name), textOf(value)]);
    update(this);
  }

  delete(name: string, value: string | undefined = undefined): void {
    const pairs = pairsIn(this);
    // biome-ignore lint/complexity/noArguments: as above.
    expect("delete", arguments.length, 1);
    const matches = matcher(name, value);
    this.#pairs = pairs.filter((pair) => !matches(pair));
    update(this);
  }

  get(name: string): string | null {
    const pairs = pairsIn(this);
    // biome-ignore lint/complexity/noArguments: as above.
    expect("get", arguments.length, 1);
    const wanted = textOf(name);
    for (const pair of pairs) if (pair[0] === wanted) return pair[1];
    return null;
  }

  getAll(name: string): string[] {
    const pairs = pairsIn(this);
    // biome-ignore lint/complexity/noArguments: as above.
    expect("getAll", arguments.length, 1);
    return pairs.filter(matcher(name, undefined)).map((pair) => pair[1]);
  }

  has(name: string, value: string | undefined = undefined): boolean {
    const pairs = pairsIn(this);
    // biome-ignore lint/complexity/noArguments: as above.
    expect("has", arguments.length, 1);
    return pairs.some(matcher(name, value));
  }

  set(name: string, value: string): void {
    const pairs = pairsIn(this);
    // biome-ignore lint/complexity/noArguments: as above.
    expect("set", arguments.length, 2);
    const made: Pair = [textOf(name), textOf(value)];
    const first = pairs.findIndex((pair) => pair[0] === made[0]);
    if (first < 0) {
      pairs.push(made);
    } else {
      this.#pairs = pairs.filter((pair, index) => index <= first || pair[0] !== made[0]);
      this.#pairs[first] = made;
    }
    update(this);
  }

  sort(): void {
    pairsIn(this).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    update(this);
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self: unknown = undefined): void {
    pairsIn(this);
    if (typeof callback !== "function") throw new TypeError("URLSearchParams.forEach: the callback must be a function");
    // The list may change meanwhile.
    for (let at = 0; at < pairsIn(this).length; at++) {
      const [name, value] = pairsIn(this)[at] as Pair;
      callback.call(self, value, name, this);
    }
  }

  entries(): IterableIterator<Pair> {
    pairsIn(this);
    return iterate(this, "entries");
  }

  keys(): IterableIterator<string> {
    pairsIn(this);
    return iterate(this, "keys");
  }

  values(): IterableIterator<string> {
    pairsIn(this);
    return iterate(this, "values");
  }

  toString(): string {
    return serializeForm(pairsIn(this));
  }

  declare [Symbol.iterator]: () => IterableIterator<Pair>;
}

const iterate = pairIterators<URLSearchParams>("URLSearchParams", (params) => pairsIn(params));
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
  value: URLSearchParams.prototype.entries,
  writable: true,
  configurable: true,
});

/**
 * Makes the parameters of a URL.
 *
 * @param query without the question mark
 * @param changed receives each new query
 */
export function paramsOfUrl(query: string, changed: Changed): URLSearchParams {
  return make(query, changed);
}

/** Replaces the parameters of a URL whose query was assigned. */
export function replaceQuery(params: URLSearchParams, query: string): void {
  replace(params, query);
}

/** Converts to a `USVString` (Web IDL, section 3.2.12). */
function textOf(value: unknown): string {
  return (typeof value === "string" ? value : `${value}`).toWellFormed();
}

function matcher(name: unknown, value: unknown): (pair: Pair) => boolean {
  const wantedName = textOf(name);
  if (value === undefined) return (pair) => pair[0] === wantedName;
  const wantedValue = textOf(value);
  return (pair) => pair[0] === wantedName && pair[1] === wantedValue;
}

/** Converts a sequence of pairs, or else a record (Web IDL, sections 3.2.20 and 3.2.22). */
function pairsOf(init: object): Pair[] {
  const iterator: unknown = (init as Partial<Iterable<unknown>>)[Symbol.iterator];
  if (iterator === undefined || iterator === null) return pairsOfRecord(init);
  const pairs: Pair[] = [];
  for (const each of init as Iterable<Iterable<unknown>>) {
    if ((typeof each !== "object" || each === null) && typeof each !== "function") throw notPairs();
    const [name, value, ...more] = Array.from(sequence(each), textOf);
    if (name === undefined || value === undefined || more.length > 0) throw notPairs();
    pairs.push([name, value]);
  }
  return pairs;
}

/** Refuses objects that `Array.from` accepts although they are not iterable. */
function sequence(values: Iterable<unknown>): Iterable<unknown> {
  if (typeof values[Symbol.iterator] !== "function") throw notPairs();
  return values;
}

function notPairs(): TypeError {
  return new TypeError("URLSearchParams: each element must be a pair of a name and a value");
}

function pairsOfRecord(init: object): Pair[] {
  // Names may become equal by the conversion. Then the last value counts.
  const record = new Map<string, string>();
  for (const key of Reflect.ownKeys(init)) {
    if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue;
    const name = textOf(key);
    record.set(name, textOf((init as Record<PropertyKey, unknown>)[key]));
  }
  return [...record];
}

function expect(method: string, given: number, needed: number): void {
  if (given < needed)
    throw new TypeError(`URLSearchParams.${method}: expects ${needed} arguments, but there are ${given}`);
}
