/** An app that says which globals its engine has, and what some of them can do. */
import { field, get, ok, post, routes } from "../../src/index.ts";

/** The names of a global's members, symbols as `[Symbol.iterator]`. */
export interface Members {
  readonly instance: readonly string[];
  readonly statics: readonly string[];
}

/** Prototypes of ECMAScript, whose members all objects inherit. */
const ECMASCRIPT: readonly object[] = [Object.prototype, Function.prototype, Error.prototype];

function namesOf(object: object | null | undefined): string[] {
  const names = new Set<PropertyKey>();
  for (let at = object; at && !ECMASCRIPT.includes(at); at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) names.add(key);
  }
  return [...names].map((key) => (typeof key === "symbol" ? `[${key.description}]` : String(key)));
}

function members(value: unknown): Members {
  if (typeof value !== "function") return { instance: namesOf(value as object), statics: [] };
  return { instance: namesOf(value.prototype), statics: Reflect.ownKeys(value).map(String) };
}

/** The result of a call, or the name of its error. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return (error as Error).name;
  }
}

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
const data = new TextEncoder().encode("data");

export default routes({
  globals: get("/globals", () => {
    const names = Object.getOwnPropertyNames(globalThis);
    const values = names.map((name) => [name, (globalThis as Record<string, unknown>)[name]] as const);
    const objects = values.filter(([, value]) => typeof value === "function" || typeof value === "object");
    return ok({ names, members: Object.fromEntries(objects.map(([name, value]) => [name, members(value)])) });
  }),
  digest: get("/digest", { query: { name: field.string() } }, async ({ query }) =>
    ok({ hex: await outcome(async () => hex(await crypto.subtle.digest(query.name, data))) }),
  ),
  verify: post("/verify", async (_, req) => {
    const { format, key, algorithm, signature } = req.json() as {
      format: "jwk" | "spki" | "raw";
      key: string | object;
      algorithm: { name: string; hash: string };
      signature: string;
    };
    const bytes = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return ok({
      valid: await outcome(async () => {
        const given = typeof key === "string" ? bytes(key) : key;
        const imported = await crypto.subtle.importKey(format as "raw", given as ArrayBuffer, algorithm, false, [
          "verify",
        ]);
        return crypto.subtle.verify(algorithm, imported, bytes(signature), data);
      }),
    });
  }),
  sign: post("/sign", async (_, req) => {
    const { key, algorithm } = req.json() as { key: string; algorithm: { name: string; hash: string } };
    const given = Uint8Array.from(atob(key), (char) => char.charCodeAt(0));
    const imported = await crypto.subtle.importKey("pkcs8", given, algorithm, false, ["sign"]);
    return ok({ hex: hex(await crypto.subtle.sign(algorithm, imported, data)) });
  }),
  hmac: post("/hmac", async (_, req) => {
    const { format, key, hash } = req.json() as { format: "raw" | "jwk"; key: string | object; hash: string };
    const given = typeof key === "string" ? new TextEncoder().encode(key) : key;
    return ok({
      hex: await outcome(async () => {
        const imported = await crypto.subtle.importKey(
          format as "raw",
          given as ArrayBuffer,
          { name: "HMAC", hash },
          false,
          ["sign"],
        );
        return hex(await crypto.subtle.sign("HMAC", imported, data));
      }),
    });
  }),
});
