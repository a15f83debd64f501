/** The class `Services`: the development services inside a Node program. */
import type { Services as NativeServices } from "@tenon/native";
import { defaultCacheFolder } from "../cache-folder.ts";
import { fromNative, native } from "../native.ts";
import type { Runtime } from "./runtime.ts";

/** Options of the development services. */
export interface ServicesOptions {
  /** The folder of all data; it is made when it does not exist. */
  readonly folder: string;
  /** A loopback address; 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, or left out, takes a free one. */
  readonly port?: number;
  /** True to begin without data of earlier runs. */
  readonly fresh?: boolean;
}

/**
 * The development services on this machine: key-value, SQL, storage and cron in one folder, and a page that shows them.
 * Their URL is that of every sidecar: `Runtime.create({ sidecars: { db: url, cache: url, storage: url }, … })`.
 */
export class Services {
  readonly #services: NativeServices;

  private constructor(services: NativeServices) {
    this.#services = services;
  }

  /**
   * Opens the folder and listens.
   *
   * @throws TenonError `ADDRESS_IN_USE`, `LISTEN`, `FOLDER` or `CONFIG`
   */
  static async start(options: ServicesOptions): Promise<Services> {
    return new Services(await fromNative(native().Services.start({ ...options, cacheDir: defaultCacheFolder() })));
  }

  /** Such as `http://127.0.0.1:9919`; also the address of the page. */
  get url(): string {
    return this.#services.url;
  }

  /**
   * Gives the page its modules and requests, which have transcripts from now on, and cron its modules to call. `url` is where the
   * runtime listens.
   */
  attach(runtime: Runtime, url: string): void {
    this.#services.attach(runtime.native, url);
  }

  /** Stops listening, and resolves when running requests have finished or their time is over. */
  async close(): Promise<void> {
    await this.#services.close();
  }

  /** Closes at the end of a block: `await using services = await Services.start(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
