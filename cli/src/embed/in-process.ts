/** Sidecars in the process of a runtime: which there are, and the addresses that stand for them. */
import { TenonError } from "../errors.ts";
import { refuseWrongOptions } from "./check-options.ts";
import { hasOwnSidecars } from "./native-options.ts";
import type { InProcessSidecar, RuntimeOptions, Sidecars } from "./runtime-options.ts";
import { Sidecar } from "./sidecar.ts";

/** The sidecars in one process that one runtime is given. Those that are defined alike are one. */
export class InProcessSidecars {
  readonly #running = new Map<string, Promise<Sidecar>>();

  /**
   * Starts the sidecars of a runtime's options that do not run yet, and puts addresses in their places.
   *
   * @throws TenonError `CONFIG`, `BACKEND` or `FOLDER`; started sidecars are closed then
   */
  async place(options: RuntimeOptions): Promise<RuntimeOptions> {
    refuseWrongOptions(options);
    const before = new Set(this.#running.keys());
    try {
      const { sidecars, modules } = options;
      return {
        ...options,
        ...(sidecars === undefined ? {} : { sidecars: await this.#startAll(sidecars) }),
        modules: Array.isArray(modules) ? modules : await this.#placedModules(modules as Modules),
      };
    } catch (error) {
      await this.#close((key) => !before.has(key));
      throw error;
    }
  }

  /** Starts the sidecars of a module's options, as {@link place}. */
  async #placeModule<T>(module: T): Promise<T> {
    if (!hasOwnSidecars(module)) return module;
    return { ...module, sidecars: await this.#startAll(module.sidecars) };
  }

  /** Leaves those that options do not name to the requests that still use them. */
  async keep(options: RuntimeOptions): Promise<void> {
    const { sidecars = {}, modules } = options;
    const own = Array.isArray(modules) ? [] : Object.values(modules as Modules);
    const all = [sidecars, ...own.map((module) => (hasOwnSidecars(module) ? module.sidecars : {}))];
    const named = all.flatMap((each) => Object.values(each));
    const keys = new Set(named.map((each) => (typeof each === "string" ? each : keyOf(each))));
    for (const running of this.#remove((key) => !keys.has(key))) (await running.catch(() => undefined))?.release();
  }

  /**
   * Returns the addresses of sidecars that run.
   *
   * @throws TenonError `CONFIG` for one that does not
   */
  addresses(sidecars: Sidecars): Promise<Record<string, string>> {
    return addressesOf(sidecars, async (name, sidecar) => {
      const running = this.#running.get(keyOf(sidecar));
      if (running === undefined) throw new TenonError("CONFIG", `the sidecar ${name} does not run`);
      return running;
    });
  }

  /** Closes all of them. */
  close(): Promise<void> {
    return this.#close(() => true);
  }

  #placedModules(modules: Modules): Promise<Modules> {
    return mapped(modules, (_name, module) => this.#placeModule(module));
  }

  #startAll(sidecars: Sidecars): Promise<Record<string, string>> {
    // Each is in `#running` already, so one that still starts when another has failed is closed as well.
    return addressesOf(sidecars, (name, sidecar) => this.#start(name, sidecar));
  }

  async #start(name: string, sidecar: InProcessSidecar): Promise<Sidecar> {
    const key = keyOf(sidecar);
    const running = this.#running.get(key) ?? startInProcess(name, sidecar);
    this.#running.set(key, running);
    try {
      return await running;
    } catch (error) {
      this.#running.delete(key);
      throw error;
    }
  }

  async #close(isOver: (key: string) => boolean): Promise<void> {
    await Promise.all(this.#remove(isOver).map(async (running) => (await running.catch(() => undefined))?.close()));
  }

  #remove(isOver: (key: string) => boolean): Promise<Sidecar>[] {
    const over = [...this.#running].filter(([key]) => isOver(key));
    for (const [key] of over) this.#running.delete(key);
    return over.map(([, running]) => running);
  }
}

/** Returns the addresses of sidecars; `runningOf` gets those of this process. */
function addressesOf(
  sidecars: Sidecars,
  runningOf: (name: string, sidecar: InProcessSidecar) => Promise<Sidecar>,
): Promise<Record<string, string>> {
  return mapped(sidecars, async (name, sidecar) =>
    typeof sidecar === "string" ? sidecar : (await runningOf(name, sidecar)).address,
  );
}

/** Maps the values of a record, all at once. */
async function mapped<From, To>(
  record: Readonly<Record<string, From>>,
  map: (name: string, value: From) => Promise<To>,
): Promise<Record<string, To>> {
  const entries = Object.entries(record).map(async ([name, value]) => [name, await map(name, value)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * Starts a sidecar in this process.
 *
 * @param name its name in errors
 * @throws TenonError `CONFIG`, `BACKEND` or `FOLDER`
 */
export async function startInProcess(name: string, sidecar: InProcessSidecar): Promise<Sidecar> {
  const { run: kind, url, ...options } = sidecar;
  try {
    return await Sidecar.start({ ...options, kind, url: fromEnvironment(url) });
  } catch (error) {
    if (!(error instanceof TenonError)) throw error;
    throw new TenonError(error.code, `sidecars.${name}: ${error.message}`, error.hint, error);
  }
}

type Modules = Exclude<RuntimeOptions["modules"], readonly unknown[]>;

function keyOf(sidecar: InProcessSidecar): string {
  return JSON.stringify(Object.entries(sidecar).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A URL, or the value of the variable that `env:NAME` names. */
function fromEnvironment(url: string): string {
  if (!url.startsWith("env:")) return url;
  const variable = url.slice("env:".length);
  const value = process.env[variable];
  if (value !== undefined && value !== "") return value;
  throw new TenonError("CONFIG", `the environment variable ${variable} is not set, or empty`);
}
