/**
 * Consumers of queues: they lease messages of the sidecar `queue`, call the module's route with each, and report how it ended.
 * Messages that are leased when a process dies are delivered again when their lease ends.
 */
import { Consumer } from "./consumer.ts";
import type { Config } from "./project/config.ts";
import type { Runtime, RuntimeOptions } from "./runtime.ts";
import {
  type AskSidecar,
  asking,
  askService,
  findService,
  missingService,
  type SidecarService,
} from "./sidecar-service.ts";

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

/** A consumer of one queue, until it is closed. */
export class QueueConsumer {
  readonly #consumer: Consumer<Leased>;

  /**
   * @param complain reports a service that does not answer, once until it does
   * @param isReady reports whether the route can be called; nothing is leased before
   */
  constructor(
    name: string,
    { module, path, concurrency, maxAttempts, visibilityMs }: QueueOptions,
    service: AskSidecar,
    deliver: Deliver,
    complain: (message: string) => void,
    isReady: () => boolean = () => true,
  ) {
    const ask = (action: string, json: object) => askService(service, "POST", `/queue/${name}/${action}`, json);
    this.#consumer = new Consumer<Leased>({
      concurrency,
      isReady,
      lease: async (max) => {
        const asked = { max, visibility_ms: visibilityMs, max_attempts: maxAttempts };
        return ((await ask("lease", asked)) as { messages: readonly Leased[] }).messages;
      },
      settle: async ({ receipt, ...message }) => {
        const status = await deliver(module, path, JSON.stringify(message)).catch(() => 0);
        const lease = { id: message.id, receipt };
        if (status >= 200 && status <= 299) await ask("done", lease);
        else await ask("retry", { ...lease, attempts: message.attempts, max_attempts: maxAttempts });
      },
      leaseFailed: ({ message }) => complain(`the queue ${name} cannot be read: ${message}`),
      // It is delivered again when its lease ends.
      settleFailed: ({ message }) => complain(`a message of the queue ${name} could not be settled: ${message}`),
    });
  }

  /** Stops leasing, and resolves when the leased messages are handled. */
  close(): Promise<void> {
    return this.#consumer.close();
  }
}

/**
 * Finds the sidecar of a project's queues; `undefined` when it has none.
 *
 * @param options the runtime's options
 * @throws TenonError `CONFIG` when there are queues and no sidecar that has them
 */
export function queueServiceOf(
  config: Config,
  options: Pick<RuntimeOptions, "sidecars" | "secrets" | "env">,
): SidecarService | undefined {
  if (Object.keys(config.queues).length === 0) return undefined;
  const service = findService("queue", options);
  if (service === undefined) throw missingService("queues", "queue");
  return service;
}

/** Starts a consumer for each of `[queues]`, which calls the routes of a runtime. */
export function consumeQueues(
  config: Config,
  service: SidecarService | undefined,
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
    ([name, options]) => new QueueConsumer(name, options, asking(service, runtime), deliver, complain, isReady),
  );
}
