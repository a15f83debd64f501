/** A sidecar for a third party's API. It adds credentials that modules never see, and forwards allowed requests. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { TenonError } from "../errors.ts";
import { version } from "../package.ts";
import { type AllowRule, parseAllow, splitPath } from "./allow.ts";
import { HeaderFile } from "./credentials.ts";
import { forwardedNames, methodField, only } from "./forwarded.ts";
import { type Bound, listen } from "./listen.ts";
import { answerMalformed } from "./malformed.ts";
import { Metrics } from "./metrics.ts";
import { endWithProblem, PROBLEM_TYPE, problemOf } from "./problem.ts";
import { RateLimit } from "./rate.ts";
import { originForm } from "./target.ts";
import { Upstream, UpstreamError } from "./upstream.ts";

/** Options of {@link HttpSidecar.start}. */
export interface HttpSidecarOptions {
  /** Base URL of the API: `https://api.stripe.com`, with the common prefix of its paths if it has one. */
  readonly upstream: string;
  /** `unix:///run/stripe.sock` or `127.0.0.1:7004`. */
  readonly listen: string;
  /** Files with the values of headers that each request gets. */
  readonly headerFiles?: Readonly<Record<string, string>>;
  /** Allowed requests, such as `POST /v1/charges` or `GET /v1/customers/*`; all by default. */
  readonly allow?: readonly string[];
  /** Names of request headers that are passed on besides the usual ones. They count when `allow` is given. */
  readonly forwardHeaders?: readonly string[];
  /** The bearer token that every request but `/health` must have. */
  readonly token?: string;
  /** Milliseconds until the head of an answer, and then between pieces of its body. */
  readonly timeoutMs?: number;
  /** Additional attempts for requests that may be repeated. */
  readonly retries?: number;
  /** Requests per second, and as many at once; unlimited by default. */
  readonly rate?: number;
  /** Maximum bytes of a request's body, and of an answer's. */
  readonly maxBodyBytes?: number;
  /** Receives a line for each failed request. */
  readonly log?: (line: string) => void;
}

/** Defaults of the options, and fixed limits. */
export const httpSidecarLimits = {
  timeoutMs: 30_000,
  retries: 2,
  maxBodyBytes: 10 * 1024 * 1024,
  /** Maximum number of connections. */
  connections: 1024,
  /** Maximum bytes of all bodies held at once. */
  heldBytes: 256 * 1024 * 1024,
  /** Milliseconds in which a request must arrive. */
  requestMs: 30_000,
  /** Milliseconds for which an idle connection is kept. */
  idleMs: 75_000,
} as const;

/** Copies of a body that are held at once: its pieces, the whole, and the text in which a form's fields are looked for. */
const COPIES = 3;

/** Headers of one connection, which are not forwarded (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade http2-settings expect host content-length".split(
    " ",
  ),
);

/** An answer of the sidecar itself. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, detail: string, headers: OutgoingHttpHeaders = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

/** A sidecar in this process. */
export class HttpSidecar {
  readonly #bound: Bound;
  readonly #upstream: Upstream;

  private constructor(bound: Bound, upstream: Upstream) {
    this.#bound = bound;
    this.#upstream = upstream;
  }

  /**
   * Reads the files and listens.
   *
   * @throws TenonError `CONFIG`, `ADDRESS_IN_USE` or `LISTEN`; no error contains a credential
   */
  static async start(options: HttpSidecarOptions): Promise<HttpSidecar> {
    const { timeoutMs = httpSidecarLimits.timeoutMs, retries = httpSidecarLimits.retries } = options;
    if (options.token === "") throw new TenonError("CONFIG", "the bearer token is empty");
    const upstream = new Upstream(options.upstream, { timeoutMs, retries });
    const forwarder = new Forwarder(upstream, options);
    // Node's answer to a request without a Host has no body.
    const settings = { requestTimeout: httpSidecarLimits.requestMs, requireHostHeader: false };
    const server = createServer(settings, (req, res) => void forwarder.handle(req, res));
    answerMalformed(server);
    server.on("checkExpectation", (_req, res) => sendProblem(res, 417, "The only expectation is 100-continue."));
    server.on("connect", (_req, socket) => endWithProblem(socket, 501, "This sidecar opens no tunnels."));
    server.keepAliveTimeout = httpSidecarLimits.idleMs;
    server.maxConnections = httpSidecarLimits.connections;
    const bound = await listen(server, options.listen);
    forwarder.loopback = bound.loopback;
    return new HttpSidecar(bound, upstream);
  }

