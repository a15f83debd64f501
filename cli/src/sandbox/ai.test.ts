/** The tool for the AI SDK, in the hands of the real package with a model that is a script. */
import { field, Type } from "@tenon/sdk";
import { generateText, stepCountIs, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { type SandboxToolOptions, sandboxTool } from "./ai.ts";
import type { Sandbox } from "./sandbox.ts";
import { tool } from "./tool.ts";

let runtime: Runtime;
let sandbox: Sandbox;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  const find = tool({
    input: Type("Find", { id: field.u32() }),
    output: Type("Person", { name: field.string() }),
    description: "Finds a person.",
    run: ({ id }, { context }) => ({ name: `${context ?? "person"} ${id}` }),
  });
  sandbox = await runtime.sandbox({ tools: { crm: { find } }, limits: { cpuMs: 300 } });
}, 300_000);
afterAll(() => runtime.close());

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Lets a model call the tool with the code, and returns what the model is given then, and what it was told of the tool. */
async function run(code: string, options?: SandboxToolOptions) {
  const prompts: unknown[] = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt, tools }) => {
      prompts.push(prompt.at(-1), tools);
      const isFirst = prompts.length === 2;
      return {
        content: isFirst
          ? [{ type: "tool-call", toolCallId: "1", toolName: "run", input: JSON.stringify({ code }) }]
          : [{ type: "text", text: "done" }],
        finishReason: { unified: isFirst ? "tool-calls" : "stop", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const tools = { run: sandboxTool(sandbox, options) } satisfies ToolSet;
  const { text, steps } = await generateText({ model, prompt: "Who is 7?", tools, stopWhen: stepCountIs(3) });
  expect(text).toBe("done");
  return { result: steps[0]?.toolResults[0]?.output, told: prompts[1], given: prompts[2] };
}

test("a model runs code with the tools of the sandbox, and reads its value", async () => {
  const { result, told, given } = await run(
    "const { name } = await crm.find({ id: 7 });\nconsole.log(name);\n[name, 2]",
  );
  expect(result).toEqual({ value: ["person 7", 2], logs: ["person 7"] });
  expect(given).toMatchObject({
    role: "tool",
    content: [{ toolName: "run", output: { type: "json", value: result } }],
  });
  expect(told).toMatchObject([
    {
      name: "run",
      description: expect.stringContaining("find(input: { id: number }): Promise<{ name: string }>"),
      inputSchema: { type: "object", required: ["code"], additionalProperties: false },
    },
  ]);
});

test("a failure is a result", async () => {
  const ended = async (code: string) => (await run(code)).result;
  expect(await ended("for (;;);")).toMatchObject({ error: { kind: "limit", limit: "cpuMs" }, logs: [] });
  expect(await ended("1;\nnull.x")).toMatchObject({ error: { kind: "thrown", line: 2 } });
  expect(await ended("let let")).toMatchObject({ error: { kind: "syntax" } });
  expect(await ended("console.error('!'); crm.find({ id: 'x' })")).toMatchObject({
    error: { kind: "tool" },
    logs: ["error: !"],
  });
});

test("code may be the body of a function, and bytes are base64", async () => {
  const code = "return { bytes: new Uint8Array([1, 2]), date: new Date(0), nothing: undefined }";
  expect((await run(code)).result).toEqual({
    value: { bytes: "AQI=", date: new Date(0), nothing: null },
    logs: [],
  });
});

test("tools get the context, and an abort ends the code", async () => {
  const { result } = await run("(await crm.find({ id: 1 })).name", { context: "user", description: "Runs code." });
  expect(result).toMatchObject({ value: "user 1" });
  const abortSignal = AbortSignal.abort();
  const { execute, description } = sandboxTool(sandbox, { description: "Runs code." });
  expect([description, await execute({ code: "1" }, { abortSignal })]).toMatchObject([
    "Runs code.",
    { error: { kind: "aborted" } },
  ]);
});
