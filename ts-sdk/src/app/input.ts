/** Reads the input of a handler: path, query and body. */
import { parseJson, saysJson } from "../http/json.ts";
import type { OctetStreamSchema } from "../http/octet-stream.ts";
import { type InputError, type InputKind, inputErrors, invalidInput, malformed, problem } from "../http/problem.ts";
import { contentType, type Request, rawBody } from "../http/request.ts";
import { problemResponse, type Response } from "../http/response.ts";
import type { Operation, RouteOptions } from "../routing/operation.ts";
import { Failures, INVALID } from "../schema/failures.ts";
import type { FormSchema } from "../schema/form.ts";
import type { Quick } from "../schema/quick.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { foreignParser, type ParseInput } from "./foreign.ts";
import { type OtherForm, queryReader } from "./query-string.ts";

/** Reads a handler's input, or returns the answer with the failures. */
export type ReadInput = (request: Request, params: Params, malformed: Malformed) => Input | Promise<Input>;

/** A parsed input, or the answer to give instead of calling the handler. */
export interface Input {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly refusal?: Response;
}

/** The placeholders' values, decoded. */
export type Params = Readonly<Record<string, string>>;

/** The placeholders whose value can't be decoded; undefined for every other segment. */
export type Malformed = readonly (string | undefined)[];

/** Reads one kind of input, and adds its failures to `errors`. */
type ReadOne = (request: Request, params: Params, errors: InputError[]) => unknown;

const KINDS = ["path", "query", "body"] as const;
const NOTHING: Input = { input: Object.freeze({}) };

/** Composes an operation's input reader, once. One answer has the failures of all inputs. */
export function inputReader({ options }: Operation): ReadInput {
  const kinds = KINDS.filter((kind) => options[kind]);
  const undecoded = (names: Malformed) => names.map((name) => malformed("path", name === undefined ? [] : [name]));
  if (kinds.length === 0) return (_, __, names) => (names.length > 0 ? refused(undecoded(names)) : NOTHING);
  const readers = kinds.map((kind) => reader(kind, options));
  // A byte stream declares its own media types.
  const takesBody = kinds.includes("body") && !(options.body as Partial<OctetStreamSchema>).octets;
  const form = (options.body as Partial<FormSchema> | undefined)?.form;
  const takes = form ? form.takes : saysJson;
  const unsupported = problem(415, `The body must be ${form ? form.contentTypes.join(" or ") : "application/json"}.`);
  // Only another library's schema may be asynchronous.
  const waits = kinds.some((kind) => !isSchema(options[kind]));
  return (request, params, names) => {
    if (takesBody && rawBody(request)?.length && !takes(contentType(request))) {
      return { refusal: problemResponse(unsupported) };
    }
    const errors = names.length > 0 ? undecoded(names) : [];
    const input: Record<string, unknown> = {};
    for (let i = 0; i < kinds.length; i++) {
      input[kinds[i] as InputKind] = (readers[i] as ReadOne)(request, params, errors);
    }
    if (waits) return settle(input, errors);
    return errors.length > 0 ? refused(errors) : { input };
  };
}

function refused(errors: readonly InputError[]): Input {
  return { refusal: problemResponse(invalidInput(errors)) };
}

function settle(input: Record<string, unknown>, errors: readonly InputError[]): Input | Promise<Input> {
  const kinds = Object.keys(input);
  const values = Object.values(input);
  if (values.some((value) => value instanceof Promise)) {
    const settled = (all: unknown[]) => Object.fromEntries(kinds.map((kind, i) => [kind, all[i]]));
    return Promise.all(values).then((all) => settle(settled(all), errors));
  }
  // Sorts errors by input, because asynchronous inputs finish in any order.
  const ordered = () => [...errors].sort((a, b) => KINDS.indexOf(a.in) - KINDS.indexOf(b.in));
  return errors.length > 0 ? refused(ordered()) : { input };
}

function reader(kind: InputKind, options: RouteOptions): ReadOne {
  const schema = options[kind] as StandardSchema;
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
    return own && value === null && schema.nullIsAbsent ? absent(errors) : (accept(value) ?? parse(value, errors));
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
