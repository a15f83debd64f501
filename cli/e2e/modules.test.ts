/** Many modules in one `tenon run`, including invalid ones. */
import { spawnSync } from "node:child_process";
import { link, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "./http.ts";
import { helloProject, root, startTenon, tenon } from "./servers.ts";

const hello = join(helloProject, "dist/hello.wasm");
const hundred = Array.from({ length: 100 }, (_, i) => `m${i}`);

let folder: string;
beforeAll(async () => {
  // On the file system of the components: they are linked and not copied.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/modules-"));
  await mkdir(join(folder, "modules"));
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "many"\n[server]\nmax_concurrent = 8\n');
  await writeFile(join(folder, "modules/broken.wasm"), "no component");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("when none can be loaded it says why, once, and ends with 1", () => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, "run", "broken"], { cwd: folder, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr.match(/is not a component that can be compiled/g)).toHaveLength(1);
});

test("a hundred of them are served beside one that cannot be loaded", async () => {
  for (const name of hundred) await link(hello, join(folder, `modules/${name}.wasm`));
  const server = await startTenon(["m0"], "m0", folder);
  // They have one file of code, mapped a hundred times, of which every mapping has its share here.
  const resident = async () =>
    Number(/^Pss:\s+(\d+) kB/m.exec(await readFile(`/proc/${server.process.pid}/smaps_rollup`, "utf8"))?.[1]) / 1024;
  const before = await resident();
  for (const name of hundred) {
    const answer = await send(server.base, { path: `/run/${name}/hello/${name}` });
    expect(answer.json()).toEqual({ greeting: `Hello, ${name}!` });
  }
  process.stderr.write(
    `modules: ${hundred.length}, ${before.toFixed(0)} MiB, then ${(await resident()).toFixed(0)} MiB\n`,
  );
  expect((await send(server.base, { path: "/run/broken/" })).status).toBe(503);
  const health = (await send(server.base, { path: "/health" })).json() as { modules: Record<string, string> };
  expect(health).toMatchObject({ status: "degraded", modules: { broken: "failed", m7: "ready" } });
  expect(Object.keys(health.modules)).toHaveLength(hundred.length + 1);
  await server.stop();
  expect(server.errors().match(/is not a component that can be compiled/g)).toHaveLength(1);
});
