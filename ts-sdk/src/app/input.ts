/** Reads the input of a handler: path, query, headers and body. */
import { saysJson } from "../http/json.ts";
import type { OctetStreamSchema } from "../http/octet-stream.ts";
import { type InputError, invalidInput, malformed, problem } from "../http/problem.ts";
import { contentType, type Request, rawBody } from "../http/request.ts";
import { problemResponse, type Response } from "../http/response.ts";
import type { Operation } from "../routing/operation.ts";
import type { FormSchema } from "../schema/form.ts";
import { isSchema } from "../schema/schema.ts";
import { reader } from "./read-input.ts";

/** Reads a handler's input, or returns the answer with the failures. */
export type ReadInput = (
  request: Request,
  params: Params,
  malformed: Malformed,
) => InputOrRefusal | Promise<InputOrRefusal>;

/** A parsed input, or the answer to give instead of calling the handler. */
export interface InputOrRefusal {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly refusal?: Response;
}

/** The placeholders' values, decoded. */
export type Params = Readonly<Record<string, string>>;

/** The placeholders whose value can't be decoded; undefined for every other segment. */
export type Malformed = readonly (string | undefined)[];

/** Reads one kind of input, and adds its failures to `errors`. */
export type ReadOne = (request: Request, params: Params, errors: InputError[]) => unknown;

const KINDS = ["path", "query", "headers", "body"] as const;
/** The options of a route that declare inputs. */
export type InputOption = (typeof KINDS)[number];
const NOTHING: InputOrRefusal = { input: Object.freeze({}) };

/** Composes an operation's input reader, once. One answer has the failures of all inputs. */
export function inputReader({ name, options }: Operation): ReadInput {
  const kinds = KINDS.filter((kind) => options[kind]);
  const undecoded = (names: Malformed) => names.map((name) => malformed("path", name === undefined ? [] : [name]));
  if (kinds.length === 0) return (_, __, names) => (names.length > 0 ? refused(undecoded(names)) : NOTHING);
  const readers = kinds.map((kind) => reader(kind, options, name));
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
      input[kinds[i] as InputOption] = (readers[i] as ReadOne)(request, params, errors);
    }
    if (waits) return settle(input, errors);
    return errors.length > 0 ? refused(errors) : { input };
  };
}

function refused(errors: readonly InputError[]): InputOrRefusal {
  return { refusal: problemResponse(invalidInput(errors)) };
}

function settle(
  input: Record<string, unknown>,
  errors: readonly InputError[],
): InputOrRefusal | Promise<InputOrRefusal> {
  const kinds = Object.keys(input);
  const values = Object.values(input);
  if (values.some((value) => value instanceof Promise)) {
    const settled = (all: unknown[]) => Object.fromEntries(kinds.map((kind, i) => [kind, all[i]]));
    return Promise.all(values).then((all) => settle(settled(all), errors));
  }
  // Sorts errors by input, because asynchronous inputs finish in any order.
  const place = ({ in: kind }: InputError) => KINDS.findIndex((each) => each.startsWith(kind));
  const ordered = () => [...errors].sort((a, b) => place(a) - place(b));
  return errors.length > 0 ? refused(ordered()) : { input };
}
