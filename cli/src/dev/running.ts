/** Files by which other programs find a running `tenon dev`. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemReason, TenonError } from "../errors.ts";

/**
 * A file that marks a running `tenon dev` of a project: `.tenon/running/<process id>`. It has the address of the
 * development services, and is empty while they start. `tenon migrate` uses it to find the services. A killed process
 * leaves its file, and {@link othersRunning} removes it.
 */
export class RunningSign {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /**
   * Writes the file.
   *
   * @param folder the project's folder
   * @throws TenonError `FOLDER` when the file can't be written
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

  /** Writes the address of the services. */
  async name(services: string): Promise<void> {
    try {
      await writeFile(this.#file, services);
    } catch (error) {
      throw new TenonError("FOLDER", `${this.#file} cannot be written: ${systemReason(error)}`, undefined, error);
    }
  }

  /** Removes the file. */
  async close(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}

/** Returns the process ids of other running `tenon dev` of a project. Removes the files of killed ones. */
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

/** Returns the address of the development services of a project while `tenon dev` runs. */
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

/** Returns whether the services answer. The process id of a killed one may be another's by now. */
async function answers(services: string): Promise<boolean> {
  try {
    await fetch(`${services}/health`, { signal: AbortSignal.timeout(2000) });
    return true;
  } catch (error) {
    // Slow services, or ones stopped in a debugger, still run.
    return (error as Error).name === "TimeoutError";
  }
}
