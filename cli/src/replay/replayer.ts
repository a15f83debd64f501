/** Replays of recordings: in the component of their digest, or in another build of it. */
import { access, constants } from "node:fs/promises";
import type { Runtime as NativeRuntime } from "@tenon/native";
import { defaultCacheFolder } from "../cache-folder.ts";
import { systemReason, TenonError } from "../errors.ts";
import { compilerCommand, fromNative, native } from "../native.ts";
import { findProject } from "../project/project.ts";
import { componentsOf } from "./components.ts";

/** The first difference between a recording and its replay. */
export interface Difference {
  /**
   * `event` when the guest did something else, `new` when another build asked for something that was not recorded, `memory` when only
   * the digest differs, `endless` when the guest did not end.
   */
  readonly kind: "event" | "new" | "memory" | "endless";
  /** The number of the event, from 0. */
  readonly event: number;
  readonly recorded: string;
  readonly replayed: string;
  /** The part that differs, where both are of one kind. */
  readonly part: string | null;
  /** The last call or log line before it. */
  readonly after: string | null;
  /** The place in the sources where the program caused it; of an answer and of memory, the last place before it. */
  readonly place: string | null;
  /** The call that the guest made in the place of the recorded event. */
  readonly asked: { readonly method: string; readonly url: string } | null;
}

/** A difference of another build. */
export interface Change {
  /**
   * `status`, `header <name>`, `body …`, or the JSON pointer of a member; `call <number>` and `result of call <number>` of those that the
   * other build does not ask for; `log line <number>`.
   */
  readonly part: string;
  readonly recorded: string | null;
  readonly replayed: string | null;
}

/** A line of a guest's log. */
export interface LogLine {
  readonly isError: boolean;
  readonly text: string;
}

/** The outcome of a replay. Another build's has its log. */
export type Replayed = { readonly comparedMemory: boolean; readonly log?: readonly LogLine[] } & (
  | { readonly verdict: "same" }
  | { readonly verdict: "differs" | "asks"; readonly found: Difference }
  | { readonly verdict: "changed"; readonly found: readonly Change[] }
);

/** A recording that cannot be replayed: it is damaged, its component is not there, or it needs more memory than the module may have. */
export interface NotReplayed {
  readonly verdict: "failed";
  readonly failure: string;
}

/** Replays recordings, each component loaded once. */
export class Replayer {
  readonly #runtimes = new Map<string, Promise<NativeRuntime>>();
  #found: Promise<ReadonlyMap<string, string>> | undefined;

  /**
   * Replays a recording in its component.
   *
   * @param digest the component's
   * @param module the component's file; one of the project with this digest when left out
   * @throws TenonError `RECORDING` when there is no such component
   */
  async replay(tape: Buffer, digest: string, module?: string): Promise<Replayed> {
    const file = module ?? (await this.#components()).get(digest);
    if (file === undefined) {
      throw new TenonError(
        "RECORDING",
        `no component of this project has the digest ${digest}`,
        "it was built again since, or elsewhere: build the recorded sources, give the recorded component with --module, or compare " +
          "another build with --against",
      );
    }
    return this.#run(file, tape, false).catch((error: unknown) => {
      if (!(error instanceof TenonError) || !error.message.endsWith(" is of another component")) throw error;
      const message = `${error.message}, whose digest is ${digest}`;
      throw new TenonError(error.code, message, "--against compares the recording with another build");
    });
  }

  /** Replays a recording in another build. */
  against(tape: Buffer, module: string): Promise<Replayed> {
    return this.#run(module, tape, true);
  }

  /**
   * Loads a component.
   *
   * @throws TenonError `USAGE` when the file cannot be read, and the codes of the addon when it is no component
   */
  async load(file: string): Promise<void> {
    await access(file, constants.R_OK).catch((error: unknown) => {
      throw new TenonError("USAGE", `cannot read ${file}: ${systemReason(error)}`);
    });
    await this.#loaded(file);
  }

  close(): void {
    for (const runtime of this.#runtimes.values()) runtime.then((loaded) => loaded.release()).catch(() => {});
  }

  async #run(file: string, tape: Buffer, isOther: boolean): Promise<Replayed> {
    const runtime = await this.#loaded(file);
    return JSON.parse(await fromNative(runtime.replay(name, tape, isOther))) as Replayed;
  }

  #loaded(file: string): Promise<NativeRuntime> {
    const runtime = this.#runtimes.get(file) ?? load(file);
    this.#runtimes.set(file, runtime);
    return runtime;
  }

  /** The components of the project, by their digests. */
  #components(): Promise<ReadonlyMap<string, string>> {
    this.#found ??= findProject(process.cwd()).then((project) => componentsOf(project?.folder ?? process.cwd()));
    return this.#found;
  }
}

/** The name of the module in the runtime of a replay. */
const name = "replayed";

async function load(path: string): Promise<NativeRuntime> {
  const compiler = compilerCommand();
  const loaded = fromNative(
    native().Runtime.create({
      modules: [{ name, path }],
      replays: true,
      logLevel: "error",
      cacheDir: defaultCacheFolder(),
      ...(compiler === undefined ? {} : { compiler }),
    }),
  );
  return loaded.catch((error: unknown) => {
    if (!(error instanceof TenonError)) throw error;
    // The user has named a file, and not the module that it is here.
    throw new TenonError(error.code, error.message.replace(`module ${name}: `, ""), error.hint, error);
  });
}
