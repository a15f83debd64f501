/** The types of a component's functions: as `crates/link/src/component.rs` writes them, and in TypeScript. */

import type { Type } from "@tenon/guest/polyfills/linked-component";
import type { TypedFunction } from "@tenon/native";

/** A function with its types in JavaScript's names. */
export interface Signature {
  readonly name: string;
  readonly params: readonly (readonly [name: string, type: Type])[];
  readonly result: Type | null;
}

/** An export of a component: a function, or an interface with several. */
export interface ComponentExport {
  readonly name: string;
  /** The functions with their places among all functions of the component. */
  readonly functions: readonly (Signature & { readonly place: number })[];
  readonly isInterface: boolean;
}

/** Groups a component's functions by their interfaces. Names are those of jco. */
export function exportsOf(typed: readonly TypedFunction[]): ComponentExport[] {
  const read = typed.map((each, place) => ({ ...signatureOf(each), place, interface: each.interface ?? undefined }));
  const alone = read.filter((each) => each.interface === undefined);
  const interfaces = [...new Set(read.flatMap((each) => each.interface ?? []))];
  const taken = [...alone.map(({ name }) => name), ...interfaces.map(shortName)];
  const isShared = (name: string) => taken.filter((each) => each === name).length > 1;
  return [
    ...alone.map((each) => ({ name: each.name, functions: [each], isInterface: false })),
    ...interfaces.map((full) => {
      const short = shortName(full);
      const functions = read.filter((each) => each.interface === full);
      return { name: isShared(short) ? full : short, functions, isInterface: true };
    }),
  ];
}

/** `fileReader` for `example:io/file-reader@1.0.0`. */
const shortName = (full: string) => camel((full.split("/").at(-1) as string).replace(/@.*$/, ""));

function signatureOf({ name, signature }: TypedFunction): Signature {
  const { params, result } = JSON.parse(signature) as { params: [string, Type][]; result: Type | null };
  const named = params.map(([param, type]) => [camel(param), inCamel(type)] as const);
  return { name: camel(name), params: named, result: result === null ? null : inCamel(result) };
}

function camel(name: string): string {
  const [first = "", ...rest] = name.toLowerCase().split("-");
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Names the members of records and flags as JavaScript does; names of cases are values and stay. */
function inCamel(type: Type): Type {
  if (typeof type === "string" || "enum" in type) return type;
  if ("list" in type) return { list: inCamel(type.list) };
  if ("option" in type) return { option: inCamel(type.option) };
  if ("tuple" in type) return { tuple: type.tuple.map(inCamel) };
  if ("record" in type) return { record: type.record.map(([name, its]) => [camel(name), inCamel(its)]) };
  if ("flags" in type) return { flags: type.flags.map(camel) };
  const within = (its: Type | null) => (its === null ? null : inCamel(its));
  if ("variant" in type) return { variant: type.variant.map(([name, its]) => [name, within(its)]) };
  return { result: [within(type.result[0]), within(type.result[1])] };
}

/** The type of a function in TypeScript. A result that may be an error is thrown as one. */
export function functionType({ params, result }: Signature): string {
  const given = params.map(([name, type]) => `${safe(name)}: ${typeScript(type, false)}`).join(", ");
  const returned = isFallible(result) ? result.result[0] : result;
  return `(${given}) => ${returned === null ? "void" : typeScript(returned, true)}`;
}

/** The type of the errors that a function throws, if its result may be one. */
export function payloadType({ result }: Signature): string | undefined {
  if (!isFallible(result)) return undefined;
  return result.result[1] === null ? "undefined" : typeScript(result.result[1], true);
}

const isFallible = (type: Type | null): type is Extract<Type, { result: unknown }> =>
  type !== null && typeof type === "object" && "result" in type;

/** A parameter's name must not be a word of the language. */
const safe = (name: string) => (isWord(name) ? `${name}_` : name);

/** Reports whether a name is a word that names no variable (ECMAScript, section 12.7.2). */
export const isWord = (name: string): boolean => words.has(name);

const words = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let new null package private protected public " +
    "return static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

const primitives: Readonly<Record<string, string>> = {
  bool: "boolean",
  char: "string",
  string: "string",
  u64: "bigint",
  s64: "bigint",
};

const arrays: Readonly<Record<string, string>> = {
  u8: "Uint8Array",
  s8: "Int8Array",
  u16: "Uint16Array",
  s16: "Int16Array",
  u32: "Uint32Array",
  s32: "Int32Array",
  u64: "BigUint64Array",
  s64: "BigInt64Array",
  f32: "Float32Array",
  f64: "Float64Array",
};

/** @param isResult whether the value comes from the component, so that its bytes are in a buffer of their own */
function typeScript(type: Type, isResult: boolean): string {
  const of = (its: Type) => typeScript(its, isResult);
  const tagged = (tag: string, its: Type | null) =>
    its === null ? `{ tag: ${JSON.stringify(tag)} }` : `{ tag: ${JSON.stringify(tag)}; val: ${of(its)} }`;
  if (typeof type === "string") return primitives[type] ?? "number";
  if ("list" in type) {
    const array = typeof type.list === "string" ? arrays[type.list] : undefined;
    if (array !== undefined) return isResult ? `${array}<ArrayBuffer>` : array;
    return `Array<${of(type.list)}>`;
  }
  if ("option" in type) {
    const isNested = typeof type.option === "object" && "option" in type.option;
    return isNested ? `${tagged("none", null)} | ${tagged("some", type.option)}` : `${of(type.option)} | undefined`;
  }
  if ("tuple" in type) return `[${type.tuple.map(of).join(", ")}]`;
  if ("record" in type) return `{ ${type.record.map(([name, its]) => `${member(name, its)}: ${of(its)}`).join("; ")} }`;
  if ("flags" in type) return `{ ${type.flags.map((name) => `${name}${isResult ? "" : "?"}: boolean`).join("; ")} }`;
  if ("enum" in type) return type.enum.map((name) => JSON.stringify(name)).join(" | ");
  if ("variant" in type) return type.variant.map(([name, its]) => tagged(name, its)).join(" | ");
  return `${tagged("ok", type.result[0])} | ${tagged("err", type.result[1])}`;
}

const member = (name: string, type: Type) =>
  typeof type === "object" && "option" in type && !(typeof type.option === "object" && "option" in type.option)
    ? `${name}?`
    : name;
