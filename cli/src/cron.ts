/**
 * Cron of a project: `[cron]` of `tenon.toml` is declared to the sidecar `cron`, whose runs a consumer leases. It calls the
 * module's route for each, and reports the answer. A run that is leased when a process dies gets its next attempt when its lease
 * ends.
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

/** A run as a lease gives it. */
export interface CronRun {
  readonly id: string;
  readonly job: string;
  /** The time of the schedule, in ISO 8601. */
  readonly due: string;
  /** Attempts, this one included. */
  readonly attempts: number;
  readonly module: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly receipt: string;
}

/** Calls the route of a run; the answer's status. */
export type CallRoute = (run: CronRun) => Promise<number>;

/** The jobs of a project, as the sidecar reads them. */
export interface Declaration {
  /** The project, whose former jobs are removed. */
  readonly owner: string;
  readonly jobs: readonly object[];
}

/** The parts that a consumer of cron uses. */
export interface CronOptions {
  readonly service: AskSidecar;
  /** Without one, the sidecar's jobs stay as they are. */
  readonly declaration?: Declaration | undefined;
  /** The modules that can be called now. */
  modules(): readonly string[];
  /** Longer than a call takes, in milliseconds. */
  readonly leaseMs: number;
  readonly call: CallRoute;
  /** Reports a sidecar that does not answer, once until it does. */
  complain(message: string): void;
  /** Reports whether routes can be called; nothing is leased before. */
  isReady?(): boolean;
}

/** Attempts of a run of a declared job. */
const MAX_ATTEMPTS = 3;

/** Runs that are called at the same time. */
const CONCURRENCY = 100;

/** The longest lease that the sidecar gives. */
const MAX_LEASE_MS = 24 * 3600 * 1000;

/** The time that is left to report the end of a call. */
const REPORT_MS = 30_000;

/** A consumer of cron, until it is closed. */
export class CronConsumer {
  readonly #consumer: Consumer<CronRun>;

  constructor({ service, declaration, modules, leaseMs, call, complain, isReady = () => true }: CronOptions) {
    let isDeclared = declaration === undefined;
    this.#consumer = new Consumer<CronRun>({
      concurrency: CONCURRENCY,
      isReady,
      lease: async (max) => {
        if (!isDeclared && declaration !== undefined) await declare(service, declaration);
        isDeclared = true;
        const asked = { modules: modules(), max, lease_ms: leaseMs };
        const { runs } = (await askService(service, "POST", "/cron-runs/lease", asked)) as { runs: readonly CronRun[] };
        return runs;
      },
      settle: async (run) => {
        const outcome = await call(run).then(
          (status) => ({ status }),
          (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
        );
        await askService(service, "POST", "/cron-runs/done", { id: run.id, receipt: run.receipt, ...outcome });
      },
      leaseFailed: ({ message }) => complain(`jobs cannot be read: ${message}`),
      // It gets its next attempt when its lease ends.
      settleFailed: ({ message }) => complain(`the end of a run could not be reported: ${message}`),
    });
  }

  /** Leases nothing more, and resolves when all runs that were leased are over. */
  close(): Promise<void> {
    return this.#consumer.close();
  }
}

/** Makes the jobs of a project those of its `tenon.toml`. */
export async function declare(service: AskSidecar, declaration: Declaration): Promise<void> {
  await askService(service, "PUT", "/cron-jobs", declaration);
}

/** The jobs of `[cron]`; `undefined` outside a project. */
export function declarationOf({ project, cron }: Config): Declaration | undefined {
  if (project.name === "") return undefined;
  const jobs = Object.entries(cron).map(([name, { schedule, timezone, module, path, method, body, catchUp }]) => ({
    name,
    schedule,
    timezone,
    module,
    path,
    method: method ?? (body === undefined ? "GET" : "POST"),
    ...(body === undefined ? {} : { body }),
    catch_up: catchUp,
    max_attempts: MAX_ATTEMPTS,
  }));
  return { owner: project.name, jobs };
}

/**
 * Finds the sidecar of cron; `undefined` when there is none.
 *
 * @param options the runtime's options
 * @throws TenonError `CONFIG` when there are jobs and no sidecar for them
 */
export function cronServiceOf(
  config: Config,
  options: Pick<RuntimeOptions, "sidecars" | "secrets" | "env">,
): SidecarService | undefined {
  const service = findService("cron", options);
  if (service === undefined && Object.keys(config.cron).length > 0) throw missingService("cron", "cron");
  return service;
}

/** Starts the consumer of a project's sidecar, which calls the routes of a runtime. */
export function consumeCron(
  config: Config,
  service: SidecarService | undefined,
  runtime: Runtime,
  complain: (message: string) => void,
  isReady: () => boolean = () => true,
): CronConsumer[] {
  if (service === undefined) return [];
  for (const [name, { module }] of isReady() ? Object.entries(config.cron) : []) {
    if (!runtime.modules.includes(module)) complain(`the job ${name} calls ${module}, which is not served here`);
  }
  const consumer = new CronConsumer({
    service: asking(service, runtime),
    declaration: declarationOf(config),
    modules: () => runtime.modules,
    leaseMs: Math.min(config.server.requestTimeoutMs + REPORT_MS, MAX_LEASE_MS),
    call: async ({ module, method, path, headers, body }) => {
      const answer = await runtime.fetch(`http://localhost/run/${module}${path}`, { method, headers, body });
      await answer.body?.cancel();
      return answer.status;
    },
    complain,
    isReady,
  });
  return [consumer];
}
