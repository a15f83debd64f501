/** The packages that deploy/Containerfile.with-node copies are enough for serving. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const containerfile = readFileSync(join(root, "deploy/Containerfile.with-node"), "utf8");
const [, list = ""] = /for package in (.*?);/.exec(containerfile) ?? [];

// Outside the repository, because packages would be found in its node_modules.
const folder = mkdtempSync(join(tmpdir(), "tenon-image-"));
beforeAll(() => {
  for (const name of list.split(" ").filter((each) => !each.includes("*"))) copy(name);
  writeFileSync(join(folder, "tenon.toml"), '[project]\nname = "shop"\n');
  mkdirSync(join(folder, "dist"));
  mkdirSync(join(folder, "modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function copy(name: string): void {
  const from = join(root, "node_modules", name);
  const to = join(folder, "node_modules", name);
  mkdirSync(dirname(to), { recursive: true });
  const isNeeded = (path: string) =>
    !/\/(?:src|test|e2e|npm|node_modules\/(?!\.)[^/]+\/node_modules)$/.test(path) && !path.endsWith(".node");
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: name.startsWith("tenon") || name.startsWith("@tenon") ? isNeeded : () => true,
  });
  for (const file of readdirSync(from)) if (file.endsWith(".node")) symlinkSync(join(from, file), join(to, file));
}

function tenon(...args: string[]): { status: number | null; output: string } {
  const command = join(folder, "node_modules/tenon/bin/tenon.js");
  const env = { PATH: process.env["PATH"], HOME: folder, NODE_PATH: "" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

test("the list names packages that exist", () => {
  expect(list).toContain("tenon");
  for (const name of list.split(" ").filter((each) => !each.includes("*"))) {
    expect(existsSync(join(root, "node_modules", name)), name).toBe(true);
  }
});

test("the runtime is loaded, and refuses a component that is none", () => {
  writeFileSync(join(folder, "dist/shop.wasm"), "no component");
  const { status, output } = tenon("run", "--port", "0");
  expect(output).toContain("is not a component that can be compiled");
  expect(status).toBe(1);
});

test("a registry is asked", () => {
  expect(tenon("run", "oci://127.0.0.1:1/team/shop:1.0").output).toContain(
    "cannot reach 127.0.0.1:1: nothing listens there",
  );
});

test.each(["sql", "kv", "storage", "queue", "cron", "http"])("the sidecar %s asks for its store", (kind) => {
  const { output } = tenon("sidecar", kind, "--listen", "127.0.0.1:0");
  expect(output).toContain("error:");
  expect(output).not.toMatch(/ERR_MODULE_NOT_FOUND|Cannot find|bug in tenon/);
});

test("the program that compiles the components finds what it imports", () => {
  const [, program = ""] = /RUN \["node", "--input-type=module", "-e", "(.*?)"\]/s.exec(containerfile) ?? [];
  const text = JSON.parse(`"${program.replace(/\\\n/g, "")}"`);
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", text], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(stderr).toContain("is not a component that can be compiled");
});
