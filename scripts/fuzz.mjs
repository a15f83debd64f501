// Drives the fuzz targets: those of `crates/fuzz` by coverage (libFuzzer), those of `tenon.toml` with fast-check.
//
//   node scripts/fuzz.mjs [--seconds 20] [--corpus <folder>] [configuration | loading | headers | tapes | toml …]
//
// Interesting inputs are saved in the corpus folder, `target/fuzz` by default, and start the next run. A failing input
// is also saved there. Move it to `crates/fuzz/corpus/<target>` when its cause is fixed. Only the crates of this
// workspace are recompiled, with counters at their branches.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fail, root, run, say } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const inRust = ["configuration", "loading", "headers", "tapes"];
const inTypeScript = ["toml"];

const { values, positionals } = argumentsOf(import.meta.url, {
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "20" },
    corpus: { type: "string", default: join(root, "target/fuzz") },
  },
});
const known = [...inRust, ...inTypeScript];
const unknown = positionals.find((target) => !known.includes(target));
if (unknown !== undefined) fail(`there is no fuzz target ${unknown}; use ${known.join(", ")}`);
const targets = positionals.length > 0 ? positionals : known;

const binaries = inRust.filter((target) => targets.includes(target)).map((target) => `fuzz-${target}`);
if (binaries.length > 0) {
  say("Building the fuzz targets");
  const env = { ...process.env, RUSTC_WORKSPACE_WRAPPER: join(root, "scripts/counting-rustc") };
  const bins = binaries.flatMap((name) => ["--bin", name]);
  run("cargo", ["build", "--quiet", "--workspace", "--features", "tenon-fuzz/libfuzzer", ...bins], { env });
}
for (const target of targets) {
  say(`Fuzzing ${target} for ${values.seconds} s`);
  if (inTypeScript.includes(target)) {
    const env = { ...process.env, TENON_FUZZ_SECONDS: values.seconds };
    run("npx", ["vitest", "run", "--project", "cli", "cli/src/project/config.fuzz.test.ts"], { env });
  } else {
    drive(target);
  }
}

function drive(target) {
  const corpus = resolve(values.corpus, target);
  mkdirSync(corpus, { recursive: true });
  const options = [`-max_total_time=${values.seconds}`, "-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1"];
  options.push(`-seed=${process.env.TENON_FUZZ_SEED ?? 0}`); // 0: of the clock
  const args = [...options, `-artifact_prefix=${corpus}/failed-`, corpus, join(root, "crates/fuzz/corpus", target)];
  const { status, stderr } = spawnSync(binary(target), args, { encoding: "utf8", maxBuffer: 1 << 30 });
  const lines = stderr.split("\n");
  // The last statistics of a successful run: executions, branches reached, inputs kept.
  const told = status === 0 ? lines.filter((line) => / DONE |^stat::|^Done /.test(line)) : lines.slice(-60);
  process.stderr.write(`${told.join("\n")}\n`);
  if (status !== 0) fail(`fuzzing ${target} failed; the input is in ${corpus}`);
}

/** Returns a target's program. Cargo builds for an explicit target, and its folder is named after the platform. */
function binary(target) {
  const { stdout } = spawnSync("rustc", ["--print", "host-tuple"], { encoding: "utf8" });
  return resolve(root, process.env.CARGO_TARGET_DIR ?? "target", stdout.trim(), "debug", `fuzz-${target}`);
}
