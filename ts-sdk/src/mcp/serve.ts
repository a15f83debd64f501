/**
 * The option `mcp` of `routes`: serves the routes of an app as tools of the Model Context Protocol at `POST /mcp`, in
 * its revision 2026-07-28, where every request stands alone, and in the ones before without a session.
 */
import { codeModeKey, toolsKey } from "../abi.ts";
import type { App, HandleOptions } from "../app/app.ts";
import { type AppParts, createApp } from "../app/handle.ts";
import { decodeBase64 } from "../encoding/base64.ts";
import { saysJson } from "../http/json.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { contentType, type Request } from "../http/request.ts";
import { type Response, verbatimResponse, withHeaders } from "../http/response.ts";
import { sse } from "../http/stream-response.ts";
import { decodeUtf8, decodeUtf8Leniently, platform } from "../platform.ts";
import type { Operation } from "../routing/operation.ts";
import { parsePattern } from "../routing/pattern.ts";
import type { Around } from "../routing/step.ts";
import type { RouteTable } from "../routing/table.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { type Called, callTool, findTool, type Streamed } from "./call-tool.ts";
import type { CodeMode } from "./code/types.ts";
import { MAX_BATCH, MAX_COLLECTED, MAX_PROGRESS, PAGE, PROGRAM_LIMITS } from "./limits.ts";
import {
  BATCHING,
  errorText,
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idOf,
  isObject,
  LEGACY,
  METHOD_NOT_FOUND,
  type Members,
  MODERN,
  notificationText,
  ProtocolError,
  parseBody,
  type RpcMessage,
  readMessage,
  resultText,
  UNSUPPORTED_VERSION,
} from "./messages.ts";
import { issuersOf, keyHeadersOf, MCP_PATH, metadataMiddleware } from "./metadata.ts";
import { isAllowedOrigin } from "./origin.ts";
import { dataOf } from "./read-answer.ts";
import type { McpOptions, ToolEntry, ToolTable } from "./types.ts";

const META = "io.modelcontextprotocol/";
/** The time that a client may keep a list, in milliseconds; a build's list never changes. */
const TTL_MS = 300_000;

/**
 * Makes an app that serves its operations as tools.
 *
 * @throws TypeError at definition, naming the invalid option, or a route of the app at `POST /mcp`
 */
