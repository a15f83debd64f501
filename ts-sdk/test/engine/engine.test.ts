/** Checks that `@tenon/sdk/engine` declares exactly the globals of the engine. */
import { execFile } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseSync, type TSInterfaceDeclaration, type TSSignature } from "oxc-parser";
import { beforeAll, describe, expect, it } from "vitest";
import type { RawResponse } from "../../src/index.ts";
import { bundle, componentize, entry } from "../component/build.ts";
import { type HandlerComponent, run } from "../component/run.ts";
import type { Members } from "./globals.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Declarations of TypeScript's ECMAScript library, present or future: `engine.d.ts` does not repeat them. */
const ECMASCRIPT = new Set(
  `AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date
   DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
   Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect
   RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray
   WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN
   parseFloat parseInt undefined unescape`.split(/\s+/),
);
/** Globals of the engine that no handler should use: its own helper, and the address of a page that does not exist. */
const LEFT_OUT = ["MultipartFormData", "WorkerLocation", "location"];

/** The declared members: for a class its members and statics, for another interface its members. */
interface Declared {
  readonly globals: readonly string[];
  members(name: string): Members;
}

function declared(): Declared {
  const file = path("../../engine.d.ts");
  const { program } = parseSync(file, readFileSync(file, "utf8"));
  const globals = new Set<string>();
  const interfaces = new Map<string, TSInterfaceDeclaration[]>();
  const types = new Map<string, unknown>();
  for (const statement of program.body) {
    if (statement.type === "TSInterfaceDeclaration") {
      interfaces.set(statement.id.name, [...(interfaces.get(statement.id.name) ?? []), statement]);
    } else if (statement.type === "VariableDeclaration") {
      for (const { id } of statement.declarations) {
        if (id.type !== "Identifier") continue;
        globals.add(id.name);
        types.set(id.name, annotationOf(id));
      }
    } else if (statement.type === "TSDeclareFunction" && statement.id) globals.add(statement.id.name);
  }
  const namesOf = (members: readonly TSSignature[]) =>
    members.flatMap((member) => {
      if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return [];
      const { key, computed } = member;
      if (computed && key.type === "MemberExpression" && key.property.type === "Identifier")
        return [`[Symbol.${key.property.name}]`];
      return key.type === "Identifier" ? [key.name] : [];
    });
  const instance = (name: string): string[] =>
    (interfaces.get(name) ?? []).flatMap((each) => [
      ...namesOf(each.body.body),
      ...each.extends.flatMap(({ expression }) => (expression.type === "Identifier" ? instance(expression.name) : [])),
    ]);
  return {
    globals: [...globals],
    members(name) {
      const type = types.get(name) as
        | { type: string; members?: TSSignature[]; typeName?: { name: string } }
        | undefined;
      // Statics that the build adds to are declared by an interface.
      const constructors = interfaces.get(`${name}Constructor`);
      if (constructors !== undefined) {
        return { instance: instance(name), statics: namesOf(constructors.flatMap((each) => each.body.body)) };
      }
      if (type?.type === "TSTypeReference") return { instance: instance(type.typeName?.name ?? ""), statics: [] };
      return { instance: instance(name), statics: namesOf(type?.members ?? []) };
    },
  };
}

/** The type of a variable; oxc's own types lack it. */
function annotationOf(id: object): unknown {
  return (id as { typeAnnotation?: { typeAnnotation: unknown } }).typeAnnotation?.typeAnnotation;
}

/** Members of every class and every object. */
const EVERYWHERE = new Set(["constructor", "[Symbol.toStringTag]", "length", "name", "prototype"]);
const sorted = (names: readonly string[]) => [...new Set(names)].filter((name) => !EVERYWHERE.has(name)).sort();

let component: HandlerComponent;
beforeAll(async () => {
  component = await run(await componentize(await bundle(entry("../engine/globals.ts"))), {});
}, 240_000);

async function ask<T>(method: string, pathWithQuery: string, body?: object): Promise<T> {
  const given = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) };
  const answer: RawResponse = await component.handle({ method, pathWithQuery, headers: [], ...given });
  return JSON.parse(new TextDecoder().decode(answer.body)) as T;
}

