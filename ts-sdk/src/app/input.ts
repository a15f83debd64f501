import { parseJson, saysJson } from "../http/json.ts";
import { type InputError, type InputKind, inputErrors, invalidInput, problem } from "../http/problem.ts";
import { contentType, type Request } from "../http/request.ts";
import { problemResponse, type Response } from "../http/response.ts";
import type { Operation, RouteOptions } from "../routing/operation.ts";
import { Failures, INVALID } from "../schema/failures.ts";
import type { Quick } from "../schema/quick.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { validateForeign } from "./foreign.ts";
import { queryReader } from "./query-string.ts";

/** The parsed input of a handler, or the answer that says why there is none. */
export type ReadInput = (request: Request, params: Params) => Input | Promise<Input>;

/** A parsed input, or the answer to give instead of calling the handler. */
export interface Input {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly refusal?: Response;
}

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
  // Only another library's schema may keep one waiting.
  const waits = kinds.some((kind) => !isSchema(options[kind]));
  return (request, params) => {
    if (takesBody && !saysJson(contentType(request))) return { refusal: problemResponse(UNSUPPORTED) };
    const errors: InputError[] = [];
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
  return errors.length > 0 ? refused(errors) : { input };
}

const UNSUPPORTED = problem(415, "The body must be application/json.");

function reader(kind: InputKind, options: RouteOptions): ReadOne {
  const schema = options[kind] as StandardSchema;
  const { accept, parse } = validator(kind, schema);
  if (kind === "path") return (_request, params, errors) => accept(params) ?? parse(params, errors);
  if (kind === "query") {
    const parseQuery = queryReader(schema);
    return (request, _params, errors) => {
      const query = parseQuery(request.query, errors);
      return query && (accept(query) ?? parse(query, errors));
    };
  }
  const optional = isSchema(schema) && schema.presence !== "required";
  return (request, _params, errors) => {
    if (optional && !request.body?.length) return undefined;
    const { value, failure } = parseJson(request.body);
    if (failure) return void errors.push(failure);
    return optional && value === null ? undefined : (accept(value) ?? parse(value, errors));
  };
}

/** What takes a valid value in one go, and what parses one that it leaves and says what is wrong with it. */
interface Validator {
  readonly accept: Quick;
  readonly parse: (value: unknown, errors: InputError[]) => unknown;
}

/** What validates a value of a kind: our own closures, or a foreign schema's `validate`, which may be asynchronous. */
function validator(kind: InputKind, schema: StandardSchema): Validator {
  if (!isSchema(schema)) {
    return { accept: () => undefined, parse: (value, errors) => validateForeign(schema, kind, value, errors) };
  }
  const { parsers } = schema;
  const arrival = kind === "body" ? "json" : "text";
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
