/** The embedding API in another realm than Node's own, as in Jest with ES modules and in Vitest's pool `vmThreads`. */
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Runtime, Sidecar, TenonError } from "../../src/index.ts";

const create = (options: Partial<Parameters<typeof Runtime.create>[0]> = {}) =>
  Runtime.create({ modules: [], maxConcurrent: 4, cacheFolder: false, logLevel: "off", ...options });

async function failureOf(promise: Promise<unknown>): Promise<TenonError> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(TenonError);
  return failure as TenonError;
}

test("errors of Node are of another class here", () => {
  let thrown: unknown;
  try {
    readFileSync("/nowhere/at/all");
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeDefined();
  expect(thrown instanceof Error).toBe(false);
});

test("failures of the addon are TenonErrors with their codes and hints", async () => {
  expect(await failureOf(create({ modules: ["/nowhere/a.wasm"] }))).toMatchObject({ code: "MODULE_READ" });
  const listen = `unix:///nowhere/at/all.sock`;
  const refused = await failureOf(Sidecar.start({ kind: "sql", url: "sqlite::memory:", listen, logLevel: "off" }));
  expect(refused.code).toMatch(/^[A-Z_]+$/);
  const runtime = await create();
  const { port } = await runtime.listen();
  const taken = await failureOf(runtime.listen({ port }));
  expect([taken.code, taken.hint]).toEqual(["ADDRESS_IN_USE", expect.stringContaining("another port, or 0")]);
  expect(await failureOf(runtime.reload("none"))).toMatchObject({ code: "CONFIG" });
  await runtime.close();
  expect(await failureOf(runtime.fetch("http://tenon.test/health"))).toMatchObject({ code: "REQUEST" });
});

test("requests, addresses and bytes of any realm are taken", async () => {
  const runtime = await create();
  runtime.setPage("/page", { contentType: "text/plain", body: runInNewContext("new Uint8Array([104, 105])") });
  for (const input of [
    "http://tenon.test/page",
    new URL("http://tenon.test/page"),
    new Request("http://tenon.test/page"),
  ]) {
    const answer = await runtime.fetch(input);
    expect([answer.status, await answer.text()]).toEqual([200, "hi"]);
    expect(answer).toBeInstanceOf(Response);
  }
  await runtime.close();
});
