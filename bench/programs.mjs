// Programs for benchmarks: servers that print a first line, and wrk.
import { execFile, execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The folder of the programs that `cargo build --workspace --examples` makes. */
export const examples = join(
  resolve(root, process.env.CARGO_TARGET_DIR ?? "target"),
  "x86_64-unknown-linux-gnu/debug/examples",
);

/** Resolves to the first line of a program's output. Rejects when it ends without one or cannot be started. */
export function firstLine(child) {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
      if (output.includes("\n")) resolve(output.slice(0, output.indexOf("\n")));
    });
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
    child.once("error", reject);
  });
}

/** Number of wrk's connections. */
export const connections = 16;

/**
 * Loads a URL with wrk, on one thread.
 *
 * @param duration in seconds
 * @param more additional arguments of wrk
 * @returns the number of answers, answers per second, and latencies in milliseconds
 * @throws when an answer is not a success
 */
export function wrk(url, duration, more) {
  return succeeded(url, results(execFileSync("wrk", wrkArguments(url, duration, more), { encoding: "utf8" })));
}

/**
 * Does the same as {@link wrk} without blocking. Answers that are not successes count in `failed` and are not errors.
 */
export async function wrkLater(url, duration, more) {
  return results((await promisify(execFile)("wrk", wrkArguments(url, duration, more))).stdout);
}

function wrkArguments(url, duration, more) {
  return ["-t", "1", "-c", String(connections), "-d", `${duration}s`, "--latency", ...more, url];
}

function succeeded(url, result) {
  if (result.failed > 0) throw new Error(`${url}: ${result.failed} requests failed`);
  return result;
}

function results(output) {
  const found = (pattern) => pattern.exec(output)?.slice(1) ?? [];
  const ms = ([value, unit]) => Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit];
  return {
    failed: Number(found(/Non-2xx or 3xx responses: (\d+)/)[0] ?? 0),
    count: Number(found(/(\d+) requests in/)[0]),
    rate: Number(found(/Requests\/sec:\s+([\d.]+)/)[0]),
    p50: ms(found(/50%\s+([\d.]+)(us|ms|s)/)),
    p99: ms(found(/99%\s+([\d.]+)(us|ms|s)/)),
  };
}
