/** Requests to one repository of a registry (OCI distribution specification 1.1), with credentials and limits. */
import type { Dispatcher } from "undici";
import { TenonError } from "../errors.ts";
import { version } from "../package.ts";
import { type Credential, type FoundCredential, findCredential } from "./credentials.ts";
import { ociLimits } from "./limits.ts";
import { isLocal, lookupElsewhere } from "./local.ts";
import { hostOf, isLoopback, type Reference } from "./reference.ts";

/** Options for connecting to a registry. */
export interface RegistryOptions {
  /** Use HTTP without TLS. A registry on a loopback address always does. */
  readonly plainHttp?: boolean;
  /** Environment with `DOCKER_CONFIG`, `HOME` and the proxies. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A request. */
interface Sent {
  readonly method: "GET" | "HEAD" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Time limit for the answer with its body. */
  readonly timeoutMs?: number;
  /** Another repository, whose blobs the request reads. */
  readonly alsoPulls?: string;
}

/** An answer whose body was not read yet. */
export interface RegistryResponse {
  readonly status: number;
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Discards the body. */
  readonly discard: () => void;
}

/** One repository during a command. */
export class Registry {
  readonly #base: URL;
  readonly #reference: Reference;
  readonly #actions: "pull" | "pull,push";
  readonly #plainHttp: boolean;
  readonly #environment: NodeJS.ProcessEnv;
  #undici: Promise<{ request: typeof import("undici").request; dispatcher: Dispatcher }> | undefined;
  #found: FoundCredential | undefined;
  #authorization: string | undefined;

  /** @param actions the scope of tokens */
  constructor(reference: Reference, actions: "pull" | "pull,push", options: RegistryOptions = {}) {
    this.#reference = reference;
    this.#actions = actions;
    this.#plainHttp = options.plainHttp === true || isLoopback(reference.registry);
    this.#environment = options.environment ?? process.env;
    this.#base = new URL(`${this.#plainHttp ? "http" : "https"}://${hostOf(reference)}/v2/${reference.repository}/`);
  }

  /** The registry's name for messages. */
  get name(): string {
    return this.#reference.registry;
  }

  /**
   * Sends a request, with credentials after the registry asks for them. Follows redirects for GET and HEAD.
   *
   * @param target relative to `/v2/<repository>/`, or a URL from the registry
   * @throws TenonError `REGISTRY` when there is no answer, or when the registry refuses the credentials
   */
  async send(target: string, sent: Sent): Promise<RegistryResponse> {
    const url = this.#address(target, this.#base);
    const signal = AbortSignal.timeout(sent.timeoutMs ?? ociLimits.requestMs);
    const first = await this.#follow(url, sent, signal);
    if (first.status !== 401 || !this.#isOwn(first.url)) return first;
    first.discard();
    this.#authorization = await this.#authenticate(first.header("www-authenticate") ?? "", sent.alsoPulls);
    const second = await this.#follow(url, sent, signal);
    if (second.status !== 401) return second;
    second.discard();
    throw this.#refused();
  }

  /** Reads the body of an answer. Fails beyond `limit`, whatever length the registry announces. */
  async read(answer: RegistryResponse, limit: number, what: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of this.pieces(answer, limit, what)) {
      pieces.push(Buffer.from(piece));
      length += piece.length;
    }
    return Buffer.concat(pieces, length);
  }

  /** Reads the body of an answer piece by piece, like {@link read}. */
  async *pieces(answer: RegistryResponse, limit: number, what: string): AsyncGenerator<Uint8Array> {
    let length = 0;
    const tooLarge = () =>
      this.failure(
        `sends more than ${limit} bytes for ${what}`,
        "the registry is broken or hostile; pull from another one",
      );
    try {
      if (Number(answer.header("content-length") ?? 0) > limit) throw tooLarge();
      for await (const piece of answer.body) {
        length += piece.length;
        if (length > limit) throw tooLarge();
        yield piece;
      }
    } catch (error) {
      throw error instanceof TenonError ? error : this.#unreachable(answer.url, error);
    } finally {
      answer.discard();
    }
  }

  /**
   * Makes the error for an unexpected status. It contains only the registry's error code, because its message is
   * arbitrary text.
   */
  async unexpected(answer: RegistryResponse, doing: string): Promise<TenonError> {
    const { status } = answer;
    const body = await this.read(answer, ociLimits.errorBytes, "an error").catch(() => Buffer.alloc(0));
    const code = /"code"\s*:\s*"([A-Z_]{1,40})"/.exec(body.toString("utf8"))?.[1];
    const said = `cannot ${doing}: ${answer.url.host} answers ${status}${code === undefined ? "" : ` (${code})`}`;
    if (status === 404) {
      return new TenonError("REGISTRY", said, "check the name; some registries hide it from users without access");
    }
    if (status === 403) {
      return new TenonError(
        "REGISTRY",
        said,
        `these credentials do not permit it; run \`docker login ${this.name}\` with others`,
      );
    }
    if (status === 429) return new TenonError("REGISTRY", said, "try again later, or with credentials");
    return new TenonError("REGISTRY", said, status >= 500 ? "try again later" : undefined);
  }