export function appWithMcp(
  options: McpOptions,
  operations: readonly Operation[],
  table: RouteTable,
  parts: AppParts,
): App<never> {
  check(options);
  let how: HandleOptions | undefined;
  const issuers = issuersOf(parts.use, operations);
  const own: Operation = Object.freeze({
    method: "POST",
    paths: [MCP_PATH],
    options: {},
    handler: (_input: never, request: Request) => answer(request),
    name: "the option mcp",
    status: 200,
    deprecated: false,
    use: [],
  });
  table.add(own, parsePattern(MCP_PATH));
  const use: readonly Around[] = issuers.length > 0 ? [metadataMiddleware(issuers), ...parts.use] : parts.use;
  const app = createApp([...operations, own], table, { ...parts, use });
  const isOpen = parts.use.length === 0;
  const callee = {
    operations,
    keyHeaders: keyHeadersOf(parts.use, operations),
    match: (method: string, path: string) => table.match(method, path),
    handle: app.handle,
    get how() {
      return how;
    },
  };

  async function answer(request: Request): Promise<Response> {
    const reply = (status: number, text?: string) =>
      verbatimResponse("mcp", status, [], text === undefined ? undefined : "application/json", text);
    let value: unknown;
    try {
      await checkFraming(request, parts.use);
      value = parseBody(request.body);
      const version = request.headers.get("mcp-protocol-version");
      if (Array.isArray(value)) return await batch(value, request, version, reply);
      const message = readMessage(value);
      if (version !== undefined && version !== MODERN && !LEGACY.includes(version)) throw unsupported(version);
      const isModern = version === MODERN || versionIn(message) !== undefined;
      if (message === undefined) {
        if (isModern) throw new ProtocolError(INVALID_REQUEST, "The server sends no requests.", 400);
        return reply(202);
      }
      if (isModern && message.id !== undefined) checkModern(message, request, version);
      if (message.id === undefined) return reply(202);
      return await single(message, request, isModern, reply);
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) throw thrown;
      return reply(thrown.status, errorText(thrown, idOf(value)));
    }
  }

  /** Answers a request that is no batch: with JSON, or with events where progress is asked for or nothing else accepted. */
  async function single(message: RpcMessage, request: Request, isModern: boolean, reply: Reply): Promise<Response> {
    const { id = "", params = {} } = message;
    const accepts = request.headers.get("accept") ?? "*/*";
    const asEvents = (text: string): Response =>
      acceptsType(accepts, "application/json") ? reply(200, text) : events(text);
    if (message.method === "subscriptions/listen" && isModern) return listen(id);
    if (message.method !== "tools/call") return asEvents(resultText(id, await resultOf(message, request, isModern)));
    const called = await call(params, request, isModern);
    const complete = (done: Called) => resultText(id, withType(done.members, isModern));
    if ("pieces" in called) {
      const token = metaOf(params)?.["progressToken"];
      const wantsProgress = typeof token === "string" || typeof token === "number";
      if (!wantsProgress || !acceptsType(accepts, "text/event-stream")) {
        return asEvents(complete(await called.finish(called.pieces)));
      }
      return streamed(called, token, complete);
    }
    const answer = asEvents(complete(called));
    const { challenge, operation } = called;
    if (challenge === undefined || issuersOf([], [operation]).length === 0) return answer;
    // Clients sign their user in at this status; the outermost middleware adds the place of the metadata.
    return statusOf(withHeaders(answer, [["www-authenticate", challenge]]), 401);
  }

  async function batch(
    all: readonly unknown[],
    request: Request,
    version: string | undefined,
    reply: Reply,
  ): Promise<Response> {
    if (version !== undefined && version !== BATCHING) {
      throw new ProtocolError(INVALID_REQUEST, `Batches are of revision ${BATCHING} alone; send one message.`, 400);
    }
    if (all.length === 0 || all.length > MAX_BATCH) {
      throw new ProtocolError(INVALID_REQUEST, `A batch must have from 1 to ${MAX_BATCH} messages.`, 400);
    }
    const texts: string[] = [];
    // One after the other, because they share the instance.
    for (const each of all) {
      try {
        const message = readMessage(each);
        if (message?.id === undefined) continue;
        if (message.method === "initialize") {
          throw new ProtocolError(INVALID_REQUEST, '"initialize" must not be in a batch.');
        }
        texts.push(resultText(message.id, await resultOf(message, request, false)));
      } catch (thrown) {
        if (!(thrown instanceof ProtocolError)) throw thrown;
        texts.push(errorText(thrown, idOf(each)));
      }
    }
    return texts.length === 0 ? reply(202) : reply(200, `[${texts.join(",")}]`);
  }

  /** The members of a result, as JSON. @throws ProtocolError */
  async function resultOf({ method, params = {} }: RpcMessage, request: Request, isModern: boolean): Promise<string> {
    switch (method) {
      case "server/discover":
        return `"supportedVersions":["${MODERN}"],"capabilities":{"tools":{}}${instructions()},${listed()}`;
      case "tools/list":
        return listTools(params, isModern);
      case "tools/call": {
        const called = await call(params, request, isModern);
        return withType("pieces" in called ? (await called.finish(called.pieces)).members : called.members, isModern);
      }
    }
    if (!isModern && method === "ping") return "";
    if (!isModern && method === "initialize") {
      const { protocolVersion } = params;
      if (typeof protocolVersion !== "string") {
        throw new ProtocolError(INVALID_PARAMS, '"protocolVersion" must be a text.');
      }
      const version = LEGACY.includes(protocolVersion) ? protocolVersion : (LEGACY[0] as string);
      return `"protocolVersion":"${version}","capabilities":{"tools":{}},"serverInfo":${serverInfo()}${instructions()}`;
    }
    throw new ProtocolError(METHOD_NOT_FOUND, "Method not found", isModern ? 404 : 200);
  }

  function call(params: Members, request: Request, isModern: boolean): Promise<Called | Streamed> {
    const table = tools();
    if (table.code) return codeMode().call(params, request, callee, table, options);
    return callTool(findTool(table.tools, params), params, request, callee, isModern);
  }

  function listTools({ cursor }: Members, isModern: boolean): string {
    const { tools: each, code = false } = tools();
    const all = code ? codeMode().definitions.map((definition): Listed => ({ definition })) : each;
    const start = cursor === undefined ? 0 : offsetOf(cursor);
    if (start === undefined || start > all.length) throw new ProtocolError(INVALID_PARAMS, '"cursor" is not valid.');
    const page = all.slice(start, start + PAGE).map(({ definition, output, isObject }: Listed) => {
      const hasOutput = output !== undefined && (isModern || isObject);
      return hasOutput ? `${definition.slice(0, -1)},"outputSchema":${output}}` : definition;
    });
    const next = start + PAGE < all.length ? `,"nextCursor":"${cursorOf(start + PAGE)}"` : "";
    return `"tools":[${page.join(",")}]${next}${isModern ? `,${listed()}` : ""}`;
  }

  /** The members of a result that clients may keep. Where the app asks for credentials, no other user gets it. */
  function listed(): string {
    return `"ttlMs":${TTL_MS},"cacheScope":"${isOpen ? "public" : "private"}",${modernMembers()}`;
  }

  function withType(members: string, isModern: boolean): string {
    return isModern ? `${members},${modernMembers()}` : members;
  }

  function modernMembers(): string {
    return `"resultType":"complete","_meta":{"${META}serverInfo":${serverInfo()}}`;
  }

  function serverInfo(): string {
    const { name, version } = tools();
    return JSON.stringify({ name, version });
  }

  function instructions(): string {
    const { instructions } = tools();
    return instructions === undefined ? "" : `,"instructions":${JSON.stringify(instructions)}`;
  }

  function tools(): ToolTable {
    const found = platform[toolsKey]?.(served);
    if (found === undefined) throw new Error("the tools of this app are made by tenon build, tenon dev and testApp");
    return found;
  }

  function codeMode(): CodeMode {
    const found = platform[codeModeKey];
    if (found === undefined) throw new Error("code mode is added by tenon build, tenon dev and testApp");
    return found;
  }

  const served: App<never> = Object.freeze({
    ...app,
    operations: Object.freeze(operations),
    use: parts.use,
    mcp: options,
    handle: (...[raw, given]: Parameters<App["handle"]>) => {
      const { checkResponse, ...others } = given ?? {};
      how = checkResponse && { checkResponse };
      // The answers of the protocol are not declared; those of the routes are checked inside.
      return app.handle(raw, raw.pathWithQuery.split("?")[0] === MCP_PATH ? others : given);
    },
  });
  return served;
}

