/** A request of the table, as text; the body may be bytes. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
}

/** An error that a 400 answer must list: its place, and its code. */
export type ExpectedError = `${"path" | "query" | "body"} #${string} ${string}`;

/** One row: a request, and the expected answer. */
export interface Row extends Asked {
  readonly status: number;
  /** The JSON of the answer, if it is compared. */
  readonly json?: unknown;
  /** The text of the answer, if it is compared; empty for no body. */
  readonly text?: string;
  /** All errors of a 400, in order. */
  readonly errors?: readonly ExpectedError[];
  /** Headers that must be there, with all their values. */
  readonly has?: Readonly<Record<string, readonly string[]>>;
}

/** The JSON of the answer to an exception. */
export const FAILURE = {
  type: "about:blank",
  title: "Internal Server Error",
  status: 500,
  detail: "The request failed.",
};

/** The row's name in a report: its request. */
export function rowName({ method, path, headers = [], body }: Row): string {
  const shown = typeof body === "string" ? body : body && `${body.length} bytes`;
  return [method, path, ...headers.map((header) => header.join(": ")), shown ?? ""].join(" ").slice(0, 120);
}

/** A body row: the JSON text for a field, and the resulting value or failure. */
export function body(field: string, json: string, expected: Expected): Row {
  const text = json === "" ? "{}" : `{"v":${json}}`;
  return { method: "POST", path: `/body/${field}`, body: text, ...outcome("body", expected) };
}

/** A query row: the text behind the `?`. */
export function query(field: string, text: string, expected: Expected): Row {
  return { method: "GET", path: `/query/${field}${text === "" ? "" : `?${text}`}`, ...outcome("query", expected) };
}

/** A path row: the encoded segment. */
export function path(field: string, segment: string, expected: Expected): Row {
  return { method: "GET", path: `/path/${field}/${segment}`, ...outcome("path", expected) };
}

/** A value that is accepted. */
export interface Gives {
  readonly gives: unknown;
}

/** Expects acceptance: `v` is this value in the answer; `undefined` means that it is absent. */
export function gives(value: unknown): Gives {
  return { gives: value };
}

/** An accepted value, or the codes of a refusal: `max`, or `/0 type` inside the field. */
export type Expected = Gives | string | readonly string[];

function outcome(kind: "body" | "query" | "path", expected: Expected): Pick<Row, "status" | "json" | "errors"> {
  if (typeof expected === "object" && "gives" in expected) {
    return { status: 200, json: expected.gives === undefined ? {} : { v: expected.gives } };
  }
  const codes = typeof expected === "string" ? [expected] : expected;
  const errors = codes.map((code): ExpectedError => {
    const [pointer, why] = code.includes(" ") ? code.split(" ") : ["", code];
    return `${kind} #/v${pointer} ${why}`;
  });
  return { status: 400, errors };
}
