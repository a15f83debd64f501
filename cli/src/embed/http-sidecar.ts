/** The class `HttpSidecar`: a third party's API behind a sidecar of this process. */
import type { Sidecar as NativeSidecar } from "@tenon/native";
import { startNative } from "./native-sidecar.ts";

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
  /** Listens without a token where other machines reach it, such as at `0.0.0.0:7004`. */
  readonly insecure?: boolean;
  /** Milliseconds until the head of an answer, and then between pieces of its body. */
  readonly timeoutMs?: number;
  /** Additional attempts for requests that may be repeated. */
  readonly retries?: number;
  /** Requests per second, and as many at once; unlimited by default. */
  readonly rate?: number;
  /** Maximum bytes of a request's body, and of an answer's. */
  readonly maxBodyBytes?: number;
  readonly logLevel?: "off" | "error" | "warn" | "info" | "debug";
  readonly logFormat?: "readable" | "json";
}

/** The defaults of `crates/services/http/src/service.rs`, for the help of the command. */
export const httpSidecarDefaults = { timeoutMs: 30_000, retries: 2, maxBodyBytes: 10 * 1024 * 1024 } as const;

/** A sidecar that adds credentials which modules never see, and forwards allowed requests. */
export class HttpSidecar {
  readonly #sidecar: NativeSidecar;

  private constructor(sidecar: NativeSidecar) {
    this.#sidecar = sidecar;
  }

  /**
   * Reads the files and listens.
   *
   * @throws TenonError `CONFIG`, `ADDRESS_IN_USE` or `LISTEN`; no error contains a credential
   */
  static async start(options: HttpSidecarOptions): Promise<HttpSidecar> {
    const { upstream, ...others } = options;
    return new HttpSidecar(await startNative({ run: "http", url: upstream }, others));
  }

  /** Its address in the form of `tenon.toml`: `unix:///run/stripe.sock` or `http://127.0.0.1:7004`. */
  get address(): string {
    return this.#sidecar.address;
  }

  /** Stops listening, and resolves when running requests are done, after 10 s at most. */
  async close(): Promise<void> {
    await this.#sidecar.close();
  }

  /** Closes at the end of a block: `await using sidecar = await HttpSidecar.start(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
