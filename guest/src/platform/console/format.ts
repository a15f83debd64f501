/** Values as `console` prints them: in one line, as the previous engine did. */
import { className, promiseOutcome } from "tenon:engine";

const { Array, Map, Object, Reflect, Set } = globalThis;
const { hasOwn } = Object;
const { toString: sourceOf } = Function.prototype;
const { forEach: eachOfMap } = Map.prototype;
const { forEach: eachOfSet } = Set.prototype;
const { getTime } = Date.prototype;

/** Limits of one call, after which values are left out. */
const MAX_OBJECTS = 10_000;
const MAX_DEPTH = 64;

/** Returns the values of one call as a line. */
export function line(values: readonly unknown[]): string {
  const formatting = new Formatting();
  return values.map((value) => (typeof value === "string" ? value : formatting.text(value))).join(" ");
}

class Formatting {
  /** The objects that are being formatted, which may refer to themselves. */
  readonly #above: object[] = [];
  #objects = 0;

  text(value: unknown): string {
    switch (typeof value) {
      case "string":
        return `"${value}"`;
      case "bigint":
        return `${value}n`;
      case "symbol":
        return value.description === undefined ? "Symbol()" : `Symbol("${value.description}")`;
      case "function":
        return `[ ${Reflect.apply(sourceOf, value, [])}]`;
      case "object":
        return value === null ? "null" : this.#object(value);
      default:
        return Object.is(value, -0) ? "-0" : String(value);
    }
  }

  #object(value: object): string {
    if (this.#above.includes(value)) return "<Circular>";
    if (this.#above.length === MAX_DEPTH || this.#objects++ === MAX_OBJECTS) return "…";
    this.#above.push(value);
    try {
      return this.#parts(value);
    } finally {
      this.#above.pop();
    }
  }

  #parts(value: object): string {
    const type = className(value);
    if (ArrayBuffer.isView(value) && type !== "DataView")
      return `${nameOf(value) ?? type} ${this.#list(value as never)}`;
    switch (type) {
      case "Date":
        return `(new Date(${Reflect.apply(getTime, value, [])}))`;
      case "Error":
        return `(new ${(value as Error).name}(${this.text((value as Error).message)}))`;
      case "RegExp":
        return String(value);
      case "Map":
        return this.#map(value as Map<unknown, unknown>);
      case "Set":
        return this.#set(value as Set<unknown>);
      case "Promise":
        return this.#promise(value);
      case "WeakMap":
      case "WeakSet":
        return `${type} { <items unknown> }`;
      default:
        return Array.isArray(value) ? this.#list(value) : this.#properties(value);
    }
  }

  #list(value: ArrayLike<unknown>): string {
    const { length } = value;
    const shown = Math.min(length, MAX_OBJECTS);
    const parts: string[] = [];
    for (let index = 0; index < shown; index++) parts.push(this.text(value[index]));
    if (shown < length) parts.push("…");
    return `[${parts.join(", ")}]`;
  }

  #map(value: Map<unknown, unknown>): string {
    const parts: string[] = [];
    Reflect.apply(eachOfMap, value, [
      (item: unknown, key: unknown) => parts.push(`${this.text(key)} => ${this.text(item)}`),
    ]);
    return `Map(${parts.length}) { ${parts.join(", ")} }`;
  }

  #set(value: Set<unknown>): string {
    const parts: string[] = [];
    Reflect.apply(eachOfSet, value, [(item: unknown) => parts.push(this.text(item))]);
    return `Set(${parts.length}) { ${parts.join(", ")} }`;
  }

  #promise(value: object): string {
    const outcome = promiseOutcome(value);
    if (outcome === undefined) return "Promise { <pending> }";
    return `Promise { ${outcome[0] ? "<rejected> " : ""}${this.text(outcome[1])} }`;
  }

  /** Properties of the object, and those that it inherits: the attributes of a platform object are of its class. */
  #properties(value: object): string {
    const parts: string[] = [];
    for (const key in value) {
      const descriptor = Object.getOwnPropertyDescriptor(value, key);
      if (descriptor !== undefined && !("value" in descriptor)) {
        parts.push(`${key}: [Getter]`);
        continue;
      }
      const part = (value as Record<string, unknown>)[key];
      if (typeof part !== "function" || hasOwn(value, key)) parts.push(`${key}: ${this.text(part)}`);
    }
    const name = nameOf(value);
    const prefix = name === undefined || name === "Object" ? "" : `${name} `;
    return `${prefix}${parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`}`;
  }
}

/** The name of an object's class, as it says itself. */
function nameOf(value: object): string | undefined {
  const { constructor } = value as { readonly constructor?: unknown };
  if (typeof constructor !== "function") return undefined;
  const { name } = constructor as { readonly name: unknown };
  return typeof name === "string" ? name : undefined;
}
