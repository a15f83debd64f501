/** The log of errors that handlers print themselves. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { developing, project } from "./develop.ts";
import { startTenon, tenon } from "./servers.ts";

developing();

/** Builds a handler, asks it once, and returns its log. */
async function logOf(name: string, handler: string, ...flags: string[]): Promise<string> {
  const at = await project(name, handler);
  const built = spawnSync(process.execPath, [tenon, "build", ...flags], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
  const { base, errors, stop } = await startTenon([join(at, `dist/${name}.wasm`)], name, at);
  await (await fetch(`${base}/`)).text();
  await expect.poll(errors).toMatch(/nameOf\d?(?:@| \()src\/handler\.ts/);
  await stop();
  return errors();
}

const nameOf = `function nameOf(user?: { name: string }): string {
  return user!.name;
}
`;

test.each([
  ["release", ["-r"]],
  ["development", []],
])("Hono's own report of an exception has its stack, in a %s build", async (name, flags) => {
  const handler = `import { Hono } from "hono";
${nameOf}const app = new Hono();
app.get("/", (c) => c.text(nameOf()));
export default app;
`;
  const log = await logOf(`hono-${name}`, handler, ...flags);
  expect(log).toMatch(
    /ERROR TypeError: .+ (?:is|of) undefined .*request_id=.*\n +at nameOf\d? \(src\/handler\.ts:3:\d+\)\n/,
  );
});

test.each([
  ["release", ["-r"]],
  ["development", []],
])("console prints errors inside of values, fills placeholders and asserts, in a %s build", async (name, flags) => {
  const handler = `import { get, ok, routes } from "@tenon/sdk";
${nameOf}export default routes({
  all: get("/", () => {
    console.debug("of %s, %d", "debug", 7.5);
    console.assert(true, "never");
    console.assert(false, "%s is not", "it");
    try {
      nameOf();
    } catch (cause) {
      console.warn({ id: 7, error: new RangeError("outer", { cause }) });
    }
    return ok({});
  }),
});
`;
  const log = await logOf(`routes-${name}`, handler, ...flags);
  expect(log).toContain(" INFO of debug, 7 ");
  expect(log).toContain("ERROR Assertion failed: it is not ");
  expect(log).not.toContain("never");
  expect(log).toMatch(/ERROR \{ id: 7, error: "RangeError: outer" \}/);
  expect(log).toMatch(/request_id=.*\n +RangeError: outer\n +at <anonymous> \(src\/handler\.ts:13:\d+\)\n/);
  expect(log).toMatch(/\n +Caused by: TypeError: .+ (?:is|of) undefined\n +at nameOf\d? \(src\/handler\.ts:3:\d+\)\n/);
});
