import { parseJson, saysJson } from "../http/json.ts";
import { type InputError, type InputKind, inputErrors, invalidInput, problem } from "../http/problem.ts";
import type { Request } from "../http/request.ts";
import { problemResponse, type Response } from "../http/response.ts";
import type { Operation, RouteOptions } from "../routing/operation.ts";
import { Failures, INVALID } from "../schema/failures.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { validateForeign } from "./foreign.ts";
import { queryReader } from "./query-string.ts";

/** The parsed input of a handler, or the answer that says why there is none. */
export type ReadInput = (request: Request, params: Params) => Input | Promise<Input>;

/** A parsed input, or the answer to give instead of calling the handler. */
export type Input = { readonly input: Readonly<Record<string, unknown>> } | { readonly refusal: Response };

/** The placeholders' values, decoded. */
export type Params = Readonly<Record<string, string>>;

/** Reads one kind of input, reporting what is wrong with it to `errors`. */
type ReadOne = (request: Request, params: Params, errors: InputError[]) => unknown;

const KINDS = ["path", "query", "body"] as const;
const NOTHING: Input = { input: Object.freeze({}) };

/** Composes, once per operation, what reads its inputs. All failures of all inputs end up in one answer. */
export function inputReader({ options }: Operation): ReadInput {
  const kinds = KINDS.filter((kind) => options[kind]);
  if (kinds.length === 0) return () => NOTHING;
  const readers = kinds.map((kind) => reader(kind, options));
  const takesBody = kinds.includes("body");
  return (request, params) => {
    if (takesBody && !saysJson(request.headers.get("content-type"))) return { refusal: problemResponse(UNSUPPORTED) };
    const errors: InputError[] = [];
    const values = readers.map((read) => read(request, params, errors));
    const finish = (settled: unknown[]): Input => {
      if (errors.length > 0) return { refusal: problemResponse(invalidInput(errors)) };
      const input: Record<string, unknown> = {};
      for (let i = 0; i < kinds.length; i++) input[kinds[i] as string] = settled[i];
      return { input };
    };
    return values.some(isPromise) ? Promise.all(values).then(finish) : finish(values);
  };
}

const UNSUPPORTED = problem(415, "The body must be application/json.");

function isPromise(value: unknown): boolean {
  return value instanceof Promise;
}

function reader(kind: InputKind, options: RouteOptions): ReadOne {
  const schema = options[kind] as StandardSchema;
  const validate = validator(kind, schema);
  if (kind === "path") return (_request, params, errors) => validate(params, errors);
  if (kind === "query") {
    const parseQuery = queryReader(schema);
    return (request, _params, errors) => {
      const query = parseQuery(request.query, errors);
      return query && validate(query, errors);
    };
  }
  const optional = isSchema(schema) && schema.presence !== "required";
  return (request, _params, errors) => {
    if (optional && !request.body?.length) return undefined;
    const { value, failure } = parseJson(request.body);
    if (failure) return void errors.push(failure);
    return optional && value === null ? undefined : validate(value, errors);
  };
}

/** Bodies, paths and queries are made for the handler alone. */
const OWNED = { owned: true };

/** What validates a value of a kind: our own closure, or a foreign schema's `validate`, which may be asynchronous. */
function validator(kind: InputKind, schema: StandardSchema): (value: unknown, errors: InputError[]) => unknown {
  if (!isSchema(schema)) return (value, errors) => validateForeign(schema, kind, value, errors);
  const parse = kind === "body" ? schema.parsers.json : schema.parsers.text;
  return (value, errors) => {
    const failures = new Failures(OWNED);
    const parsed = parse(value, failures);
    if (parsed === INVALID) errors.push(...inputErrors(kind, failures.list));
    return parsed;
  };
}
