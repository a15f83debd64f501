/** Finds and runs weval, which specializes engines for `--aot`. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { TenonError } from "../errors.ts";

const run = promisify(execFile);

/** The supported version, and the hint when it is missing. */
const wanted = /^weval 0\.5\.\d+$/;
const hint = "install it with `cargo install weval --locked --version 0.5.1`, or name it in TENON_WEVAL";

/** The stack of its threads, which recurse over large functions: 64 MiB each, as far as it is used. */
const stack = String(64 * 1024 * 1024);

/**
 * Finds weval, the partial evaluator of `tenon build --aot`: a separate program, named by `TENON_WEVAL` or on the path.
 *
 * @returns its file or name
 * @throws TenonError `WEVAL` when it is missing, or of another version than 0.5
 */
export async function findWeval(): Promise<string> {
  const named = process.env["TENON_WEVAL"] || undefined;
  const program = named ?? "weval";
  let version: string;
  try {
    version = (await run(program, ["--version"])).stdout.trim();
  } catch (error) {
    const where = named === undefined ? "there is no weval on the path" : `TENON_WEVAL, ${named}, cannot be run`;
    throw new TenonError("WEVAL", `--aot needs weval, and ${where}`, hint, error);
  }
  if (!wanted.test(version)) throw new TenonError("WEVAL", `--aot needs weval 0.5, and ${program} is ${version}`, hint);
  return program;
}

/**
 * Makes weval specialize the functions of a module to the content of the module's memory. It computes for some seconds
 * on all cores, in a process of its own that does not outlive this one.
 *
 * @param program the result of {@link findWeval}
 * @throws TenonError `WEVAL` with its output when it fails
 */
export async function specialize(program: string, module: Uint8Array): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-"));
  const [before, after] = [join(folder, "before.wasm"), join(folder, "after.wasm")];
  try {
    await writeFile(before, module);
    const running = run(program, ["weval", "-i", before, "-o", after], {
      env: { ...process.env, RUST_MIN_STACK: stack },
    });
    const stop = () => running.child.kill();
    process.once("exit", stop);
    await running.finally(() => process.off("exit", stop));
    return await readFile(after);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new TenonError("WEVAL", `weval failed: ${stderr?.trim() || (error as Error).message}`, undefined, error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
