/**
 * `structuredClone` (HTML Standard, sections 2.7.3 to 2.7.8) in one pass: each object gets its copy when it is first seen, and a stack of
 * frames copies the parts depth first, so that no nesting is too deep. Objects that are transferred are replaced last, because nothing may
 * be detached when a value cannot be cloned.
 */
import { className } from "tenon:engine";
import { platformPrototypes } from "@tenon/sdk/web-idl";
import { cloneSteps, transferSteps } from "../transfer.ts";
import { copyOfLeaf, newView, refuse, viewOf } from "./shells.ts";

const { DOMException, Map, Object, Reflect, Set } = globalThis;
const { apply } = Reflect;
const { defineProperty, getPrototypeOf, hasOwn, keys } = Object;
const mapEntries = Map.prototype.forEach;
const mapSet = Map.prototype.set;
const setEntries = Set.prototype.forEach;
const setAdd = Set.prototype.add;
const transferBuffer = (ArrayBuffer.prototype as { transfer?: unknown }).transfer as () => object;
const isDetachedBuffer = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "detached")?.get as () => boolean;

/** The parts of an object that are still to be copied. */
interface Frame {
  readonly source: object;
  readonly copy: object;
  /** Keys of an object; keys and values of a map, or the values of a set. */
  readonly parts: readonly unknown[];
  readonly kind: "properties" | "map" | "set";
  next: number;
  /** The copy of a map's key, whose value follows. */
  key: unknown;
}

/** Reports whether a prototype is that of a class of the platform: one that was made here, or one that is a global. */
export function isPlatform(prototype: object): boolean {
  if (platformPrototypes.has(prototype)) return true;
  if (!hasOwn(prototype, "constructor")) return false;
  const { constructor } = prototype;
  return typeof constructor === "function" && Reflect.get(globalThis, constructor.name) === constructor;
}

class Cloning {
  /** Copies by their originals. */
  readonly #copies = new Map<object, object>();
  readonly #frames: Frame[] = [];
  readonly #transferred: ReadonlySet<object>;
  /** Stand-ins for what the transferred objects, or views of them, will be. */
  readonly #standIns = new Map<object, () => object>();
  readonly #repairs: (() => void)[] = [];
  /** The objects that continue the transferred ones. */
  readonly #results = new Map<object, object>();

  constructor(transferred: ReadonlySet<object>) {
    this.#transferred = transferred;
  }

  clone(value: unknown): unknown {
    const frames = this.#frames;
    const outer = frames.length;
    const copy = this.#begin(value);
    while (frames.length > outer) {
      const frame = frames[frames.length - 1] as Frame;
      if (frame.next === frame.parts.length) frames.pop();
      else this.#step(frame);
    }
    return copy;
  }

  /** Detaches the transferred objects, and puts those that continue them into the copy. */
  transfer(copy: unknown): unknown {
    for (const object of this.#transferred) this.#results.set(object, transferred(object));
    for (const [standIn, make] of this.#standIns) {
      const result = make();
      this.#standIns.set(standIn, () => result);
    }
    for (const repair of this.#repairs) repair();
    return this.#final(copy);
  }

  /** The object that continues a transferred one. */
  resultOf(object: object): object {
    return this.#results.get(object) as object;
  }

  #final(copy: unknown): unknown {
    return this.#standIns.get(copy as object)?.() ?? copy;
  }

  #isStandIn(copy: unknown): boolean {
    return this.#standIns.size > 0 && this.#standIns.has(copy as object);
  }

