/**
 * Consumers of queues: they lease messages of the sidecar `queue`, call the module's route with each, and say what became of it.
 * Messages that are leased when a process dies are delivered again when their lease ends.
 */
import { request } from "node:http";
import { TenonError } from "./errors.ts";
import { sidecarVariable } from "./project/config/addresses.ts";
import type { Config } from "./project/config.ts";
import type { Runtime, RuntimeOptions } from "./runtime.ts";

/** Which route handles the messages of a queue. */
export interface QueueOptions {
  /** The module, by its name in URLs. */
  readonly module: string;
  /** The path of the route. */
  readonly path: string;
  /** How many messages are handled at the same time. */
  readonly concurrency: number;
  /** How often a message is delivered before it is laid aside in `<name>.dead`. */
  readonly maxAttempts: number;
  /** How long a delivered message is hidden from others. */
  readonly visibilityMs: number;
}

/** Where queues are: an address as in `[sidecars]`, and the bearer token that it wants to see, if it wants one. */
export interface QueueService {
  readonly address: string;
  readonly token?: string;
}

/** Calls a route with a message; the answer's status. */
export type Deliver = (module: string, path: string, message: string) => Promise<number>;

/** A message as a lease gives it. */
interface Leased {
  readonly id: string;
  readonly body: unknown;
  readonly key: string | null;
  readonly attempts: number;
  readonly sent_at: string;
  readonly receipt: string;
}

/** How long an empty queue is left alone. */
const POLL_MS = 500;

/** How long a service that does not answer is left alone. */
const PAUSE_MS = 3000;

/** A consumer of one queue, until it is closed. */
export class QueueConsumer {
  readonly #name: string;
  readonly #options: QueueOptions;
  readonly #service: QueueService;
  readonly #deliver: Deliver;
  readonly #complain: (message: string) => void;
  readonly #isReady: () => boolean;
  readonly #handled = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #isClosed = false;
  #wake: () => void = () => undefined;

  /**
   * @param complain is told of a service that does not answer, once until it does
   * @param isReady whether the route can be called; nothing is leased before
   */
  constructor(
    name: string,
    options: QueueOptions,
    service: QueueService,
    deliver: Deliver,
    complain: (message: string) => void,
    isReady: () => boolean = () => true,
  ) {
    this.#name = name;
    this.#options = options;
    this.#service = service;
    this.#deliver = deliver;
    this.#complain = complain;
    this.#isReady = isReady;
    this.#running = this.#run();
  }

  /** Leases nothing more, and resolves when what is being handled is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#running;
    await Promise.all(this.#handled);
  }

  async #run(): Promise<void> {
    const { concurrency, maxAttempts, visibilityMs } = this.#options;
    let isComplained = false;
    while (!this.#isClosed) {
      if (!this.#isReady()) {
        await this.#sleep(POLL_MS);
        continue;
      }
      const max = Math.min(concurrency - this.#handled.size, 100);
      try {
        const asked = { max, visibility_ms: visibilityMs, max_attempts: maxAttempts };
        const { messages } = (await this.#ask("lease", asked)) as { messages: readonly Leased[] };
        for (const message of messages) this.#handle(message);
        isComplained = false;
        if (messages.length === 0) await this.#sleep(POLL_MS);
        else if (this.#handled.size >= concurrency) await Promise.race(this.#handled);
      } catch (error) {
        if (!isComplained) this.#complain(`the queue ${this.#name} cannot be read: ${(error as Error).message}`);
        isComplained = true;
        await this.#sleep(PAUSE_MS);
      }
      while (!this.#isClosed && this.#handled.size >= concurrency) await Promise.race(this.#handled);
    }
  }

  #handle(message: Leased): void {
    const handled = this.#settle(message).catch((error: Error) => {
      // It is delivered again when its lease ends.
      this.#complain(`a message of the queue ${this.#name} could not be settled: ${error.message}`);
    });
    this.#handled.add(handled);
    void handled.then(() => this.#handled.delete(handled));
  }

  async #settle({ receipt, ...message }: Leased): Promise<void> {
    const { module, path, maxAttempts } = this.#options;
    const status = await this.#deliver(module, path, JSON.stringify(message)).catch(() => 0);
    const lease = { id: message.id, receipt };
    if (status >= 200 && status <= 299) await this.#ask("done", lease);
    else await this.#ask("retry", { ...lease, attempts: message.attempts, max_attempts: maxAttempts });
  }

  /** Asks the service; a lease that has ended is no failure. */
  #ask(action: string, json: object): Promise<unknown> {
    const { address, token } = this.#service;
    const isUnix = address.startsWith("unix://");
    const where = isUnix
      ? { socketPath: address.slice("unix://".length), host: "queue.sidecar.internal" }
      : { host: new URL(address).hostname.replace(/^\[(.*)\]$/, "$1"), port: new URL(address).port };
    const body = JSON.stringify(json);
    return new Promise((resolve, reject) => {
      const outgoing = request({
        ...where,
        method: "POST",
        path: `/queue/${this.#name}/${action}`,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        timeout: 30_000,
      });
      outgoing.once("timeout", () => outgoing.destroy(new Error("no answer within 30 s")));
      outgoing.once("error", reject);
      outgoing.once("response", (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.once("error", reject);
        incoming.once("end", () => {
          const { statusCode = 0 } = incoming;
          if (statusCode === 409 || statusCode === 204) return resolve(undefined);
          if (statusCode !== 200) return reject(new Error(`it answered ${statusCode}`));
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
          } catch {
            reject(new Error("its answer is no JSON"));
          }
        });
      });
      outgoing.end(body);
    });
  }

  #sleep(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Where a project's queues are; `undefined` when it has none.
 *
 * @param options what the runtime is started with
 * @throws TenonError `CONFIG` when there are queues and no sidecar that has them
 */
export function queueServiceOf(
  config: Config,
  options: Pick<RuntimeOptions, "sidecars" | "secrets" | "env">,
): QueueService | undefined {
  if (Object.keys(config.queues).length === 0) return undefined;
  const { sidecars = {}, secrets = {}, env = {} } = options;
  const variable = sidecarVariable("queue");
  const address = Object.entries(sidecars).find(([name]) => sidecarVariable(name) === variable)?.[1];
  if (address === undefined) {
    throw new TenonError(
      "CONFIG",
      "there is [queues] in tenon.toml, and no sidecar that has the queues",
      'run `tenon sidecar queue`, and name it under [sidecars]: queue = "unix:///run/queue.sock"',
    );
  }
  const token = secrets["SIDECAR_QUEUE_TOKEN"] ?? env["SIDECAR_QUEUE_TOKEN"];
  return { address, ...(token === undefined ? {} : { token }) };
}

/** Starts a consumer for each of `[queues]`, which calls the routes of a runtime. */
export function consumeQueues(
  config: Config,
  service: QueueService | undefined,
  runtime: Runtime,
  complain: (message: string) => void,
  isReady?: () => boolean,
): QueueConsumer[] {
  if (service === undefined) return [];
  const deliver: Deliver = async (module, path, body) => {
    const headers = { "content-type": "application/json" };
    const answer = await runtime.fetch(`http://localhost/run/${module}${path}`, { method: "POST", headers, body });
    await answer.body?.cancel();
    return answer.status;
  };
  return Object.entries(config.queues).map(
    ([name, options]) => new QueueConsumer(name, options, service, deliver, complain, isReady),
  );
}
