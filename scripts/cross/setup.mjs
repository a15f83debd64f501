// Prepares everything for building and testing targets, so that a machine can be offline afterwards:
//
//   node scripts/cross/setup.mjs [<target>...]
//
// The other scripts prepare what they need themselves.
import { execFileSync, spawnSync } from "node:child_process";
import { argumentsOf } from "../usage.mjs";
import { checkTargets, targets } from "./targets.mjs";
import { tools, zig } from "./tools.mjs";

/** Debian's packages that have to be installed, because they do not work from another folder. */
const packages = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "python3-venv", "llvm-19"];

const { positionals } = argumentsOf(import.meta.url, { allowPositionals: true });
const wanted = positionals.length > 0 ? positionals : Object.keys(targets);
checkTargets(wanted);

const families = new Map();
for (const { family } of wanted.map((name) => targets[name])) families.set(family, await import(`./${family}.mjs`));
install([...packages, ...[...families.values()].flatMap((family) => family.packages ?? [])]);
await zig();
for (const name of wanted) {
  const target = targets[name];
  const family = families.get(target.family);
  await family.prepare(target);
  await family.machine?.(name);
}
console.log(tools);

function install(all) {
  const missing = all.filter((name) => {
    const { stdout } = spawnSync("dpkg", ["-s", name], { encoding: "utf8" });
    return !stdout?.includes("install ok installed");
  });
  if (missing.length === 0) return;
  const [program, ...before] = process.getuid() === 0 ? ["apt-get"] : ["sudo", "apt-get"];
  execFileSync(program, [...before, "update", "-qq"], { stdio: "inherit" });
  execFileSync(program, [...before, "install", "-y", "-qq", "--no-install-recommends", ...missing], {
    stdio: "inherit",
  });
}