  #standIn(original: object, make: () => object): object {
    const standIn = {};
    this.#standIns.set(standIn, make);
    this.#copies.set(original, standIn);
    return standIn;
  }

  /** Returns a copy whose parts follow. */
  #begin(value: unknown): unknown {
    if (typeof value === "symbol") refuse("A symbol");
    if (typeof value === "function") refuse("A function");
    if (typeof value !== "object" || value === null) return value;
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    if (this.#transferred.has(value)) return this.#standIn(value, () => this.resultOf(value));
    const type = className(value);
    const view = viewOf(value, type);
    if (view !== undefined) {
      if (className(view.buffer) !== "ArrayBuffer") refuse("Shared memory");
      const buffer = this.#begin(view.buffer) as object;
      if (this.#isStandIn(buffer)) return this.#standIn(value, () => newView(view, this.#final(buffer) as object));
      return this.#keep(value, newView(view, buffer));
    }
    const leaf = copyOfLeaf(value, type);
    if (leaf === undefined) return this.#beginParts(value, type);
    if (type === "Error") this.#pushProperties(value, leaf, hasOwn(value, "cause") ? ["cause"] : []);
    return this.#keep(value, leaf);
  }

  #beginParts(value: object, type: string): object {
    if (type === "Array") {
      const copy: unknown[] = [];
      copy.length = (value as unknown[]).length;
      this.#pushProperties(value, copy, keys(value));
      return this.#keep(value, copy);
    }
    const parts: unknown[] = [];
    if (type === "Map") {
      apply(mapEntries, value, [(item: unknown, key: unknown) => parts.push(key, item)]);
      return this.#push(value, new Map(), parts, "map");
    }
    if (type === "Set") {
      apply(setEntries, value, [(item: unknown) => parts.push(item)]);
      return this.#push(value, new Set(), parts, "set");
    }
    if (type !== "Object") refuse(`An object of the class ${type}`);
    for (let at = getPrototypeOf(value); at !== null && at !== Object.prototype; at = getPrototypeOf(at)) {
      const steps = cloneSteps.get(at);
      if (steps !== undefined)
        return this.#keep(
          value,
          steps(value, (part) => this.clone(part)),
        );
      if (isPlatform(at)) refuse(`An object of the class ${at.constructor?.name}`);
    }
    const copy = {};
    this.#pushProperties(value, copy, keys(value));
    return this.#keep(value, copy);
  }

  #keep(original: object, copy: object): object {
    this.#copies.set(original, copy);
    return copy;
  }

  #push(source: object, copy: object, parts: readonly unknown[], kind: Frame["kind"]): object {
    this.#frames.push({ source, copy, parts, kind, next: 0, key: undefined });
    return this.#keep(source, copy);
  }

  #pushProperties(source: object, copy: object, names: readonly string[]): void {
    if (names.length > 0)
      this.#frames.push({ source, copy, parts: names, kind: "properties", next: 0, key: undefined });
  }

  /** Copies the next part of an object. */
  #step(frame: Frame): void {
    const { source, copy, parts, kind } = frame;
    const index = frame.next++;
    const part = parts[index];
    if (kind === "properties") {
      const name = part as string;
      // A getter before may have deleted it.
      if (!hasOwn(source, name)) return;
      const value = this.#begin((source as Record<string, unknown>)[name]);
      const enumerable = name !== "cause" || className(copy) !== "Error";
      const define = (final: unknown) =>
        defineProperty(copy, name, { value: final, writable: true, enumerable, configurable: true });
      define(value);
      if (this.#isStandIn(value)) this.#repairs.push(() => define(this.#final(value)));
      return;
    }
    const value = this.#begin(part);
    if (kind === "set") apply(setAdd, copy, [value]);
    else if (index % 2 === 0) frame.key = value;
    else apply(mapSet, copy, [frame.key, value]);
    if (this.#isStandIn(value)) this.#repairs.push(() => this.#replaceParts(copy as Map<unknown, unknown>, kind));
  }

  /** Fills a map or set again, in the same order. */
  #replaceParts(copy: Map<unknown, unknown> | Set<unknown>, kind: Frame["kind"]): void {
    const entries: [unknown, unknown][] = [];
    apply(kind === "map" ? mapEntries : setEntries, copy, [(item: unknown, key: unknown) => entries.push([key, item])]);
    copy.clear();
    for (const [key, item] of entries) {
      if (kind === "map") apply(mapSet, copy, [this.#final(key), this.#final(item)]);
      else apply(setAdd, copy, [this.#final(item)]);
    }
  }
}

function transferred(object: object): object {
  if (className(object) === "ArrayBuffer") return apply(transferBuffer, object, []);
  return transferStepsOf(object).transfer(object);
}

function transferStepsOf(object: object): { isDetached(value: object): boolean; transfer(value: object): object } {
  for (let at = getPrototypeOf(object); at !== null; at = getPrototypeOf(at)) {
    const steps = transferSteps.get(at);
    if (steps !== undefined) return steps;
  }
  throw new DOMException("An object of the list cannot be transferred", "DataCloneError");
}

/** Checks the list before anything is cloned. */
function checkTransfer(list: readonly object[]): ReadonlySet<object> {
  const all = new Set<object>();
  for (const object of list) {
    if (className(object) !== "ArrayBuffer") transferStepsOf(object);
    if (all.has(object)) throw new DOMException("The list of transferred objects has one twice", "DataCloneError");
    all.add(object);
  }
  return all;
}

function checkAttached(all: ReadonlySet<object>): void {
  for (const object of all) {
    const isDetached =
      className(object) === "ArrayBuffer"
        ? apply(isDetachedBuffer, object, [])
        : transferStepsOf(object).isDetached(object);
    if (isDetached) throw new DOMException("A detached object cannot be transferred", "DataCloneError");
  }
}

export interface Cloned {
  readonly value: unknown;
  /** The objects that continue the transferred ones, in their order. */
  readonly transferred: readonly object[];
}

/** Clones a value and transfers objects to it. Throws a "DataCloneError" before anything is detached. */
export function cloneWithTransfer(value: unknown, list: readonly object[]): Cloned {
  const all = checkTransfer(list);
  const cloning = new Cloning(all);
  const copy = cloning.clone(value);
  if (all.size === 0) return { value: copy, transferred: [] };
  checkAttached(all);
  return { value: cloning.transfer(copy), transferred: list.map((object) => cloning.resultOf(object)) };
}
