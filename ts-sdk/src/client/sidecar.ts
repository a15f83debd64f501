import { checkHeader, encodeValue, type RawHeader } from "../http/headers.ts";
import { writeJson } from "../http/json.ts";
import {
  type CallOutcome,
  callsKey,
  encodeUtf8,
  findVariables,
  type OutgoingCall,
  platform,
  requireRequest,
  SECRET_PREFIX,
} from "../platform.ts";
import { HttpClientError, type HttpClientErrorCode } from "./errors.ts";
import { callFailure, DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT_MS, HttpRequest } from "./http-client.ts";
import { HttpResponse } from "./response.ts";

/** The sidecars that have a client. */
export type SidecarName = "db" | "cache" | "storage" | "queue" | (string & {});

/**
 * Why a sidecar did not do what it was asked: `missing` (there is none of this name), `status` (it answered an error, which
 * is in `status` and `detail`), or why there was no answer.
 */
export type SidecarErrorCode = "missing" | "status" | HttpClientErrorCode;

/** A sidecar that did not do what it was asked. Its message may quote what a database said: it is not for clients. */
export class SidecarError extends Error {
  readonly code: SidecarErrorCode;
  readonly sidecar: SidecarName;
  /** The status it answered, such as 400 for an SQL error and 412 for a condition that does not hold. */
  readonly status: number | undefined;
  /** What its problem details say. */
  readonly detail: string | undefined;
  /** The database's code, such as `23505` for a duplicate, `23503` for a missing reference and `40P01` for a deadlock. */
  readonly sqlstate: string | undefined;
  /** The constraint that is violated. */
  readonly constraint: string | undefined;
  /** The table that the error is about. */
  readonly table: string | undefined;
  /** The column that the error is about. */
  readonly column: string | undefined;
  /** Nothing has happened, and the same request may pass when it is sent again. */
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

/** What is asked of a sidecar. */
export interface SidecarRequest {
  readonly method: string;
  /** With a leading slash, encoded. */
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
  /** Statuses besides successes that are answers, and no errors. */
  readonly expect?: readonly number[];
}

/**
 * Where a sidecar is reached, and the token that it wants to see if there is one: `SIDECAR_<NAME>_TOKEN` of `[secrets]`, or of
 * `[env]`. It reads the environment once, because each reading crosses to the host and decodes every variable.
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
        `(in a test: testApp(app, { env: { ${variable}_URL: … } }))`,
    );
  }
  return { base: base.replace(/\/$/, ""), token: secret ?? token };
}

/**
 * Asks a sidecar.
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

/** A request whose address and token the host puts in: nothing of the environment is read for it. */
function callTo(name: SidecarName, { method, path, headers = [], json, body }: SidecarRequest): OutgoingCall {
  const raw: RawHeader[] = [];
  // A loop by index: the engine takes its time for an iterator.
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

/** Sends a request where no call can be made as a whole. */
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
  // The host says so of a sidecar that there is not; who asks is told what to write.
  if (error.code === "refused") connectionOf(name);
  return new SidecarError(name, error.code, error.message, { cause: error });
}

/** Problem details; `undefined` when the answer is something else. */
function problemOf(response: HttpResponse): { readonly detail?: unknown } | undefined {
  try {
    return (response.json() as { readonly detail?: unknown } | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * A key as the one segment of a path.
 *
 * @throws TypeError for `.` and `..`, which URLs give a meaning of their own, and for half of a surrogate pair.
 */
export function encodeKey(what: string, key: string): string {
  if (typeof key !== "string" || key === "" || key === "." || key === "..") {
    throw new TypeError(`${what} must be a text, and neither empty nor "." nor ".."`);
  }
  try {
    return encodeURIComponent(key);
  } catch {
    throw new TypeError(`${what} has half of a surrogate pair`);
  }
}

/** Which page of a list. */
export interface ListOptions {
  /** What the keys or paths begin with. */
  readonly prefix?: string;
  /** How many at most; 100 when left out, 1,000 at most. */
  readonly limit?: number;
  /** `next` of the page before. */
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