describe("the engine", () => {
  it("has the globals that are declared, and their members, and no others", async () => {
    const { names, members } = await ask<{ names: string[]; members: Record<string, Members> }>("GET", "/globals");
    const { globals, members: declaredOf } = declared();
    const present = names.filter((name) => !ECMASCRIPT.has(name) && !LEFT_OUT.includes(name));
    expect(sorted(globals)).toEqual(sorted(present));
    const compared = globals.filter((name) => members[name] !== undefined && name !== "self");
    const shown = (of: (name: string) => Members | undefined) =>
      compared.map((name) => [name, sorted(of(name)?.instance ?? []), sorted(of(name)?.statics ?? [])]);
    expect(shown(declaredOf)).toEqual(shown((name) => members[name]));
  });

  it.each(["SHA-1", "SHA-256", "SHA-384", "SHA-512", "MD5"])("digests by %s", async (name) => {
    const expected = createHash(name.replace("-", "")).update("data").digest("hex");
    expect(await ask("GET", `/digest?name=${name}`)).toEqual({ hex: expected });
  });

  it.each(["SHA-1", "SHA-256", "SHA-384", "SHA-512"])("signs by HMAC with %s and a raw key", async (hash) => {
    const expected = createHmac(hash.replace("-", ""), "key").update("data").digest("hex");
    expect(await ask("POST", "/hmac", { format: "raw", key: "key", hash })).toEqual({ hex: expected });
  });

  it("reads an HMAC's key in a JSON Web Key wrongly, which is why it is not declared", async () => {
    const key = { kty: "oct", k: Buffer.from("key").toString("base64url") };
    const expected = createHmac("sha256", "key").update("data").digest("hex");
    expect(await ask("POST", "/hmac", { format: "jwk", key, hash: "SHA-256" })).not.toEqual({ hex: expected });
  });

  const rsa = { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  it.each([
    { ...rsa, hash: "SHA-256" },
    { ...rsa, hash: "SHA-512" },
    { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
    { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
    { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  ])("signs and verifies by $name, $namedCurve with $hash", async (all) => {
    const { subtle } = globalThis.crypto;
    const pair = (await subtle.generateKey(all, true, ["sign", "verify"])) as { publicKey: never; privateKey: never };
    const data = new TextEncoder().encode("data");
    const signature = Buffer.from(await subtle.sign(all, pair.privateKey, data)).toString("base64");
    const { modulusLength: _, publicExponent: __, ...algorithm } = all as typeof rsa & { hash: string };
    const spki = Buffer.from(await subtle.exportKey("spki", pair.publicKey)).toString("base64");
    const { key_ops: ___, ext: ____, ...jwk } = await subtle.exportKey("jwk", pair.publicKey);
    for (const [format, key] of [["spki", spki] as const, ["jwk", jwk] as const]) {
      expect(await ask("POST", "/verify", { format, key, algorithm, signature })).toEqual({ valid: true });
      const other = Buffer.from(Buffer.from(signature, "base64").map((byte) => byte ^ 1)).toString("base64");
      expect(await ask("POST", "/verify", { format, key, algorithm, signature: other })).toEqual({ valid: false });
    }
    const pkcs8 = Buffer.from(await subtle.exportKey("pkcs8", pair.privateKey)).toString("base64");
    const signed = await ask<{ hex: string }>("POST", "/sign", { key: pkcs8, algorithm });
    expect(await subtle.verify(all, pair.publicKey, Buffer.from(signed.hex, "hex"), data)).toBe(true);
  });

  it("knows no Ed25519 and no RSA-PSS", async () => {
    for (const name of ["Ed25519", "RSA-PSS"]) {
      const given = { format: "spki", key: "AAAA", algorithm: { name, hash: "SHA-256" }, signature: "AAAA" };
      expect(await ask("POST", "/verify", given)).toEqual({ valid: "NotSupportedError" });
    }
  });

  it("has no other digest", async () => {
    expect(await ask("GET", "/digest?name=SHA-224")).toEqual({ hex: "NotSupportedError" });
  });
});

it("type-checks handlers that use it, and refuses what there is not", async () => {
  const tsc = path("../../../node_modules/typescript/bin/tsc");
  const run = promisify(execFile)(process.execPath, [tsc, "-p", path("types"), "--pretty", "false"]);
  const output = await run.then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  );
  expect(output).toBe("");
});
