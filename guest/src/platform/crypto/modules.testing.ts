/** `crypto.subtle` of the engine, for tests in Node, and Node's own to compare it with. */
import { webcrypto } from "node:crypto";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { startEngine } from "../../../testing/engine.ts";
import type { Bytes } from "./block.ts";

/** Bundles a module of this folder for the engine. */
export function bundled(file: string): string {
  const entry = fileURLToPath(new URL(file, import.meta.url));
  const options = { bundle: true, write: false, format: "esm", target: "es2023" } as const;
  return buildSync({ ...options, external: ["tenon:engine"], entryPoints: [entry] }).outputFiles?.[0]?.text ?? "";
}

/** The engine with all algorithms. */
export const engineFile = new URL("../../../../crates/engine/engine-full.wasm", import.meta.url);

const engine = startEngine(fileURLToPath(engineFile), bundled("./in-engine.testing.ts"));

/** A key in the engine, with its properties. */
class RemoteKey {
  readonly #number: number;

  constructor(number: number, shown: object) {
    this.#number = number;
    Object.assign(this, shown);
  }

  get number(): number {
    return this.#number;
  }
}

function written(value: unknown): unknown {
  if (value === undefined) return { $undefined: true };
  if (value instanceof RemoteKey) return { $key: value.number };
  if (value instanceof ArrayBuffer) return { $bytes: Buffer.from(value).toString("base64"), $class: "ArrayBuffer" };
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { $bytes: bytes.toString("base64"), $class: value instanceof DataView ? "DataView" : "Uint8Array" };
  }
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, written(each)]));
}

function read(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(read);
  if (typeof value !== "object" || value === null) return value;
  const { $bytes, $class, $key, shown } = value as Record<string, string>;
  if ($key !== undefined) return new RemoteKey(Number($key), read(shown) as object);
  if ($bytes === undefined) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, read(each)]));
  const bytes = Uint8Array.from(Buffer.from($bytes, "base64"));
  return $class === "ArrayBuffer" ? bytes.buffer : bytes;
}

/** Calls a function of the engine. @throws Error with the name of the error there */
function called(target: "subtle" | "engine", name: string, args: readonly unknown[]): unknown {
  const request = JSON.stringify({ target, name, args: args.map(written) });
  const { body } = engine.handle({ method: "POST", body: Buffer.from(request) });
  if (body === undefined) throw new Error(`the engine failed: ${engine.printed()}`);
  const { value, error } = JSON.parse(Buffer.from(body).toString());
  if (error === undefined) return read(value);
  throw Object.assign(new Error(error.message), { name: error.name, inEngine: error.stack });
}

/** Node's own. */
export const native = webcrypto.subtle;

/** The engine's. */
export const subtle = new Proxy(
  {},
  {
    get:
      (_, name) =>
      async (...args: unknown[]) =>
        called("subtle", String(name), args),
  },
) as typeof native;

/** The functions of `tenon:engine`. */
export const natives = new Proxy(
  {},
  {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        called("engine", String(name), args),
  },
) as typeof import("tenon:engine");

/** Returns the name of the exception that a promise rejects with, or undefined. */
export const failure = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: Error) => error.name,
  );

/** A generator of random values that repeats itself (mulberry32). */
export function seeded(seed: number): { number(below: number): number; bytes(length: number): Bytes } {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return (value ^ (value >>> 14)) >>> 0;
  };
  return {
    number: (below) => next() % below,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
  };
}

/** Changes one bit. */
export function flip(bytes: Uint8Array, index: number, bit = 0): void {
  bytes[index] = (bytes[index] as number) ^ (1 << bit);
}

export const hex = (data: ArrayBuffer | Uint8Array): string => Buffer.from(data as Uint8Array).toString("hex");
export const unhex = (text: string): Bytes => Uint8Array.from(Buffer.from(text.replace(/\s/g, ""), "hex"));
