/** Consumers of `[queues]` and `[cron]`: `crates/jobs` leases messages and runs, and calls the routes of a runtime. */
import type { Consumers as NativeConsumers, WorkOptions } from "@tenon/native";
import { environmentOf } from "./embed/native-options.ts";
import type { Runtime } from "./embed/runtime.ts";
import type { RuntimeOptions } from "./embed/runtime-options.ts";
import { limits } from "./limits.ts";
import { fromNative, native } from "./native.ts";
import type { Tasks } from "./project/tasks.ts";
import type { Terminal } from "./terminal.ts";

/** The tasks of consumers, and the places of their sidecars. */
export interface Work {
  readonly tasks: Tasks;
  /** The options of the runtime. */
  readonly serving: Pick<RuntimeOptions, "sidecars" | "env" | "secrets" | "requestTimeoutMs">;
  /** True when the runtime gets its modules later, as in development: one that is not there is not reported. */
  readonly laterModules?: boolean;
}

/** Consumers that call the routes of a runtime, until they are closed. */
export class Consumers {
  readonly #consumers: NativeConsumers;
  readonly #runtime: Runtime;

  private constructor(consumers: NativeConsumers, runtime: Runtime) {
    this.#consumers = consumers;
    this.#runtime = runtime;
  }

  /**
   * Starts the consumers. The terminal shows sidecars that do not answer.
   *
   * @throws TenonError `CONFIG` for tasks without their sidecar, and for a token that no request can have
   */
  static async start(work: Work, runtime: Runtime, terminal: Terminal): Promise<Consumers> {
    const report = (step: string, message: string) => terminal.note(step, message);
    const options = await nativeWork(work, runtime);
    return new Consumers(await fromNative(native().Consumers.start(runtime.native, options, report)), runtime);
  }

  /**
   * Does other work from now on. Resolves when the former work that was leased is done.
   *
   * @throws TenonError as {@link start}; the former work goes on then
   */
  async change(work: Work): Promise<void> {
    await fromNative(this.#consumers.change(await nativeWork(work, this.#runtime)));
  }

  /** Leases nothing more, and resolves when all that was leased is done. */
  async close(): Promise<void> {
    await this.#consumers.close();
  }
}

/**
 * Makes the jobs of a project those of the service at an address.
 *
 * @throws TenonError `BACKEND` when the service does not answer, or refuses a job
 */
export async function declareJobs(address: string, tasks: Tasks): Promise<void> {
  await fromNative(native().declareJobs(address, JSON.stringify(tasks)));
}

async function nativeWork({ tasks, serving, laterModules = false }: Work, runtime: Runtime): Promise<WorkOptions> {
  return {
    tasks: JSON.stringify(tasks),
    sidecars: await runtime.sidecarAddresses(serving.sidecars ?? {}),
    env: environmentOf(serving.env, serving.secrets),
    requestTimeoutMs: serving.requestTimeoutMs ?? limits.request_timeout_ms.default,
    laterModules,
  };
}
