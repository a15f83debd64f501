import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemReason, TenonError } from "../errors.ts";

/**
 * The sign that a `tenon dev` of a project runs: the file `.tenon/running/<process id>`, which has the address of its
 * development services, and nothing while they start. `tenon migrate` finds the services by it. A process that was killed leaves its file; {@link othersRunning} tells such a one.
 */
export class RunningSign {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /**
   * Puts it up.
   *
   * @param folder the project's
   * @throws TenonError `FOLDER` when it can't be written
   */
  static async up(folder: string): Promise<RunningSign> {
    const file = join(signs(folder), String(process.pid));
    const sign = new RunningSign(file);
    try {
      await mkdir(signs(folder), { recursive: true });
    } catch (error) {
      throw new TenonError("FOLDER", `${signs(folder)} cannot be made: ${systemReason(error)}`, undefined, error);
    }
    await sign.name("");
    return sign;
  }

  /** Says where the services are. */
  async name(services: string): Promise<void> {
    try {
      await writeFile(this.#file, services);
    } catch (error) {
      throw new TenonError("FOLDER", `${this.#file} cannot be written: ${systemReason(error)}`, undefined, error);
    }
  }

  /** Takes it down. */
  async close(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}

/** The process ids of the other `tenon dev` that run in a project. Signs that killed ones have left are removed. */
export async function othersRunning(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir(signs(folder))) {
    const pid = Number(name);
    if (pid === process.pid || !/^[1-9][0-9]*$/.test(name)) continue;
    const file = join(signs(folder), name);
    const services = await readFile(file, "utf8").catch(() => "");
    if (isAlive(pid) && (services === "" || (await answers(services)))) found.push(pid);
    else await rm(file, { force: true });
  }
  return found;
}

/** The address of the development services of a project while `tenon dev` runs. */
export async function servicesOf(folder: string): Promise<string | undefined> {
  const names = await readdir(signs(folder)).catch(() => []);
  for (const name of names.filter((each) => /^[1-9][0-9]*$/.test(each) && isAlive(Number(each)))) {
    const services = await readFile(join(signs(folder), name), "utf8").catch(() => "");
    if (services !== "") return services;
  }
  return undefined;
}

function signs(folder: string): string {
  return join(folder, ".tenon", "running");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether anything is there: the number of a process that was killed may be another's by now. */
async function answers(services: string): Promise<boolean> {
  try {
    await fetch(`${services}/health`, { signal: AbortSignal.timeout(2000) });
    return true;
  } catch (error) {
    // One that is slow, or stopped in a debugger, is there.
    return (error as Error).name === "TimeoutError";
  }
}
