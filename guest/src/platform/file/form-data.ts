/** `FormData` (XMLHttpRequest Standard, section 4). Encoding and parsing belong to bodies: `@tenon/sdk`, `fetch/classes`. */
import { pairIterators } from "@tenon/sdk/web-idl";
import { defineInterface } from "../interface.ts";
import { isBlob } from "./blob.ts";
import { File } from "./file.ts";

type Entry = [name: string, value: File | string];

let entriesIn: (form: FormData) => readonly Entry[];

export class FormData {
  #entries: Entry[] = [];

  // Parameters with defaults do not count for `length`. There are no elements of a page here.
  constructor(form: undefined = undefined) {
    if (form !== undefined) throw new TypeError("FormData: expects no argument");
  }

  append(name: string, ...value: readonly [value: unknown, filename?: string]): void {
    this.#entries.push(entryOf("append", name, value));
  }

  delete(name: string): void {
    // biome-ignore lint/complexity/noArguments: `undefined` is a name.
    expect("delete", arguments.length, 1);
    const wanted = textOf(name);
    this.#entries = this.#entries.filter((entry) => entry[0] !== wanted);
  }

  get(name: string): File | string | null {
    // biome-ignore lint/complexity/noArguments: as above.
    expect("get", arguments.length, 1);
    const wanted = textOf(name);
    return this.#entries.find((entry) => entry[0] === wanted)?.[1] ?? null;
  }

  getAll(name: string): (File | string)[] {
    // biome-ignore lint/complexity/noArguments: as above.
    expect("getAll", arguments.length, 1);
    const wanted = textOf(name);
    return this.#entries.filter((entry) => entry[0] === wanted).map((entry) => entry[1]);
  }

  has(name: string): boolean {
    // biome-ignore lint/complexity/noArguments: as above.
    expect("has", arguments.length, 1);
    const wanted = textOf(name);
    return this.#entries.some((entry) => entry[0] === wanted);
  }

  set(name: string, ...value: readonly [value: unknown, filename?: string]): void {
    const made = entryOf("set", name, value);
    const entries = this.#entries;
    const first = entries.findIndex((entry) => entry[0] === made[0]);
    if (first < 0) {
      entries.push(made);
      return;
    }
    this.#entries = entries.filter((entry, index) => index <= first || entry[0] !== made[0]);
    this.#entries[first] = made;
  }

  forEach(callback: (value: File | string, name: string, form: FormData) => void, self?: unknown): void {
    if (typeof callback !== "function") throw new TypeError("FormData.forEach: expects a function");
    for (let i = 0; i < this.#entries.length; i++) {
      const [name, value] = this.#entries[i] as Entry;
      callback.call(self, value, name, this);
    }
  }

  entries(): IterableIterator<Entry> {
    return iterate(check(this), "entries");
  }

  keys(): IterableIterator<string> {
    return iterate(check(this), "keys");
  }

  values(): IterableIterator<File | string> {
    return iterate(check(this), "values");
  }

  declare [Symbol.iterator]: () => IterableIterator<Entry>;

  static {
    entriesIn = (form) => form.#entries;
    const { entries: value } = FormData.prototype;
    Object.defineProperty(FormData.prototype, Symbol.iterator, { value, writable: true, configurable: true });
  }
}

defineInterface("FormData", FormData);

const iterate = pairIterators<FormData>("FormData", entriesIn);

/** @throws TypeError for another object */
function check(form: FormData): FormData {
  entriesIn(form);
  return form;
}

function expect(method: string, given: number, count: number): void {
  if (given >= count) return;
  throw new TypeError(`FormData.${method}: expects ${count === 1 ? "a name" : "a name and a value"}`);
}

function textOf(value: unknown): string {
  return `${value}`.toWellFormed();
}

/** Makes an entry (XMLHttpRequest Standard, section 4.3). */
function entryOf(method: string, name: string, given: readonly [value: unknown, filename?: string]): Entry {
  expect(method, 1 + given.length, 2);
  const [value, filename] = given;
  if (!isBlob(value)) {
    if (given.length > 1) throw new TypeError(`FormData.${method}: a value with a file name must be a Blob`);
    return [textOf(name), textOf(value)];
  }
  if (value instanceof File && filename === undefined) return [textOf(name), value];
  const { lastModified } = value as Partial<File>;
  const options = { type: value.type, ...(lastModified === undefined ? {} : { lastModified }) };
  return [textOf(name), new File([value], filename === undefined ? "blob" : `${filename}`, options)];
}