  /** Makes an error that names the registry. */
  failure(problem: string, hint?: string): TenonError {
    return new TenonError("REGISTRY", `${this.name} ${problem}`, hint);
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    const opened = await this.#undici?.catch(() => undefined);
    await opened?.dispatcher.destroy();
  }

  async #follow(start: URL, sent: Sent, signal: AbortSignal): Promise<RegistryResponse> {
    let url = start;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#once(url, sent, signal, this.#isOwn(url) ? this.#authorization : undefined);
      const location = answer.header("location");
      const moved = [301, 302, 303, 307, 308].includes(answer.status) && location !== undefined;
      if (!moved || (sent.method !== "GET" && sent.method !== "HEAD")) return answer;
      answer.discard();
      if (redirects === ociLimits.redirects) throw this.failure(`redirects more than ${ociLimits.redirects} times`);
      url = this.#address(location, url);
    }
  }

  async #once(url: URL, sent: Sent, signal: AbortSignal, authorization: string | undefined): Promise<RegistryResponse> {
    const { request, dispatcher } = await this.#connect();
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher,
        method: sent.method,
        headers: {
          "user-agent": `tenon/${version}`,
          // Digests are of the unencoded bytes.
          "accept-encoding": "identity",
          ...sent.headers,
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: sent.body ?? null,
        signal,
      });
      // Discarding a body raises an error on the stream.
      body.on("error", () => {});
      return {
        status: statusCode,
        url,
        header: (name) => {
          const value = headers[name];
          return Array.isArray(value) ? value.join(", ") : value;
        },
        body,
        discard: () => body.destroy(),
      };
    } catch (error) {
      throw this.#unreachable(url, error);
    }
  }

  #connect(): Promise<{ request: typeof import("undici").request; dispatcher: Dispatcher }> {
    this.#undici ??= import("undici").then(({ Agent, EnvHttpProxyAgent, request }) => {
      // A name of another host that leads to this machine is refused like this machine's address.
      const lookup = isLocal(this.#base.hostname) ? undefined : lookupElsewhere(this.#base.hostname);
      const times = {
        connect: { timeout: ociLimits.connectMs, ...(lookup === undefined ? {} : { lookup }) },
        headersTimeout: ociLimits.idleMs,
        bodyTimeout: ociLimits.idleMs,
      };
      // This machine is never reached through a proxy.
      if (isLoopback(this.name)) return { request, dispatcher: new Agent(times) };
      const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = this.#environment;
      const [httpProxy, httpsProxy] = [http_proxy || HTTP_PROXY || "", https_proxy || HTTPS_PROXY || ""];
      const noProxy = no_proxy || NO_PROXY || "";
      try {
        return { request, dispatcher: new EnvHttpProxyAgent({ ...times, httpProxy, httpsProxy, noProxy }) };
      } catch {
        throw new TenonError("REGISTRY", "HTTP_PROXY or HTTPS_PROXY is not the address of a proxy");
      }
    });
    return this.#undici;
  }

  /** Returns whether a URL belongs to the registry. Only such requests carry its credentials. */
  #isOwn(url: URL): boolean {
    return url.origin === this.#base.origin;
  }

  /** Returns a URL from the registry, if it may be called. */
  #address(text: string, base: URL): URL {
    let url: URL;
    try {
      url = new URL(text, base);
    } catch {
      throw this.failure("names an invalid address", "the registry is broken or hostile");
    }
    url.username = "";
    url.password = "";
    const why = this.#whyNot(url);
    if (why === undefined) return url;
    throw this.failure(
      `leads to ${url.protocol}//${url.host}, ${why}`,
      this.#plainHttp ? undefined : "the registry is broken or hostile",
    );
  }

  /** Returns the reason why a URL may not be called. */
  #whyNot(url: URL): string | undefined {
    const [local, own, isLocalRegistry] = [isLocal(url.hostname), this.#isOwn(url), isLocal(this.#base.hostname)];
    // A remote registry must not send requests to this machine's services.
    if (local && !own && !isLocalRegistry) return "which is this machine";
    if (url.protocol === "https:") return undefined;
    const mayBePlain = url.protocol === "http:" && this.#plainHttp && (local || own || !isLocalRegistry);
    return mayBePlain ? undefined : "which is not HTTPS";
  }

  /** Returns the `authorization` for a challenge. */
  async #authenticate(challenge: string, alsoPulls: string | undefined): Promise<string> {
    this.#found ??= await findCredential(this.name, this.#environment);
    const { credential } = this.#found;
    if (credential?.kind === "bearer") return `Bearer ${credential.token}`;
    const bearer = parametersOf("bearer", challenge);
    if (bearer !== undefined) return `Bearer ${await this.#token(bearer, credential, alsoPulls)}`;
    if (parametersOf("basic", challenge) === undefined) {
      throw this.failure("asks for credentials of an unsupported kind", "Tenon supports Basic and Bearer");
    }
    if (credential?.kind !== "basic") throw this.#refused();
    return basic(credential);
  }

  /** Fetches a token for this repository, and to pull from another one. The scope is Tenon's, because a registry could ask for a wider one. */
  async #token(
    parameters: ReadonlyMap<string, string>,
    credential: Credential | undefined,
    alsoPulls: string | undefined,
  ): Promise<string> {
    const realm = this.#address(parameters.get("realm") ?? "", this.#base);
    const service = parameters.get("service");
    const scopes = [`repository:${this.#reference.repository}:${this.#actions}`];
    if (alsoPulls !== undefined) scopes.push(`repository:${alsoPulls}:pull`);
    // A form has one field for all scopes (RFC 6749), and a query has one for each.
    const named: [string, string][] = service === undefined ? [] : [["service", service]];
    const signal = AbortSignal.timeout(ociLimits.requestMs);
    let answer: RegistryResponse;
    if (credential?.kind === "identity") {
      const form: [string, string][] = [
        ["grant_type", "refresh_token"],
        ["refresh_token", credential.token],
        ["client_id", "tenon"],
        ...named,
        ["scope", scopes.join(" ")],
      ];
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const body = Buffer.from(new URLSearchParams(form).toString());
      answer = await this.#once(realm, { method: "POST", headers, body }, signal, undefined);
    } else {
      for (const [name, value] of named) realm.searchParams.append(name, value);
      for (const scope of scopes) realm.searchParams.append("scope", scope);
      const authorization = credential?.kind === "basic" ? basic(credential) : undefined;
      answer = await this.#once(realm, { method: "GET" }, signal, authorization);
    }
    if (answer.status === 401 || answer.status === 403) {
      answer.discard();
      throw this.#refused();
    }
    // A redirect would send the credentials elsewhere.
    if (answer.status !== 200) throw await this.unexpected(answer, `get a token for ${this.name}`);
    const text = (await this.read(answer, ociLimits.tokenBytes, "a token")).toString("utf8");
    let told: { readonly token?: unknown; readonly access_token?: unknown } | null = null;
    try {
      told = JSON.parse(text);
    } catch {
      // Reported below.
    }
    const token = told?.token ?? told?.access_token;
    if (typeof token !== "string" || !/^[!-~]+$/.test(token)) {
      throw new TenonError("REGISTRY", `${realm.host}, which issues tokens for ${this.name}, did not return one`);
    }
    return token;
  }

  #refused(): TenonError {
    const { credential, source = "the Docker configuration" } = this.#found ?? {};
    const hint = `run \`docker login ${this.name}\``;
    if (credential !== undefined) return this.failure(`refuses the credentials from ${source}`, hint);
    return this.failure(`requires credentials, and ${source} has none for it`, hint);
  }

  #unreachable(url: URL, error: unknown): TenonError {
    if (error instanceof TenonError) return error;
    const { code = "", name = "" } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    const outer = error as NodeJS.ErrnoException;
    const reason = reasons[code] ?? reasons[outer.code ?? ""] ?? reasons[outer.name] ?? reasons[name];
    const isTls = /^(?:ERR_SSL|ERR_TLS|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
    if (isTls) {
      return new TenonError(
        "REGISTRY",
        `cannot reach ${url.host}: it has no trusted TLS (${code})`,
        "put its certificate authority into NODE_EXTRA_CA_CERTS, or use --plain-http for a registry without TLS",
        error,
      );
    }
    const why = reason ?? (code === "" ? "the connection broke off" : `the connection broke off (${code})`);
    return new TenonError(
      "REGISTRY",
      `cannot reach ${url.host}: ${why}`,
      "check the name, the network and the proxy",
      error,
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  ERR_LOCAL_ADDRESS: "its name leads to this machine",
  EAI_AGAIN: "its name cannot be resolved at the moment",
  UND_ERR_CONNECT_TIMEOUT: "it takes too long",
  UND_ERR_HEADERS_TIMEOUT: "it takes too long",
  UND_ERR_BODY_TIMEOUT: "it takes too long",
  TimeoutError: "it takes too long",
};

function basic({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** Returns the parameters of a challenge of this scheme in `www-authenticate` (RFC 9110, section 11.6.1). */
function parametersOf(scheme: "basic" | "bearer", header: string): ReadonlyMap<string, string> | undefined {
  const text = header.slice(0, 4096);
  const start = new RegExp(`(?:^|,)\\s*${scheme}(?=\\s|$)`, "i").exec(text);
  if (start === null) return undefined;
  const parameters = new Map<string, string>();
  const rest = text.slice(start.index + start[0].length);
  for (const [, name = "", quoted, bare] of rest.matchAll(/([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi)) {
    if (!parameters.has(name.toLowerCase()))
      parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "");
  }
  return parameters;
}
