/** Arguments of scripts/cross: each script has a usage, and a wrong argument has a message. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

function script(name: string, ...args: string[]) {
  const file = join(root, "scripts/cross", `${name}.mjs`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

test.each(["setup", "build", "test", "inspect"])("%s.mjs names its usage and wrong arguments", (name) => {
  const help = script(name, "--help");
  expect(help).toMatchObject({ status: 0, stderr: "" });
  expect(help.stdout).toContain(`node scripts/cross/${name}.mjs`);
  expect(script(name, "linux-x65")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^tenon: linux-x65 must be one of linux-x64-gnu, .*\n$/),
  });
  const option = script(name, "linux-x64-musl", "--nonsense");
  expect(option).toMatchObject({ status: 1, stderr: "tenon: Unknown option '--nonsense'; --help has the usage\n" });
});

test("a target must be named and built", () => {
  for (const name of ["build", "test", "inspect"])
    expect(script(name).stderr).toMatch(/^tenon: name a target: linux-x64-gnu, /);
  expect(script("build", "linux-x64-musl", "--profile", "fast").stderr).toBe(
    "tenon: --profile must be one of dist, dev\n",
  );
  const target = "darwin-x64";
  if (existsSync(join(root, `bindings/npm/${target}/tenon.${target}.node`))) return;
  expect(script("inspect", target).stderr).toBe(
    `tenon: ${target} must be built first: node scripts/cross/build.mjs ${target}\n`,
  );
});
