/** The requests of `db`: statements on the wire, and their results. */
import { encodeBase64 } from "../encoding/base64.ts";
import { writeJson } from "../http/json.ts";
import { JSON_TYPE } from "../http/response.ts";
import type { BatchResult, BatchStatement, Column, DbStatement, Isolation, Parameter } from "./db.ts";
import type { HttpResponse } from "./response.ts";
import { askSidecar, type SidecarRequest } from "./sidecar.ts";

/** Headers of a request, as pairs. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Rows as arrays: every column in its order, with repeated names. */
export interface ArrayRows {
  readonly columns: readonly string[];
  readonly rows: Column[][];
}

/** The result of a statement of a batch with rows as arrays. */
export interface ArrayResult extends ArrayRows {
  readonly rowsAffected: number;
}

const ARRAYS = { rows: "arrays" } as const;

/** Runs one statement, with rows as objects. */
export async function query<R extends object>(statement: DbStatement, headers: HeaderPairs = []): Promise<R[]> {
  return rowsOf<R>(await askSidecar("db", queryOf(statement, headers)));
}

/** Runs one statement, with rows as arrays. */
export async function values(statement: DbStatement, headers: HeaderPairs = []): Promise<ArrayRows> {
  const asked = post("/sql/query", headers, wire(statement, ARRAYS));
  return (await askSidecar("db", asked)).json() as ArrayRows;
}

/** The request for one statement's rows. */
export function queryOf(statement: DbStatement, headers: HeaderPairs = []): SidecarRequest {
  return post("/sql/query", headers, wire(statement));
}

function post(path: string, headers: HeaderPairs, json: string): SidecarRequest {
  return { method: "POST", path, headers: [JSON_TYPE[0], ...headers], body: json };
}

/** The rows of an answer. */
export function rowsOf<R>(response: HttpResponse): R[] {
  return (response.json() as { rows: R[] }).rows;
}

/** Runs one statement, and returns the number of changed rows. */
export async function execute(statement: DbStatement, headers: HeaderPairs): Promise<number> {
  const response = await askSidecar("db", post("/sql/execute", headers, wire(statement)));
  return (response.json() as { rows_affected: number }).rows_affected;
}

/** Runs statements in one transaction, with rows as objects. */
export async function batch(
  statements: readonly BatchStatement[],
  headers: HeaderPairs,
  more: { readonly isolation?: Isolation } = {},
): Promise<BatchResult[]> {
  return await resultsOf<BatchResult>(
    headers,
    withList(
      more,
      "statements",
      statements.map((each) => wire(each)),
    ),
  );
}

/** Runs statements in one transaction, with rows as arrays. */
export async function batchValues(
  statements: readonly DbStatement[],
  headers: HeaderPairs = [],
): Promise<ArrayResult[]> {
  const texts = statements.map((each) => wire(each, ARRAYS));
  return await resultsOf<ArrayResult>(headers, withList({}, "statements", texts));
}

async function resultsOf<R extends BatchResult | ArrayResult>(headers: HeaderPairs, json: string): Promise<R[]> {
  const response = await askSidecar("db", post("/sql/batch", headers, json));
  const { results } = response.json() as { results: (R & { rows_affected: number })[] };
  return results.map(({ columns, rows, rows_affected }) => ({ columns, rows, rowsAffected: rows_affected }) as R);
}

function wire(statement: BatchStatement, more: object = {}): string {
  // Indexes, because destructuring with an iterator is slow in the engine.
  const { 0: sql, 1: params = [], 2: options } = statement;
  return withList({ ...options, ...more, sql }, "params", params.map(wireValue));
}

/** Writes an object as JSON, with a further member: a list of JSON texts. */
function withList(object: object, name: string, items: readonly string[]): string {
  const members = writeJson(object).slice(1, -1);
  return `{${members}${members === "" ? "" : ","}"${name}":[${items.join(",")}]}`;
}

/**
 * Writes a parameter as JSON, which has no bytes and no infinity, and whose writer has no integers beyond 2^53. A
 * sidecar reads integers of 64 bits with all digits. PostgreSQL converts the text of a larger one to the column's type.
 */
function wireValue(value: Parameter): string {
  if (typeof value === "bigint") return BigInt.asIntN(64, value) === value ? `${value}` : `"${value}"`;
  // The writer would write 0.
  if (Object.is(value, -0)) return '{"float":"-0"}';
  if (typeof value === "number" && !Number.isFinite(value)) return `{"float":"${value}"}`;
  // The writer would round integers beyond 2^53, and write those beyond 2^63 as integers, which SQLite does not have.
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return Math.abs(value) < 2 ** 63 ? `${BigInt(value)}` : value.toExponential();
  }
  return writeJson(value instanceof Uint8Array ? { base64: encodeBase64(value) } : (value ?? null));
}