  /** Its address in the form of `tenon.toml`: `unix:///run/stripe.sock` or `http://127.0.0.1:7004`. */
  get address(): string {
    return this.#bound.address;
  }

  /** Stops listening, and resolves when running requests are done, after 10 s at most. */
  async close(): Promise<void> {
    await this.#bound.stop();
    this.#upstream.close();
  }

  /** Closes at the end of a block: `await using sidecar = await HttpSidecar.start(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Checks requests and forwards them to the API. */
class Forwarder {
  /** Set when it listens on a loopback address. */
  loopback = true;
  readonly #upstream: Upstream;
  readonly #rules: readonly AllowRule[];
  readonly #headers: readonly HeaderFile[];
  /** Names of headers that are passed on; all when everything is allowed. */
  readonly #forwarded: ReadonlySet<string> | undefined;
  readonly #token: Buffer | undefined;
  readonly #rate: RateLimit | undefined;
  readonly #maxBody: number;
  readonly #log: (line: string) => void;
  readonly #metrics = new Metrics();
  readonly #started = performance.now();
  #held = 0;

  constructor(upstream: Upstream, options: HttpSidecarOptions) {
    const { headerFiles = {}, allow, token, rate, maxBodyBytes = httpSidecarLimits.maxBodyBytes } = options;
    this.#upstream = upstream;
    this.#rules = (allow ?? ["* /**"]).map(parseAllow);
    const forwarded = forwardedNames(options.forwardHeaders ?? []);
    this.#forwarded = allow === undefined ? undefined : forwarded;
    this.#headers = Object.entries(headerFiles).map(([name, file]) => new HeaderFile(name, file));
    this.#token = token === undefined ? undefined : digest(token);
    this.#rate = rate === undefined ? undefined : new RateLimit(rate);
    this.#maxBody = maxBodyBytes;
    this.#log = options.log ?? (() => {});
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const started = performance.now();
    const { method = "GET" } = req;
    const url = originForm(req.url ?? "/");
    const gone = new AbortController();
    res.once("close", () => gone.abort());
    const answered = { route: "none" };
    try {
      this.#keepPagesOut(req);
      if (url === "/health")
        return sendJson(res, { status: "ok", kind: "http", version, uptime_s: (started - this.#started) / 1000 });
      this.#authenticate(req);
      if (url === "/metrics") return this.#sendMetrics(res);
      await this.#forward(method, url, req, res, gone.signal, answered);
    } catch (error) {
      if (gone.signal.aborted) return;
      this.#refuse(error, method, url, res);
    } finally {
      this.#metrics.count(answered.route, method, res.statusCode, (performance.now() - started) / 1000);
    }
  }

  async #forward(
    method: string,
    url: string,
    req: IncomingMessage,
    res: ServerResponse,
    signal: AbortSignal,
    answered: { route: string },
  ): Promise<void> {
    if (method === "TRACE") throw new Refusal(501, "The answer to TRACE would repeat the credential.");
    const segments = splitPath(url.split("?", 1)[0] ?? "");
    if (segments === undefined || /[\s#]/.test(url))
      throw new Refusal(400, "Servers could read this path differently.");
    const rule = this.#rules.find((each) => each.matches(method, segments));
    if (rule === undefined) throw new Refusal(403, "This sidecar does not allow the request.");
    answered.route = rule.text;
    const wait = this.#rate?.take() ?? 0;
    if (wait > 0) throw new Refusal(429, "There are too many requests.", { "retry-after": String(Math.ceil(wait)) });
    const body = await this.#read(req);
    try {
      if (this.#forwarded !== undefined) refuseMethodField(url, req, body);
      const headers = this.#headersFor(req, body);
      const answer = await this.#upstream.send(
        { method, target: url, headers, body },
        signal,
        () => this.#metrics.retries++,
      );
      await this.#passBack(answer, res, method);
    } finally {
      this.#held -= COPIES * body.length;
    }
  }

  /** Returns the client's headers, without the sidecar's token and without headers that come from files. */
  #headersFor(req: IncomingMessage, body: Buffer): OutgoingHttpHeaders {
    const all = withoutHops(req);
    const headers = this.#forwarded === undefined ? all : only(all, this.#forwarded);
    // It is the sidecar's own token.
    if (this.#token !== undefined) delete headers["authorization"];
    for (const file of this.#headers) headers[file.name] = file.value();
    headers["host"] = this.#upstream.host;
    if (body.length > 0 || !/^(?:GET|HEAD|DELETE|OPTIONS)$/.test(req.method ?? ""))
      headers["content-length"] = body.length;
    return headers;
  }

  async #passBack(answer: IncomingMessage, res: ServerResponse, method: string): Promise<void> {
    const length = Number(answer.headers["content-length"] ?? 0);
    if (length > this.#maxBody && method !== "HEAD") {
      answer.destroy();
      throw new Refusal(502, "The upstream's answer is too large.");
    }
    const headers = withoutHops(answer);
    if (answer.headers["content-length"] !== undefined) headers["content-length"] = answer.headers["content-length"];
    res.writeHead(answer.statusCode ?? 502, headers);
    let sent = 0;
    const most = this.#maxBody;
    await pipeline(
      answer,
      async function* (pieces) {
        for await (const piece of pieces as AsyncIterable<Buffer>) {
          sent += piece.length;
          // The head was sent, so the answer can only break off.
          if (sent > most) throw new Error("the upstream's answer is too large");
          yield piece;
        }
      },
      res,
    );
  }

  async #read(req: IncomingMessage): Promise<Buffer> {
    const tooLarge = () => new Refusal(413, `A body has at most ${this.#maxBody} bytes.`, { connection: "close" });
    if (Number(req.headers["content-length"] ?? 0) > this.#maxBody) throw tooLarge();
    const pieces: Buffer[] = [];
    let length = 0;
    try {
      // Stays open when the loop ends early, because the refusal uses the same connection.
      for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        length += piece.length;
        this.#held += COPIES * piece.length;
        if (length > this.#maxBody) throw tooLarge();
        if (this.#held > httpSidecarLimits.heldBytes)
          throw new Refusal(503, "The sidecar is busy.", { "retry-after": "1" });
        pieces.push(piece);
      }
    } catch (error) {
      this.#held -= COPIES * length;
      throw error;
    }
    return Buffer.concat(pieces);
  }

  /** Refuses web pages under any name, like the other sidecars (`crates/services/src/http/guard.rs`). */
  #keepPagesOut({ headers, httpVersion }: IncomingMessage): void {
    if (headers.host === undefined && httpVersion === "1.1") throw new Refusal(400, "The Host is missing.");
    if (this.loopback && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.host ?? "")) {
      throw new Refusal(403, "The Host must be this machine's own name or address, such as 127.0.0.1.");
    }
    const from = headers["sec-fetch-site"];
    if (headers.origin !== undefined || from === "cross-site" || from === "same-site") {
      throw new Refusal(403, "Web pages may not use this sidecar.");
    }
  }

  #authenticate({ headers }: IncomingMessage): void {
    if (this.#token === undefined) return;
    // The scheme is in any case (RFC 9110, section 11.1).
    const [, token = ""] = /^bearer +(.+)$/i.exec(headers.authorization ?? "") ?? [];
    if (timingSafeEqual(digest(token), this.#token)) return;
    throw new Refusal(401, "The bearer token is missing or wrong.", { "www-authenticate": "Bearer" });
  }

  #sendMetrics(res: ServerResponse): void {
    res.writeHead(200, { "content-type": "application/openmetrics-text; version=1.0.0; charset=utf-8" });
    res.end(this.#metrics.toString());
  }

  #refuse(error: unknown, method: string, url: string, res: ServerResponse): void {
    const at = `${method} ${url.split("?", 1)[0]}`;
    if (res.headersSent) {
      this.#log(`${at}: the answer broke off: ${reasonOf(error)}`);
      res.destroy();
      return;
    }
    const refusal = refusalOf(error);
    if (refusal.status >= 500) this.#log(`${at}: ${refusal.status}: ${reasonOf(error)}`);
    const { status, message, headers } = refusal;
    sendProblem(res, status, message, headers);
  }
}

function refuseMethodField(url: string, { headers }: IncomingMessage, body: Buffer): void {
  const field = methodField(url, headers, body);
  if (field !== undefined)
    throw new Refusal(400, `Servers could read another method from the field ${JSON.stringify(field)}.`);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof UpstreamError) {
    return error.kind === "timeout"
      ? new Refusal(504, "The upstream took too long.")
      : new Refusal(502, "The upstream cannot be reached.");
  }
  return new Refusal(500, "The sidecar failed.");
}

/** Describes an error with its cause, which has the address and no credential. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function withoutHops({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}

function sendJson(res: ServerResponse, value: object, status = 200, headers: OutgoingHttpHeaders = {}): void {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(value));
}

function sendProblem(res: ServerResponse, status: number, detail: string, headers: OutgoingHttpHeaders = {}): void {
  sendJson(res, problemOf(status, detail), status, { "content-type": PROBLEM_TYPE, ...headers });
}

/** Hashes a text, because comparison in constant time needs equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
