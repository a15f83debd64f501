/**
 * Runs in the engine for tests: calls `crypto.subtle` as the test in Node asks (`modules.testing.ts`). Bytes travel as base64, keys
 * as numbers.
 */
import "./install.ts";
import "./with-curves.ts";
import "./with-rsa.ts";
import "./with-symmetric.ts";
import * as engine from "tenon:engine";

interface Key {
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: object;
  readonly usages: readonly string[];
}
const keys: Key[] = [];
const { CryptoKey } = globalThis as unknown as { readonly CryptoKey: abstract new () => Key };

/** A value as JSON. */
function written(value: unknown): unknown {
  if (value instanceof ArrayBuffer) return { $bytes: new Uint8Array(value).toBase64(), $class: "ArrayBuffer" };
  if (value instanceof Uint8Array) return { $bytes: value.toBase64(), $class: "Uint8Array" };
  if (value instanceof CryptoKey) {
    const { type, extractable, algorithm, usages } = value;
    return { $key: keys.push(value) - 1, shown: written({ type, extractable, algorithm, usages }) };
  }
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, written(each)]));
}

function read(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(read);
  if (typeof value !== "object" || value === null) return value;
  const { $bytes, $class, $key, $undefined } = value as Record<string, string>;
  if ($undefined) return undefined;
  if ($key !== undefined) return keys[Number($key)];
  if ($bytes === undefined) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, read(each)]));
  const bytes = Uint8Array.fromBase64($bytes);
  if ($class === "ArrayBuffer") return bytes.buffer;
  const wide = new Uint8Array(bytes.length + 8);
  wide.set(bytes, 8);
  return $class === "DataView" ? new DataView(wide.buffer, 8) : wide.subarray(8);
}

const targets: Readonly<Record<string, object>> = { subtle: crypto.subtle, engine };

async function answer(text: string): Promise<unknown> {
  try {
    const { target, name, args } = JSON.parse(text);
    const owner = targets[target] as Record<string, (...args: unknown[]) => unknown>;
    return { value: written(await owner[name]?.(...(read(args) as unknown[]))) };
  } catch (error) {
    const { name, message, stack } = error as Error;
    return { error: { name, message, stack } };
  }
}

export const handler = {
  async handle(request: { readonly body: Uint8Array }) {
    const body = engine.utf8Encode(JSON.stringify(await answer(engine.utf8Decode(request.body))));
    return { status: 200, headers: [], body };
  },
};
