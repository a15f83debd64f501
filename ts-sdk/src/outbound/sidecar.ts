/** Requests to sidecars, and their errors. */

import { callsKey, SECRET_PREFIX } from "../abi.ts";
import { checkHeader, encodeValue } from "../http/headers.ts";
import { writeJson } from "../http/json.ts";
import {
  type CallOutcome,
  encodeUtf8,
  findVariables,
  type OutgoingCall,
  platform,
  requireRequest,
} from "../platform.ts";
import type { RawHeader } from "../raw.ts";
import { HttpClientError, type HttpClientErrorCode } from "./errors.ts";
import { callFailure, DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT_MS, HttpRequest } from "./http-client.ts";
import { HttpResponse } from "./response.ts";

/** The sidecars that have a client. */
export type SidecarName = "db" | "cache" | "storage" | "queue" | (string & {});

/**
 * The reason why a sidecar request failed: `missing` (there is none of this name), `status` (it answered an error,
 * which is in `status` and `detail`), or why there was no answer.
 */
export type SidecarErrorCode = "missing" | "status" | HttpClientErrorCode;

/** A failed request to a sidecar. Its message may quote the database: do not send it to clients. */
export class SidecarError extends Error {
  readonly code: SidecarErrorCode;
  readonly sidecar: SidecarName;
  /** The status of the sidecar's answer, such as 400 for an SQL error and 412 for a condition that does not hold. */
  readonly status: number | undefined;
  /** The `detail` of its problem details. */
  readonly detail: string | undefined;
  /** The database's code, such as `23505` for a duplicate, `23503` for a missing reference and `40P01` for a deadlock. */
  readonly sqlstate: string | undefined;
  /** The violated constraint. */
  readonly constraint: string | undefined;
  /** The table that the error is about. */
  readonly table: string | undefined;
  /** The column that the error is about. */
  readonly column: string | undefined;
  /** True when nothing has changed, and the same request may succeed when it is sent again. */
  readonly retryable: boolean;

  constructor(
    sidecar: SidecarName,
    code: SidecarErrorCode,
    message: string,
    more: { readonly status?: number; readonly problem?: unknown; readonly cause?: unknown } = {},
  ) {
    super(`${sidecar}: ${message}`, more.cause === undefined ? undefined : { cause: more.cause });
    const problem = (more.problem ?? {}) as Readonly<Record<string, unknown>>;
    const text = (member: string) => (typeof problem[member] === "string" ? (problem[member] as string) : undefined);
    this.name = "SidecarError";
    this.sidecar = sidecar;
    this.code = code;
    this.status = more.status;
    this.detail = text("detail");
    this.sqlstate = text("sqlstate");
    this.constraint = text("constraint");
    this.table = text("table");
    this.column = text("column");
    this.retryable = problem["retryable"] === true;
  }
}

/** A request to a sidecar. */
export interface SidecarRequest {
  readonly method: string;
  /** With a leading slash, encoded. */
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
  /** Statuses besides successes that are not errors. */
  readonly expect?: readonly number[];
}

/**
 * Finds a sidecar's address, and its token if it has one: `SIDECAR_<NAME>_TOKEN` of `[secrets]`, or of `[env]`. It
 * reads the environment once, because each reading crosses to the host and decodes every variable.
 *
 * @throws SidecarError when there is none of this name.
 */
export function connectionOf(name: SidecarName): { readonly base: string; readonly token: string | undefined } {
  const variable = `SIDECAR_${name.toUpperCase().replaceAll("-", "_")}`;
  requireRequest("env");
  const [base, secret, token] = findVariables(
    `${variable}_URL`,
    `${SECRET_PREFIX}${variable}_TOKEN`,
    `${variable}_TOKEN`,
  );
  if (base === undefined) {
    throw new SidecarError(
      name,
      "missing",
      `there is no such sidecar: put ${name} = "http://host:port" or "unix:///path" under [sidecars] in tenon.toml ` +
        `(in a test: testApp(app, { sidecars: { ${name}: … } }), or env: { ${variable}_URL: … })`,
    );
  }
  return { base: base.replace(/\/$/, ""), token: secret ?? token };
}

/**
 * Sends a request to a sidecar.
 *
 * @throws SidecarError when there is none, no answer, or an error.
 */
export async function askSidecar(name: SidecarName, asked: SidecarRequest): Promise<HttpResponse> {
  const start = platform[callsKey];
  const response =
    start === undefined ? await sent(name, asked) : received(name, asked, await start(callTo(name, asked)));
  if (response.ok || asked.expect?.includes(response.status)) return response;
  const problem = problemOf(response);
  const said = typeof problem?.detail === "string" ? `: ${problem.detail}` : "";
  throw new SidecarError(name, "status", `it answered ${response.status}${said}`, { status: response.status, problem });
}

/** Makes a call whose address and token the host adds, so the environment is not read. */
function callTo(name: SidecarName, { method, path, headers = [], json, body }: SidecarRequest): OutgoingCall {
  const raw: RawHeader[] = [];
  // A loop by index, because an iterator is slow in the engine.
  for (let i = 0; i < headers.length; i++) {
    const [header, value] = checkHeader(...(headers[i] as readonly [string, string]));
    raw.push([header, encodeValue(value)]);
  }
  if (json !== undefined && !raw.some(([header]) => header === "content-type")) raw.push(JSON_HEADER);
  const content = json === undefined ? body : writeJson(json);
  return {
    method,
    url: `sidecar:${name}${path}`,
    headers: raw,
    body: typeof content === "string" ? encodeUtf8(content) : content,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    maxBytes: DEFAULT_MAX_BYTES,
  };
}

const JSON_HEADER: RawHeader = ["content-type", encodeUtf8("application/json")];

function received(name: SidecarName, { method }: SidecarRequest, outcome: CallOutcome): HttpResponse {
  if (!("reason" in outcome)) return new HttpResponse(outcome);
  throw failed(name, callFailure(`${method} ${name}`, outcome));
}

/** Sends a request with `httpClient`, where the host takes no whole calls. */
async function sent(
  name: SidecarName,
  { method, path, headers = [], json, body }: SidecarRequest,
): Promise<HttpResponse> {
  const { base, token } = connectionOf(name);
  const request = new HttpRequest().method(method, base + path);
  if (token !== undefined) request.header("authorization", `Bearer ${token}`);
  for (const header of headers) request.header(...header);
  if (json !== undefined) request.json(json);
  if (body !== undefined) request.body(body);
  try {
    return await request.send();
  } catch (thrown) {
    throw thrown instanceof HttpClientError ? failed(name, thrown) : thrown;
  }
}

function failed(name: SidecarName, error: HttpClientError): SidecarError {
  // The host refuses a sidecar that does not exist; `connectionOf` throws with the line to add.
  if (error.code === "refused") connectionOf(name);
  return new SidecarError(name, error.code, error.message, { cause: error });
}

/** Problem details; `undefined` for any other answer. */
function problemOf(response: HttpResponse): { readonly detail?: unknown } | undefined {
  try {
    return (response.json() as { readonly detail?: unknown } | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Selects a page of a list. */
export interface ListOptions {
  /** The prefix of the keys or paths. */
  readonly prefix?: string;
  /** The largest number of entries; 100 when left out, at most 1,000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

/** A list's query string. */
export function listQuery({ prefix, limit, after }: ListOptions): string {
  const parts: string[] = [];
  if (prefix !== undefined) parts.push(`prefix=${encodeURIComponent(prefix)}`);
  if (limit !== undefined) parts.push(`limit=${limit}`);
  if (after !== undefined) parts.push(`after=${encodeURIComponent(after)}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
