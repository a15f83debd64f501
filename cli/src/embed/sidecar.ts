/** The class `Sidecar`: one sidecar of production inside a Node program. */
import type { Sidecar as NativeSidecar } from "@tenon/native";
import type { Reply } from "../ask.ts";
import { defaultCacheFolder } from "../cache-folder.ts";
import { fromNative } from "../native.ts";
import { requireHere } from "../package.ts";
import { startNative } from "./native-sidecar.ts";
import type { SidecarKind } from "./sidecar-kinds.ts";

export type { SidecarKind } from "./sidecar-kinds.ts";

/** Options of a {@link Sidecar}; omitted limits are those of the development services. */
export interface SidecarOptions {
  readonly kind: SidecarKind;
  /** The store: `postgres://…`, `redis://…`, `sqlite:/path`, `s3://bucket` or `file:/path`. It may hold a password. */
  readonly url: string;
  /**
   * `unix:///run/db.sock` or `127.0.0.1:7001`. Left out, it listens nowhere: `Runtime.create` of this process takes its `address`
   * among its `sidecars`.
   */
  readonly listen?: string;
  /** The bearer token that every request but `/health` must have. */
  readonly token?: string;
  /** Listens without a token where other machines reach it, such as at `0.0.0.0:7001`. */
  readonly insecure?: boolean;
  /** `sql`: statements that write are refused. */
  readonly readOnly?: boolean;
  /** `sql`: the tables that statements may name. */
  readonly tables?: readonly string[];
  /** `sql`, PostgreSQL: the role whose rights statements have, in place of those of the user in the URL. */
  readonly role?: string;
  /** `kv` and `queue`: the prefix of all names in Redis. */
  readonly prefix?: string;
  /** `storage` on a folder: the base of the URLs that it signs, such as `https://files.example.com`. */
  readonly publicUrl?: string;
  readonly poolSize?: number;
  /** Milliseconds that a request's statements may take. */
  readonly statementTimeoutMs?: number;
  /** `sql`: milliseconds between two statements of a transaction. */
  readonly transactionIdleMs?: number;
  /** `sql`: milliseconds of a transaction in all. */
  readonly transactionTimeoutMs?: number;
  /** Rows of one result. */
  readonly maxRows?: number;
  /** Bytes of a request's body. */
  readonly maxBodyBytes?: number;
  readonly logLevel?: "off" | "error" | "warn" | "info" | "debug";
  readonly logFormat?: "readable" | "json";
}

/** A sidecar that this process serves: one kind of service over the same HTTP contract as the development services. */
export class Sidecar {
  readonly #sidecar: NativeSidecar;

  private constructor(sidecar: NativeSidecar) {
    this.#sidecar = sidecar;
  }

  /**
   * Connects to the store and listens.
   *
   * @throws TenonError `CONFIG`, `BACKEND`, `FOLDER`, `ADDRESS_IN_USE` or `LISTEN`; none has a password in it
   */
  static async start(options: SidecarOptions): Promise<Sidecar> {
    const { kind, ...others } = options;
    const grammar = kind === "sql" ? { grammar: grammarFile(), cacheDir: defaultCacheFolder() } : {};
    return new Sidecar(await startNative({ run: kind }, others, grammar));
  }

  /**
   * The address, as `tenon.toml` names it: `unix:///run/db.sock` or `http://127.0.0.1:7001`. A sidecar that listens nowhere has one
   * that only runtimes of this process take.
   */
  get address(): string {
    return this.#sidecar.address;
  }

  /** Asks a sidecar that listens nowhere, with JSON. @internal */
  async ask(method: "GET" | "POST" | "PUT", path: string, json: object): Promise<Reply> {
    const { status, body } = await fromNative(this.#sidecar.ask(method, path, JSON.stringify(json)));
    return { status, text: body.toString("utf8") };
  }

  /** Gives a sidecar that listens nowhere to no further runtime: it closes with the last one that was given it. @internal */
  release(): void {
    this.#sidecar.release();
  }

  /** Stops listening, and resolves when running requests have finished or their time is over. */
  async close(): Promise<void> {
    await this.#sidecar.close();
  }

  /** Closes at the end of a block: `await using sidecar = await Sidecar.start(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** PostgreSQL's grammar as WebAssembly, from its package. @internal */
export function grammarFile(): string {
  return requireHere.resolve("libpg-query/wasm/libpg-query.wasm");
}
