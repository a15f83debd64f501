import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { namedModules } from "./modules.ts";
import type { Project } from "./project.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-modules-"));
  await mkdir(join(folder, "modules"));
  await writeFile(join(folder, "key"), "from a file\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const file = (name: string) => join(folder, "modules", `${name}.wasm`);
const noPull = (reference: string): Promise<string> => Promise.reject(new Error(`pulled ${reference}`));

function project(toml: string): Project {
  const config = parseConfig(`[project]\nname = "own"\n${toml}`, "tenon.toml", {});
  const at = (name: string) => join(folder, name);
  return {
    folder,
    config,
    source: at("src/handler.ts"),
    component: at("dist/own.wasm"),
    composed: at("dist/own-composed.wasm"),
    sourceMap: at("dist/own.wasm.map"),
    scratch: at(".tenon"),
  };
}

test("each module gets its own policy, and a source wins over a file in modules/", async () => {
  const config = `
[modules.shop]
mount = "/shop"
host = "shop.example"
isolation = "shared"
max_concurrent = 3
request_timeout_ms = 50
env = { MODE = "shop" }
sidecars = {}
outbound = { allow = ["api.example"] }
[modules.shop.secrets]
KEY = "file:key"
TOKEN = "env:SHOP_TOKEN"
[modules.far]
source = "oci://registry.example/team/far:1.0"
[modules.moved]
source = "elsewhere/any.wasm"
`;
  const pulled: string[] = [];
  const pull = async (reference: string) => {
    pulled.push(reference);
    return "/cache/far.wasm";
  };
  const files = ["shop", "plain", "moved"].map(file);
  const modules = await namedModules(files, [], project(config), { SHOP_TOKEN: "t" }, pull);
  expect(modules).toEqual({
    shop: {
      source: file("shop"),
      mount: "/shop",
      host: "shop.example",
      isolation: "shared",
      limits: { maxConcurrent: 3, requestTimeoutMs: 50 },
      env: { MODE: "shop" },
      secrets: { KEY: "from a file", TOKEN: "t" },
      sidecars: {},
      outbound: { allow: ["api.example"] },
    },
    plain: file("plain"),
    far: { source: "/cache/far.wasm", limits: {} },
    moved: { source: join(folder, "elsewhere/any.wasm"), limits: {} },
  });
  expect(pulled).toEqual(["oci://registry.example/team/far:1.0"]);
  const named = await namedModules(files, [file("moved")], project(config), { SHOP_TOKEN: "t" }, pull);
  expect(named["moved"]).toEqual({ source: file("moved"), limits: {} });
});

test("a policy without a component, a name that two files have and a missing secret are errors", async () => {
  const refused = (toml: string, files: string[] = []) => namedModules(files, [], project(toml), {}, noPull);
  await expect(refused("[modules.none]")).rejects.toMatchObject({
    code: "CONFIG",
    message: "[modules.none] has no `source`, and neither the project nor a file in modules/ is called none",
  });
  // The project's own component is not served when the command names others.
  await expect(refused("[modules.own]")).resolves.toEqual({});
  await expect(refused("", [file("a"), file("a-composed")])).rejects.toThrow("two modules are called a; rename one");
  await expect(refused('[modules.a.secrets]\nKEY = "env:NONE"', [file("a")])).rejects.toThrow(
    "modules.a.secrets.KEY: the environment variable NONE is not set",
  );
});
