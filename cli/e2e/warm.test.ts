/** Routes with `warm`: the build calls their handlers, and the component contains the results. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { developing, project } from "./develop.ts";
import { tenon } from "./servers.ts";

developing();

const handler = `
import { cache, env, get, ok, random, routes } from "@tenon/sdk";

const { getRandomValues } = crypto;
const state = { calls: 0, refused: "", variable: env === undefined ? "" : "none" };

export default routes({
  warm: get("/warm", { warm: true }, async () => {
    state.calls++;
    try {
      random.uuid();
    } catch (error) {
      state.refused = error.message;
    }
    state.variable = env("NAME") ?? "empty";
    await new Promise((done) => setTimeout(done, 10_000_000));
    return ok({ found: (await cache.get("x")) !== undefined });
  }),
  state: get("/state", () => ok(state)),
  KIND
});
`;

/** Builds a project, and returns the build's output and the answer of `/state`. */
async function built(name: string, more: string): Promise<{ printed: string; state: unknown; again: unknown }> {
  const at = await project(name, handler.replace("KIND", more), "");
  const build = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: at, encoding: "utf8" });
  expect(build.status, build.stderr).toBe(0);
  await using runtime = await Runtime.create({ modules: [join(at, `dist/${name}.wasm`)], env: { NAME: "value" } });
  const state = async () => (await runtime.fetch(`http://localhost/run/${name}/state`)).json();
  return { printed: build.stdout + build.stderr, state: await state(), again: await state() };
}

test("a handler is called once, with an empty environment and no random values", async () => {
  const { printed, state, again } = await built("warms", "");
  expect(state).toEqual({ calls: 1, refused: expect.stringContaining("the same random values"), variable: "empty" });
  expect(again).toEqual(state);
  expect(printed).not.toContain("warning");
});

test("a handler that ends the engine is told, and leaves the component as it was", async () => {
  const draws = 'draws: get("/draws", { warm: true }, () => ok([getRandomValues.call(crypto, new Uint8Array(4))[0]])),';
  const { printed, state } = await built("draws", draws);
  expect(printed).toContain("warning: the component is not warmed up: a handler asks the host for");
  expect(state).toMatchObject({ calls: 0 });
  const endless = 'endless: get("/endless", { warm: true }, () => { for (;;); }),';
  expect((await built("endless", endless)).printed).toContain("the handlers took longer than 5 s");
});
