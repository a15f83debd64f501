/** Writes bodies with their declared members alone. */
import { jsonWriterKey } from "../abi.ts";
import { writeJson } from "../http/json.ts";
import { platform } from "../platform.ts";
import { memberAt } from "../schema/quick.ts";
import type { Shape } from "./shape.ts";

const { stringify } = JSON;

/**
 * Composes the function that writes a value as JSON with its declared members, once. The engine writes plain data itself; a copy is made
 * of all else, on other engines, and when a program replaces `JSON.stringify`.
 */
export function writerOf(shape: Shape): (value: unknown) => string {
  const copy = copyByShape(shape);
  const write = platform[jsonWriterKey]?.(shape);
  if (write === undefined) return (value) => writeJson(copy(value));
  return (value) => (JSON.stringify === stringify ? write(value) : undefined) ?? writeJson(copy(value));
}

/** Copies a value with its declared members; the engine then writes the copy, which takes less time than selecting names. */
type Copy = (value: unknown) => unknown;

/** Composes the function that copies a value by its shape, once. */
export function copyByShape(shape: Shape): Copy {
  switch (shape.kind) {
    case "object":
      return shape.open ? same : objectCopy(shape.fields ?? {});
    case "list":
      return listCopy(copyByShape(shape.items as Shape));
    case "record":
      return recordCopy(copyByShape(shape.items as Shape));
    case "union":
      return unionCopy(shape);
    case "json":
      return same;
    default:
      return (value) => (typeof value === "object" ? scalar(value) : value);
  }
}

const same: Copy = (value) => value;

/** The value that is sent for an object where a scalar is declared: a date's text, and nothing of other objects. */
function scalar(value: unknown): unknown {
  return value === null ? null : JSON.parse(JSON.stringify(value, []) ?? "null");
}

/** The value that `JSON.stringify` would write: the result of `toJSON`, if there is one. */
function plainOf(value: unknown): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value, "") : value;
}

/** The copy of a member whose `null` is not sent. */
const withoutNull = (copy: Copy) => (value: unknown) => (value === null ? undefined : copy(value));

type Fields = Readonly<Record<string, Shape>>;

function objectCopy(fields: Fields): Copy {
  const copyFields = compiled(fields) ?? interpreted(fields);
  const copy: Copy = (value) => {
    if (typeof value !== "object" || value === null) return value;
    if ((value as { toJSON?: unknown }).toJSON === undefined) return copyFields(value);
    const plain = plainOf(value);
    return plain === value ? copyFields(value) : copy(plain);
  };
  return copy;
}

const COMPOUND: readonly string[] = ["object", "list", "record", "union", "json"];

function memberCopy(shape: Shape): Copy {
  const copy = copyByShape(shape);
  return shape.dropsNull ? withoutNull(copy) : copy;
}

/**
 * The copy as one object literal of generated code, which takes a fifth of the time of {@link interpreted}. Its text has only the
 * declared names, as JSON literals; see `schema/quick.ts`. Undefined where the host forbids generated code.
 */
function compiled(fields: Fields): Copy | undefined {
  const copies: Copy[] = [];
  const members = Object.entries(fields).map(([key, shape]) => {
    const member = `o${memberAt(key)}`;
    const copy = `c${copies.push(memberCopy(shape)) - 1}`;
    const isScalar = !COMPOUND.includes(shape.kind);
    return `${JSON.stringify(key)}:${isScalar ? `typeof(v=${member})!="object"?v:${copy}(v)` : `${copy}(${member})`}`;
  });
  try {
    const make = new Function(...copies.map((_, i) => `c${i}`), `return o=>{let v;return{${members.join()}}}`);
    const copy = make(...copies);
    // Called now, because an engine compiles a function at its first call, which would be in the first request.
    copy({});
    return copy;
  } catch {
    return undefined;
  }
}

function interpreted(fields: Fields): Copy {
  const members = Object.entries(fields).map(([key, shape]) => [key, memberCopy(shape)] as const);
  return (value) => {
    const result: Record<string, unknown> = {};
    for (const [key, copy] of members) result[key] = copy((value as Record<string, unknown>)[key]);
    return result;
  };
}

function listCopy(copy: Copy): Copy {
  return (given) => {
    if (typeof given !== "object" || given === null) return given;
    const value = Array.isArray(given) ? given : plainOf(given);
    if (!Array.isArray(value)) return scalar(value);
    const result = [];
    for (let i = 0; i < value.length; i++) result[i] = copy(value[i]);
    return result;
  };
}

function recordCopy(copy: Copy): Copy {
  return (given) => {
    const value = typeof given === "object" && given !== null ? plainOf(given) : given;
    if (typeof value !== "object" || value === null) return value;
    // No prototype, so that `__proto__` is a key like any other.
    const result = Object.create(null);
    for (const key of Object.keys(value)) result[key] = copy((value as Record<string, unknown>)[key]);
    return result;
  };
}

function unionCopy({ tag = "", variants = {} }: Shape): Copy {
  const copies = new Map(Object.entries(variants).map(([key, shape]) => [key as unknown, copyByShape(shape)]));
  return (given) => {
    const value = typeof given === "object" && given !== null ? plainOf(given) : given;
    if (typeof value !== "object" || value === null) return value;
    const kind = (value as Record<string, unknown>)[tag];
    const copy = copies.get(kind);
    return copy ? copy(value) : { [tag]: typeof kind === "object" ? scalar(kind) : kind };
  };
}
