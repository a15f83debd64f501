import { fieldReader, type QueryValues } from "../app/query-string.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { boundaryOf, type Part, readMultipart } from "../http/multipart.ts";
import { type InputError, malformed } from "../http/problem.ts";
import { decodeUtf8, encodeUtf8 } from "../platform.ts";
import { type Attributes, type CheckAttribute, checkObjectOptions } from "./attributes.ts";
import type { FileSchema } from "./file.ts";
import type { ListSchema } from "./list.ts";
import { type DefaultKey, type ObjectSchema, type OutputOf, objectParts } from "./object.ts";
import { createSchema, type Optional, type Presence, type Schema } from "./schema.ts";

type Scalar = string | number | boolean;

/** The fields of a `Form`: single values, files, and lists of them. */
export type FormFields = Readonly<Record<string, Schema<Scalar> | FileSchema | ListSchema>>;

/** The schema of a body that is a form, from `Form(…)`. */
export interface FormSchema<out Output = unknown, out P extends Presence = Presence, out Defaults = unknown>
  extends ObjectSchema<Output, P> {
  readonly role: "form";
  /** @internal */
  readonly form: FormReader;
  optional(): FormSchema<Output, Optional<P>, Defaults>;
}

/** Converts the body of a form to values. */
export interface FormReader {
  /** The content types that a form accepts. */
  readonly contentTypes: readonly string[];
  /** Reports whether a body has one of these content types. */
  takes(contentType: string | undefined): boolean;
  /** Parses a body; `undefined` after an error, which it adds to `errors`. */
  read(contentType: string | undefined, body: Uint8Array, errors: InputError[]): object | undefined;
  /** A body for warming up. */
  sample(text: (field: Schema) => string): { readonly contentType: string; readonly body: Uint8Array };
}

const URLENCODED = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";

/**
 * A form as a body: `Form("Profile", { name: field.string(), picture: field.file().optional() })`. Text is converted as
 * in a query; the last of several values of a name wins, unless the field is a list. A form with a file takes
 * `multipart/form-data`, any other `application/x-www-form-urlencoded` as well.
 *
 * @param options `check` is a rule of the program's own for the whole form: returns undefined, or the expectation
 * @example
 * const Profile = Form("Profile", { name: field.string(), picture: field.file({ max: 1_000_000, types: ["image/*"] }).optional() });
 * @throws TypeError at definition: for a field that is neither a single value nor a file nor a list of them, and an invalid option.
 */
export function Form<F extends FormFields>(
  name: string,
  fields: F,
  options?: CheckAttribute<OutputOf<F>>,
): FormSchema<OutputOf<F>, "required", DefaultKey<F>> {
  if (options) checkObjectOptions(`Form ${name}`, options);
  const parts = objectParts("Form", "form", name, fields);
  const attributes = (options ?? {}) as unknown as Attributes;
  const form = formReader(fields);
  return createSchema(`Form ${name}`, { ...parts, attributes, extra: { ...parts.extra, form } }) as never;
}

/** Reports whether a field is a file, or a list of files. */
function isFileField(field: Schema): boolean {
  return field.kind === "file" || (field.kind === "list" && (field as ListSchema).items.kind === "file");
}

function formReader(fields: FormFields): FormReader {
  const hasFile = Object.values(fields).some(isFileField);
  const contentTypes = hasFile ? [MULTIPART] : [URLENCODED, MULTIPART];
  const urlencoded = fieldReader(fields, "body");
  return Object.freeze<FormReader>({
    contentTypes,
    takes: (contentType) => contentTypes.includes(mediaTypeOf(contentType ?? "")),
    read(contentType = "", body, errors) {
      if (mediaTypeOf(contentType) === MULTIPART)
        return fromParts(readMultipart(body, boundaryOf(contentType)), fields, errors);
      const text = decodeUtf8(body);
      if (text !== undefined) return urlencoded(text, errors);
      errors.push(malformed("body", []));
      return undefined;
    },
    sample(text) {
      const lines = Object.entries(fields).flatMap(([key, field]) => {
        const more = isFileField(field) ? '; filename="x"' : "";
        return ["--x", `Content-Disposition: form-data; name="${key}"${more}`, "", text(field)];
      });
      const body = encodeUtf8([...lines, "--x--", ""].join("\r\n"));
      return { contentType: `${MULTIPART}; boundary=x`, body };
    },
  });
}

/** The values of the known fields; a repeated one fills a list. */
function fromParts(parts: readonly Part[] | string, fields: FormFields, errors: InputError[]): QueryValues | undefined {
  if (typeof parts === "string") {
    errors.push({ in: "body", pointer: "#", code: "format", detail: parts });
    return undefined;
  }
  // No prototype, so that a name such as "constructor" finds nothing.
  const values: Record<string, unknown> = Object.create(null);
  for (const { name, file, content } of parts) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) continue;
    // Browsers send this when no file was chosen.
    if (file !== undefined && file.name === "" && content.length === 0) continue;
    const type = file?.type || "application/octet-stream";
    const value = file === undefined ? decodeUtf8(content) : { name: file.name, type, bytes: content };
    if (value === undefined) errors.push(malformed("body", [name]));
    else if (field.kind !== "list") values[name] = value;
    else values[name] = [...((values[name] as unknown[] | undefined) ?? []), value];
  }
  return values as QueryValues;
}
