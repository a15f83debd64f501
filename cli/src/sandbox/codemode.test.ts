/** The executor of `@cloudflare/codemode`, called as `createCodeTool` of version 0.5.6 calls it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { SandboxExecutor } from "./codemode.ts";

let runtime: Runtime;
let executor: SandboxExecutor;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  executor = new SandboxExecutor(await runtime.sandbox({ limits: { cpuMs: 300, calls: 10 } }));
}, 300_000);
afterAll(() => runtime.close());

const fns = {
  add: async (args: unknown) => {
    const { a, b } = args as { a: number; b: number };
    return a + b;
  },
  fails: async () => {
    throw new Error("not today");
  },
};

test("code calls the functions of providers", async () => {
  const code = "async () => { console.log('adding'); return await codemode.add({ a: 1, b: 2 }); }";
  expect(await executor.execute(code, [{ name: "codemode", fns }])).toEqual({ result: 3, logs: ["adding"] });
  expect(await executor.execute("const n = await codemode.add({ a: 4, b: 4 });\nreturn n;", fns)).toMatchObject({
    result: 8,
  });
  const two = [
    { name: "one", fns },
    { name: "two", fns, prelude: "globalThis.twice = (n) => two.add({ a: n, b: n });" },
  ];
  expect(await executor.execute("async () => [await one.add({ a: 1, b: 1 }), await twice(5)]", two)).toMatchObject({
    result: [2, 10],
  });
});

test("names, arguments and preludes are those of the package's own executors", async () => {
  const called: unknown[] = [];
  const note =
    (name: string) =>
    async (...args: unknown[]) => {
      called.push([name, ...args]);
      return name;
    };
  const odd = { "get-weather": note("get-weather"), delete: note("delete"), "7": note("7"), process: note("process") };
  const prelude = "codemode.step = (n) => codemode.delete_(n, 'step')";
  const run = (code: string) => executor.execute(code, [{ name: "codemode", fns: odd, prelude }]);
  const all =
    "[await codemode.get_weather(1, [2]), await codemode._7(), await codemode.process([3]), await codemode.step(4)]";
  expect(await run(`async () => ${all}`)).toEqual({ result: ["get-weather", "7", "process", "delete"], logs: [] });
  expect(called).toEqual([["get-weather", 1, [2]], ["7"], ["process", [3]], ["delete", 4, "step"]]);
  expect(await run("(async () => [typeof codemode.then, 'step' in codemode, 'nope' in codemode])()")).toMatchObject({
    result: ["undefined", true, false],
  });
  for (const name of ["nope", "toString", "constructor", "__proto__"])
    expect(await run(`async () => codemode.${name}()`)).toMatchObject({ error: `Tool "${name}" not found` });
  expect(await executor.execute("1", { "a-b": note(""), a_b: note("") })).toMatchObject({
    error: 'the tools "a-b" and "a_b" have the same identifier, a_b',
  });
  expect(
    await executor.execute("1", [
      { name: "a", fns },
      { name: "a", fns },
    ]),
  ).toMatchObject({
    error: "two providers have the same name",
  });
});

test("every failure is an error of the result", async () => {
  const run = (code: string) => executor.execute(code, [{ name: "codemode", fns }]);
  expect(await run("async () => { throw new Error('oh') }")).toMatchObject({ result: undefined, error: "oh" });
  expect(await run("async () => codemode.fails()")).toMatchObject({ error: "not today" });
  expect(await run("async () => { for (;;); }")).toMatchObject({ error: expect.stringContaining("cpuMs") });
  expect(await run("async () => {")).toMatchObject({ result: undefined, error: expect.any(String) });
  expect(await executor.execute("1", [{ name: "not-a-name", fns }])).toMatchObject({
    error: expect.stringContaining("identifier"),
  });
});
