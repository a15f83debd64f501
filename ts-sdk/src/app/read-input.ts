/** Reads the inputs that a route declares. An app whose sources name none does not contain this code. */
import { parseJson } from "../http/json.ts";
import type { OctetStreamSchema } from "../http/octet-stream.ts";
import { type InputError, type InputKind, inputErrors } from "../http/problem.ts";
import { contentType, rawBody } from "../http/request.ts";
import type { RouteOptions } from "../routing/operation.ts";
import { Failures, INVALID } from "../schema/failures.ts";
import type { FormSchema } from "../schema/form.ts";
import type { Quick } from "../schema/quick.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { foreignParser, type ParseInput } from "./foreign.ts";
import { headerReader } from "./header-input.ts";
import type { InputOption, ReadOne } from "./input.ts";
import { type OtherForm, queryReader } from "./query-string.ts";

/** Composes the reader of one kind of input, once. */
export function reader(kind: InputOption, options: RouteOptions, name: string): ReadOne {
  const schema = options[kind] as StandardSchema;
  if (kind === "headers") {
    const read = headerReader(schema, name);
    const { accept, parse } = validator("header", schema);
    return (request, _params, errors) => {
      const values = read(request.headers);
      return accept(values) ?? parse(values, errors);
    };
  }
  if (kind === "query") {
    const { read, otherForm } = queryReader(schema);
    const { accept, parse } = validator(kind, schema, otherForm);
    return (request, _params, errors) => {
      const query = read(request.query, errors);
      return accept(query) ?? parse(query, errors);
    };
  }
  const { read: readOctets } = schema as Partial<OctetStreamSchema>;
  if (readOctets) return readOctets;
  const { accept, parse } = validator(kind, schema);
  if (kind === "path") return (_request, params, errors) => accept(params) ?? parse(params, errors);
  const { form } = schema as Partial<FormSchema>;
  if (form !== undefined) {
    const { presence } = schema as FormSchema;
    return (request, _params, errors) => {
      const body = rawBody(request);
      if (!body?.length && presence !== "required") return undefined;
      const values = body?.length ? form.read(contentType(request), body, errors) : {};
      return values === undefined ? undefined : (accept(values) ?? parse(values, errors));
    };
  }
  const own = isSchema(schema);
  const optional = !own || schema.presence !== "required";
  // A copy, because handlers may change their input.
  const absent = (errors: InputError[]) => (own ? copyJson(schema.attributes.default) : parse(undefined, errors));
  return (request, _params, errors) => {
    const body = rawBody(request);
    if (!body?.length && optional) return absent(errors);
    const { value, failure } = parseJson(body);
    if (failure) return void errors.push(failure);
    return accept(value) ?? parse(value, errors);
  };
}

/** Copies a value of JSON. */
function copyJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyJson(each)]));
}

/** Validates a valid value in one step; parses and reports a value that this step rejects. */
interface Validator {
  readonly accept: Quick;
  readonly parse: ParseInput;
}

/** Makes the validator of a kind: our own closures, or a foreign schema's `validate`, which may be asynchronous. */
function validator(kind: InputKind, schema: StandardSchema, otherForm?: OtherForm): Validator {
  if (!isSchema(schema)) {
    return { accept: () => undefined, parse: foreignParser(schema, kind, otherForm) };
  }
  const { parsers } = schema;
  const arrival = kind === "body" && !("form" in schema) ? "json" : "text";
  const parse = parsers[arrival];
  return {
    accept: parsers.quick(arrival),
    parse: (value, errors) => {
      const failures = new Failures();
      const parsed = parse(value, failures);
      if (parsed === INVALID) errors.push(...inputErrors(kind, failures.list));
      return parsed;
    },
  };
}
