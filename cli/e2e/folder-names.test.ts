/** Projects in folders whose names mean something to tools: patterns, fragments, quotes. Their files begin with a byte order mark. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { develop, developing, served } from "./develop.ts";
import { send } from "./http.ts";
import { root, startTenon, tenon } from "./servers.ts";

developing();

let folder: string;
beforeAll(async () => {
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/names-"));
});
afterAll(() => rm(folder, { recursive: true }));

const mark = "\ufeff";

const command = (cwd: string, ...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, ...args], { cwd, encoding: "utf8" });
  expect(status, stderr).toBe(0);
};

describe.each(["a*b", "[a] {b,c} (d|e)", "q? #1 100%41", "größe 漢 'x' \"y\" $HOME", "!x ~ +y@z"])("%s", (name) => {
  test("new, build, schema, run and dev", async () => {
    const at = join(folder, name);
    await mkdir(join(at, "src"), { recursive: true });
    command(at, "new", "made");
    expect(await readdir(join(at, "made"))).toContain("tenon.toml");
    const handler = `import { get, ok, routes, secret } from "@tenon/sdk";
import data from "./data.json";
export default routes({ it: get("/", () => ok({ value: data.value })), hi: get("/hi", () => ok(secret("greeting"))) });\n`;
    await writeFile(
      join(at, "tenon.toml"),
      `${mark}[project]\r\nname = "demo"\r\n\r\n[secrets]\r\ngreeting = "env:GREETING"\r\n`,
    );
    await writeFile(join(at, ".env"), `${mark}GREETING=hello\r\n`);
    await writeFile(join(at, "package.json"), `${mark}{ "name": "demo", "version": "1.2.3", "type": "module" }`);
    await writeFile(join(at, "tsconfig.json"), `${mark}{ "compilerOptions": { "strict": true, }, }`);
    await writeFile(join(at, "src/data.json"), `${mark}{ "value": 1 }`);
    await writeFile(join(at, "src/handler.ts"), mark + handler);
    command(at, "build", "-c");
    command(at, "schema");
    expect(JSON.parse(await readFile(join(at, "openapi.json"), "utf8"))).toMatchObject({ info: { version: "1.2.3" } });
    const running = await startTenon([join(at, "dist/demo.wasm")], "demo");
    const answer = await send(running.base, { path: "/run/demo/" }).finally(running.stop);
    expect(answer.json()).toEqual({ value: 1 });
    const { base } = await served(develop(at), "demo");
    const asked = async () => (await fetch(`${base}/`)).text();
    await expect.poll(asked, { timeout: 30_000 }).toBe('{"value":1}');
    expect(await (await fetch(`${base}/hi`)).json()).toBe("hello");
    await writeFile(join(at, "src/data.json"), '{ "value": 2 }');
    await expect.poll(asked, { timeout: 30_000 }).toBe('{"value":2}');
  });
});
