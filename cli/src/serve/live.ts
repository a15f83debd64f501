/** A running server: its configuration, and changes to it at run time. */
import { relative } from "node:path";
import { Consumers } from "../consumers.ts";
import { pathOf } from "../embed/module-source.ts";
import type { Runtime } from "../embed/runtime.ts";
import type { BudgetState } from "../embed/runtime-state.ts";
import { TenonError } from "../errors.ts";
import type { Pull, SetSource } from "../project/modules.ts";
import { tasksOf } from "../project/tasks.ts";
import type { Terminal } from "../terminal.ts";
import { type Configuration, readConfiguration } from "./configuration.ts";
import { fixedKeys } from "./fixed-keys.ts";

/** The parts of a {@link Live}. */
export interface LiveParts {
  /** Components from the command line. */
  readonly named: readonly string[];
  readonly pull: Pull;
  /** Pulls without printing, because repeated checks rarely find a change. */
  readonly pullQuietly: Pull;
  readonly runtime: Runtime;
  readonly terminal: Terminal;
}

/** A module in the output of `tenon ctl modules list`. */
export interface LiveModule {
  readonly name: string;
  /** `ready`, `loading` or `failed`. */
  readonly state: string;
  /** A reference or a path. */
  readonly source: string;
  readonly file: string;
  /** True when the source was set at run time. */
  readonly set: boolean;
  /** The previous sources, the newest last. */
  readonly before: readonly string[];
}

/** Serves one configuration after another. Changes run one at a time; a failed one has no effect. */
export class Live {
  readonly #parts: LiveParts;
  #state: Configuration;
  readonly #consumers: Consumers;
  #set: ReadonlyMap<string, SetSource> = new Map();
  readonly #before = new Map<string, SetSource[]>();
  /** The modules of the last failed refresh, which are not tried again. */
  #refused: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(state: Configuration, parts: LiveParts, consumers: Consumers) {
    this.#parts = parts;
    this.#state = state;
    this.#consumers = consumers;
  }

  /**
   * Starts the consumers of a configuration whose modules are served.
   *
   * @throws TenonError as {@link Consumers.start}
   */
  static async start(state: Configuration, parts: LiveParts): Promise<Live> {
    return new Live(state, parts, await Consumers.start(work(state), parts.runtime, parts.terminal));
  }

  /** Interval in milliseconds for resolving tags of registries again; undefined for never. */
  get refreshMs(): number | undefined {
    return this.#state.refreshMs;
  }

  /** Applies the current files of the project. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      const { named, pull, terminal } = this.#parts;
      const before = this.#state.config;
      await this.#change(await readConfiguration(named, pull, this.#set));
      const fixed = fixedKeys(before, this.#state.config);
      if (fixed.length > 0)
        terminal.note(
          "Restart",
          `is needed for ${fixed.map((key) => `server.${key}`).join(", ")}: they are unchanged until then`,
        );
    });
  }

  /** Resolves the tags of registries again, and applies components that have changed. */
  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      const next = await readConfiguration(this.#parts.named, this.#parts.pullQuietly, this.#set);
      const modules = JSON.stringify(next.modules);
      if (modules === JSON.stringify(this.#state.modules) || modules === this.#refused) return;
      this.#refused = modules;
      await this.#change(next);
      this.#refused = undefined;
    });
  }

  /** Serves a module from another source. */
  set(name: string, source: string): Promise<void> {
    return this.#inTurn(async () => {
      const former = this.#current(name);
      await this.#put(name, { source, configured: this.#state.config.modules[name]?.source });
      if (former !== undefined) this.#before.set(name, [...(this.#before.get(name) ?? []), former].slice(-KEPT));
    });
  }

  /**
   * Serves a module from its previous source, with the same file as before.
   *
   * @returns the source
   * @throws TenonError `CONFIG` when there is none
   */
  rollback(name: string): Promise<string> {
    return this.#inTurn(async () => {
      const former = this.#before.get(name)?.at(-1);
      if (former === undefined) throw new TenonError("CONFIG", `module ${name} has no previous source`);
      await this.#put(name, { ...former, configured: this.#state.config.modules[name]?.source });
      this.#before.set(name, this.#before.get(name)?.slice(0, -1) ?? []);
      return former.source;
    });
  }

  /** Lists all served modules. */
  async list(): Promise<LiveModule[]> {
    const health = await this.#parts.runtime.fetch("http://localhost/health");
    const { modules } = (await health.json()) as { modules: Readonly<Record<string, string>> };
    return Object.entries(modules).map(([name, state]) => {
      const { source = "", file = "" } = this.#current(name) ?? {};
      const before = (this.#before.get(name) ?? []).map((each) => each.source);
      return { name, state, source, file, set: this.#set.has(name), before };
    });
  }

  /** The remainders of the modules' budgets. */
  budgets(): BudgetState[] {
    return this.#parts.runtime.budgets();
  }

  /** Resolves when accepted messages and runs are done. */
  close(): Promise<void> {
    return this.#consumers.close();
  }

  /** Returns the source and file of a served module. */
  #current(name: string): SetSource | undefined {
    const { config, modules } = this.#state;
    const module = modules[name];
    if (module === undefined) return undefined;
    const file = typeof module === "string" ? module : pathOf(module.source);
    const configured = config.modules[name]?.source;
    return { source: this.#set.get(name)?.source ?? configured ?? relative(process.cwd(), file), file, configured };
  }

  async #put(name: string, source: SetSource): Promise<void> {
    const { named, pull } = this.#parts;
    const set = new Map(this.#set).set(name, source);
    await this.#change(await readConfiguration(named, pull, set));
    this.#set = set;
  }

  async #change(next: Configuration): Promise<void> {
    const { runtime, terminal } = this.#parts;
    await runtime.update({ ...next.serving, modules: next.modules });
    await this.#consumers.change(work(next));
    this.#state = next;
    // A source that changed in the file takes precedence.
    const isCurrent = ([name, { configured }]: [string, SetSource]) => next.config.modules[name]?.source === configured;
    this.#set = new Map([...this.#set].filter(isCurrent));
    terminal.note("Reload", `modules: ${runtime.modules.join(", ")}`);
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(change, change);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

/** Maximum number of previous sources of a module. */
const KEPT = 10;

/** Returns the part of a configuration that consumers use. */
function work({ config, serving }: Configuration) {
  return { tasks: tasksOf(config), serving };
}
