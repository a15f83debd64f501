/** The isolate driver of `@tanstack/ai-code-mode`, called as version 0.3.4 calls it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { createSandboxDriver } from "./tanstack.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  await (await runtime.sandbox()).close();
}, 300_000);
afterAll(() => runtime.close());

test("a context executes code with its bindings, until it is disposed of", async () => {
  const bindings = {
    external_add: {
      name: "add",
      description: "Adds.",
      execute: async (args: unknown) => {
        const { a, b } = args as { a: number; b: number };
        if (b < 0) throw new RangeError("b is negative");
        return { sum: a + b };
      },
    },
    "external_get-weather": { name: "get-weather", description: "", execute: async () => "fair" },
  };
  const context = await createSandboxDriver(runtime, { cpuMs: 200 }).createContext({
    bindings,
    timeout: 60_000,
    memoryLimit: 32,
  });
  const code = "const { sum } = await external_add({ a: 1, b: 2 });\nconsole.log('sum', sum);\nreturn sum;";
  expect(await context.execute(code)).toEqual({ success: true, value: 3, logs: ["sum 3"] });
  expect(await context.execute("return await external_add({ a: 1, b: -2 });")).toMatchObject({
    success: false,
    error: { name: "ToolError", message: "b is negative", code: "tool" },
  });
  expect(await context.execute("\nreturn undefined.x;")).toMatchObject({
    success: false,
    error: { name: "TypeError", code: "thrown", stack: expect.stringContaining("script.ts:2:") },
  });
  expect(await context.execute("for (;;);")).toMatchObject({ success: false, error: { code: "cpuMs" } });
  expect(await context.execute("new Uint8Array(40 << 20)")).toMatchObject({
    success: false,
    error: { code: "memoryBytes" },
  });
  expect(await context.execute("return external_get_weather();")).toMatchObject({ success: true, value: "fair" });
  await context.dispose();
  await expect(context.execute("1")).rejects.toMatchObject({ code: "REQUEST" });
});

test("the lower of two limits holds, and a wrong one is refused at once", async () => {
  const limits = { memoryBytes: 16 << 20, wallMs: 200 };
  const context = await createSandboxDriver(runtime, limits).createContext({ bindings: {}, memoryLimit: 64 });
  expect(await context.execute("new Uint8Array(20 << 20)")).toMatchObject({ error: { code: "memoryBytes" } });
  expect(await context.execute("await new Promise((r) => setTimeout(r, 20_000))")).toMatchObject({
    error: { code: "wallMs" },
  });
  await context.dispose();
  expect(() => createSandboxDriver(runtime, { cpu: 5 } as never)).toThrow("unknown limit `limits.cpu`");
});
