/**
 * The addon, `tenon-server` and the tests have one wasmtime. The changes of cargo features in it, such as a proposal or a collector,
 * would otherwise be tried with one of them and served by another.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Wasmtime's own packages in what cargo resolves for these packages, each with its version and features. */
function wasmtime(...packages: readonly string[]): string[] {
  const args = ["tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p} {f}", ...packages];
  const { status, stdout, stderr } = spawnSync("cargo", args, { cwd: root, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const lines = stdout.split("\n").map((line) => line.replace(/ \(\*\)$/, ""));
  return [...new Set(lines)]
    .filter((line) => /^(?:wasmtime|cranelift|pulley|wasmparser|regalloc2)\b/.test(line))
    .sort();
}

test("the server has the same wasmtime, built alone or with everything else, as the addon has", () => {
  const [server, addon, all] = [
    wasmtime("-p", "tenon-server"),
    wasmtime("-p", "tenon-bindings"),
    wasmtime("--workspace"),
  ];
  expect(server.find((line) => line.startsWith("wasmtime v"))).toContain("gc,gc-null,");
  // The addon has wizer, which prepares engines, besides.
  const shared = (packages: readonly string[]) =>
    packages.filter((line) => !/^(?:wasmtime-wizer|wasmparser v0\.(?!254\.))/.test(line));
  expect(shared(addon)).toEqual(shared(server));
  expect(shared(all)).toEqual(shared(server));
});

test("the manifest names every feature of wasmtime that is on", () => {
  const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
  const [, named = ""] = /^wasmtime = \{[^[]*\[([^\]]*)\]/m.exec(manifest) ?? [];
  const names = [...named.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  const [line = ""] = wasmtime("--workspace").filter((each) => each.startsWith("wasmtime v"));
  const on = line.split(" ").at(-1)?.split(",") ?? [];
  // Optional dependencies that `std` turns on.
  expect(on.filter((name) => !["once_cell", "wasmtime-jit-icache-coherence"].includes(name))).toEqual(names);
});
