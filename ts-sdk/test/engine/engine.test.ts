/** Checks that `@tenon/sdk/engine` declares exactly the globals of the engine. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseSync, type TSInterfaceDeclaration, type TSSignature } from "oxc-parser";
import { beforeAll, describe, expect, it } from "vitest";
import type { RawResponse } from "../../src/index.ts";
import { componentOf } from "../component/build.ts";
import { type HandlerComponent, run } from "../component/run.ts";
import type { Members } from "./globals.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Declarations of TypeScript's ECMAScript library, present or future: `engine.d.ts` does not repeat them. */
const ECMASCRIPT = new Set(
  `AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date
   DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
   Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect
   RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray
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
  const program = ["../../engine.d.ts", "../../polyfills.d.ts"].flatMap((name) => {
    const file = path(name);
    return parseSync(file, readFileSync(file, "utf8")).program.body;
  });
  const globals = new Set<string>();
  const interfaces = new Map<string, TSInterfaceDeclaration[]>();
  const types = new Map<string, unknown>();
  for (const statement of program) {
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

/** Members of every class and every object, and one that instances have themselves. */
const EVERYWHERE = new Set(["constructor", "[Symbol.toStringTag]", "isTrusted", "length", "name", "prototype"]);
const sorted = (names: readonly string[]) => [...new Set(names)].filter((name) => !EVERYWHERE.has(name)).sort();

let component: HandlerComponent;
beforeAll(async () => {
  // The build adds the globals that a handler names.
  const names = declared().globals.map((name) => `globalThis.${name}`);
  component = await run(
    await componentOf(path("globals.ts"), `Object.freeze(() => [${names.join(", ")}, navigator.userAgent]);`),
    {},
  );
}, 240_000);

describe("the engine", () => {
  it("has the globals that are declared, no others, and their members", async () => {
    const answer: RawResponse = await component.handle({ method: "GET", pathWithQuery: "/globals", headers: [] });
    const { names, members } = JSON.parse(new TextDecoder().decode(answer.body)) as {
      names: string[];
      members: Record<string, Members>;
    };
    const { globals, members: declaredOf } = declared();
    const present = names.filter((name) => !ECMASCRIPT.has(name) && !LEFT_OUT.includes(name));
    expect(sorted(globals)).toEqual(sorted(present));
    const compared = globals.filter((name) => members[name] !== undefined && name !== "self");
    const lacking = compared.flatMap((name) => {
      const [wanted, found] = [declaredOf(name), members[name]].map((all) => [
        ...(all?.instance ?? []),
        ...(all?.statics ?? []),
      ]) as [string[], string[]];
      return sorted(wanted.filter((each) => !found.includes(each))).map((each) => `${name}.${each}`);
    });
    expect(lacking).toEqual([]);
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
