import { isBytes } from "../http/bytes.ts";
import { isMediaType, isTaken } from "../http/media-type.ts";
import type { Attributes, FieldAttributes } from "./attributes.ts";
import { fail, failCount, type Parse } from "./failures.ts";
import { createSchema, type Optional, type Presence, type Schema } from "./schema.ts";
import { refuseUnknown } from "./unknown.ts";

/** A file of a form. Name and type come from the client: trust neither as a path or as the file's content. */
export interface FormFile {
  /** The name on the client's machine, without folders. */
  readonly name: string;
  /** The media type, such as `image/png`; `application/octet-stream` when the client names none. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Attributes of `field.file`. */
export interface FileAttributes extends FieldAttributes {
  /** The maximum size, in bytes. The server's `max_body_bytes` limits the whole form. */
  max?: number;
  /** The accepted media types, such as `image/png` or `image/*`; all by default. */
  types?: readonly string[];
}

/** A schema of a file, for a `Form`. */
export interface FileSchema<out P extends Presence = Presence> extends Schema<FormFile, P> {
  readonly kind: "file";
  /** Never set: it makes the compiler refuse a file outside a form. */
  readonly "~place"?: "a file stands in a Form";
  /** The accepted media types; empty for all. */
  readonly types: readonly string[];
  optional(): FileSchema<Optional<P>>;
}

const KNOWN = ["max", "types", "docs", "deprecated"];

/** Makes the schema of a file. @throws TypeError or RangeError naming the invalid attribute. */
export function file(attributes: FileAttributes = {}): FileSchema<"required"> {
  if (typeof attributes !== "object" || attributes === null) {
    throw new TypeError("field.file: attributes must be an object");
  }
  refuseUnknown("field.file", attributes, KNOWN, /^x_./);
  const { max = Number.POSITIVE_INFINITY, types = [], ...others } = attributes;
  if (max !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(max) && max >= 0)) {
    throw new RangeError(`field.file: "max" must be a number of bytes, not ${max}`);
  }
  if (!Array.isArray(types) || !types.every(isMediaType)) {
    throw new TypeError('field.file: "types" must list media types, such as "image/png" or "image/*"');
  }
  const json: Parse = (value, failures) => {
    if (!isFile(value)) return fail(failures, "type", "must be a file");
    let result: unknown = value;
    if (value.bytes.length > max) result = failCount(failures, "max", max, "byte");
    if (!isTaken(value.type, types)) result = fail(failures, "type", `must be a file of ${types.join(" or ")}`);
    return result;
  };
  const kept: Attributes = max === Number.POSITIVE_INFINITY ? others : { ...others, max };
  // Files are rare, so the parser alone handles them.
  const writeQuick = (value: string, code: { require(condition: string): void }) => {
    code.require("false");
    return value;
  };
  const extra = { types: Object.freeze([...types]) };
  return createSchema("field.file", { kind: "file", attributes: kept, json, writeQuick, extra }) as never;
}

function isFile(value: unknown): value is FormFile {
  return typeof value === "object" && value !== null && isBytes((value as FormFile).bytes);
}