/** The members of a tool that `tools/list` shows. */
type Listed = Pick<ToolEntry, "definition" | "output" | "isObject">;

type Reply = (status: number, text?: string) => Response;

/** @throws ProtocolError with 403, 415 or 406 */
async function checkFraming(request: Request, use: readonly Around[]): Promise<void> {
  if (!(await isAllowedOrigin(request, use))) {
    throw new ProtocolError(INVALID_REQUEST, "The origin is not allowed.", 403);
  }
  if (!saysJson(contentType(request))) {
    throw new ProtocolError(INVALID_REQUEST, "The content type must be application/json.", 415);
  }
  const accepts = request.headers.get("accept") ?? "*/*";
  if (!acceptsType(accepts, "application/json") && !acceptsType(accepts, "text/event-stream")) {
    throw new ProtocolError(INVALID_REQUEST, "The client must accept application/json or text/event-stream.", 406);
  }
}

/** Reports whether an `Accept` header has a media type (RFC 9110, section 12.5.1). */
function acceptsType(accept: string, type: string): boolean {
  const [main] = type.split("/");
  return accept.split(",").some((range) => {
    const media = mediaTypeOf(range);
    const isRefused = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(range);
    return !isRefused && (media === type || media === "*/*" || media === `${main}/*`);
  });
}

/** The version in a message's `_meta`, which makes it one of the stateless revision. */
function versionIn(message: RpcMessage | undefined): unknown {
  return metaOf(message?.params)?.[`${META}protocolVersion`];
}

function metaOf(params: Members | undefined): Members | undefined {
  const meta = params?.["_meta"];
  return isObject(meta) ? meta : undefined;
}

/** Checks a request of the stateless revision: its `_meta`, and the headers that repeat it. @throws ProtocolError */
function checkModern(message: RpcMessage, request: Request, version: string | undefined): void {
  const meta = metaOf(message.params);
  const given = versionIn(message);
  if (meta === undefined || typeof given !== "string") {
    throw new ProtocolError(INVALID_PARAMS, `"_meta" must have "${META}protocolVersion".`, 400);
  }
  requireHeader("MCP-Protocol-Version", version, given);
  if (given !== MODERN) throw unsupported(given, [MODERN]);
  if (!isObject(meta[`${META}clientCapabilities`])) {
    throw new ProtocolError(INVALID_PARAMS, `"_meta" must have "${META}clientCapabilities".`, 400);
  }
  requireHeader("Mcp-Method", request.headers.get("mcp-method"), message.method);
  const { name } = message.params ?? {};
  if (message.method === "tools/call" && typeof name === "string") {
    requireHeader("Mcp-Name", decoded(request.headers.get("mcp-name")), name);
  }
}

