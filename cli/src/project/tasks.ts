/** `[queues]` and `[cron]` of a project, as `crates/jobs` reads them. */

import type { Sidecars } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import { sidecarVariable } from "./config/addresses.ts";
import type { Config } from "./config.ts";

/** Queues and jobs, in the form of `server.json`. */
export interface Tasks {
  /** The routes that handle messages, by the names of queues. */
  readonly queues: Config["queues"];
  /** Left out outside a project: the jobs of the sidecar stay as they are. */
  readonly cron?: {
    /** The project, whose former jobs are removed. */
    readonly owner: string;
    readonly jobs: readonly object[];
  };
}

/** Attempts of a run of a declared job. */
const MAX_ATTEMPTS = 3;

/** The queues and jobs of a project. */
export function tasksOf({ project, queues, cron }: Config): Tasks {
  if (project.name === "") return { queues };
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
  return { queues, cron: { owner: project.name, jobs } };
}

/** Reports whether one of the sidecars has a name. */
export function hasSidecar(name: string, sidecars: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(sidecars).some((each) => sidecarVariable(each) === sidecarVariable(name));
}

/**
 * Checks that queues and jobs have their sidecars.
 *
 * @throws TenonError `CONFIG` for a section of `tenon.toml` without its sidecar
 */
export function refuseMissingSidecars({ queues, cron }: Config, sidecars: Sidecars = {}): void {
  const sections = [
    ["queues", "queue", queues],
    ["cron", "cron", cron],
  ] as const;
  for (const [section, name, entries] of sections) {
    if (Object.keys(entries).length === 0 || hasSidecar(name, sidecars)) continue;
    throw new TenonError(
      "CONFIG",
      `there is [${section}] in tenon.toml, and no sidecar \`${name}\``,
      `write ${name} = { run = "${name}", url = "env:DATABASE_URL" } under [sidecars]; or run \`tenon sidecar ${name}\`, and ` +
        `write ${name} = "unix:///run/${name}.sock"`,
    );
  }
}