function requireHeader(header: string, value: string | undefined, expected: string): void {
  if (value === expected) return;
  const fault = value === undefined ? "is missing" : "does not match the body";
  throw new ProtocolError(HEADER_MISMATCH, `Header mismatch: ${header} ${fault}`, 400);
}

/** Decodes a header that is written in base64, because its text can't be in a header. */
function decoded(value: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value ?? "") ?? [];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  return encoded === undefined ? value : bytes && decodeUtf8(bytes);
}

function unsupported(requested: string, supported: readonly string[] = [MODERN, ...LEGACY]): ProtocolError {
  return new ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", 400, {
    supported,
    requested: requested.slice(0, 64),
  });
}

function cursorOf(offset: number): string {
  return platform.btoa(`tools:${offset}`);
}

function offsetOf(cursor: unknown): number | undefined {
  const bytes = typeof cursor === "string" && cursor.length < 64 ? decodeBase64(cursor) : undefined;
  const [, offset] = /^tools:(\d{1,9})$/.exec(bytes ? decodeUtf8Leniently(bytes) : "") ?? [];
  return offset === undefined ? undefined : Number(offset);
}

/** An answer of events, which proxies pass on at once. */
function eventStream(source: () => AsyncGenerator<string, void>): Response {
  const withData = async function* () {
    for await (const data of source()) yield { event: "message", data };
  };
  return sse(withData).header("x-accel-buffering", "no");
}

function events(...texts: readonly string[]): Response {
  return eventStream(async function* () {
    yield* texts;
  });
}

/** Answers a request for notifications: there are none, because the tools of a build never change. */
function listen(id: string | number): Response {
  const meta = { [`${META}subscriptionId`]: id };
  const params = { _meta: meta, notifications: {} };
  return events(
    notificationText("notifications/subscriptions/acknowledged", params),
    resultText(id, `"resultType":"complete","_meta":${JSON.stringify(meta)}`),
  );
}

/** Sends a notification for each piece of a streamed answer, and then the result. */
function streamed(
  { pieces, finish }: Streamed,
  progressToken: string | number,
  complete: (done: Called) => string,
): Response {
  return eventStream(async function* () {
    const kept: Uint8Array[] = [];
    let size = 0;
    let failure: unknown;
    try {
      for await (const piece of pieces) {
        kept.push(piece);
        size += piece.length;
        // The result says that it is too large.
        if (size > MAX_COLLECTED) break;
        const text = decodeUtf8Leniently(piece);
        const message = (dataOf(text) || text).slice(0, MAX_PROGRESS);
        yield notificationText("notifications/progress", { progressToken, progress: kept.length, message });
      }
    } catch (thrown) {
      failure = thrown;
    }
    yield complete(await finish(again(kept, failure)));
  });
}

/** The pieces once more, and the failure after them. */
async function* again(pieces: readonly Uint8Array[], failure: unknown): AsyncGenerator<Uint8Array, void> {
  yield* pieces;
  if (failure !== undefined) throw failure;
}

/** The same answer with another status. */
function statusOf(response: Response, status: number): Response {
  const { headers, body } = response;
  return verbatimResponse("mcp", status, headers, undefined, body);
}

function check(options: McpOptions): void {
  if (!isObject(options)) throw new TypeError('routes: "mcp" must be an object, { name?, include?, code? }');
  refuseUnknown("mcp", options, ["name", "include", "code", "confirm", "limits"]);
  const { name, include, code, confirm, limits } = options as McpOptions;
  if (name !== undefined && (typeof name !== "string" || name === "")) {
    throw new TypeError('mcp: "name" must be a text');
  }
  const isList = Array.isArray(include) && include.every((each) => typeof each === "string");
  if (include !== undefined && typeof include !== "function" && !isList) {
    throw new TypeError('mcp: "include" must be a list of names and tags, or a function');
  }
  if (code !== undefined && typeof code !== "boolean") throw new TypeError('mcp: "code" must be true or false');
  if (confirm !== undefined && typeof confirm !== "function") throw new TypeError('mcp: "confirm" must be a function');
  if ((confirm !== undefined || limits !== undefined) && code !== true) {
    throw new TypeError('mcp: "confirm" and "limits" must come with "code: true"');
  }
  if (limits === undefined) return;
  if (!isObject(limits)) throw new TypeError('mcp: "limits" must be an object');
  refuseUnknown("mcp.limits", limits, Object.keys(PROGRAM_LIMITS));
  for (const [limit, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || (value as number) < 1) {
      throw new TypeError(`mcp: "limits.${limit}" must be a whole number from 1 on`);
    }
  }
}
