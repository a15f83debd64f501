import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
// Compiled, like all code of the CLI that these tests use.
import { Runtime } from "../../../cli/dist/index.js";
import { environmentKey } from "../../src/abi.ts";
import type { RawResponse } from "../../src/index.ts";
import { platform } from "../../src/platform.ts";
import { componentOf } from "../component/build.ts";
import { type HandlerComponent, run } from "../component/run.ts";
import app from "./app.ts";
import { checkRow, rawRequest } from "./check-row.ts";
import { rowName } from "./row.ts";
import { table } from "./table.ts";

const module = fileURLToPath(new URL("./app.ts", import.meta.url));
const environment = { GREETING: "hello" };
/** The first build compiles the engine, which takes a minute on a busy machine. */
const BUILD_TIMEOUT_MS = 240_000;

describe("the table, inside a component", () => {
  let component: HandlerComponent;
  const reported = vi.spyOn(console, "error").mockImplementation(() => {});

  beforeAll(async () => {
    platform[environmentKey] = () => Object.entries(environment);
    component = await run(await componentOf(module), environment);
  }, BUILD_TIMEOUT_MS);
  afterAll(() => {
    platform[environmentKey] = undefined;
    reported.mockRestore();
  });

  it.each(table.map((row) => [rowName(row), row] as const))("%s", async (_name, row) => {
    const answer = await component.handle(rawRequest(row));
    checkRow(row, answer);
    expect(comparable(answer)).toEqual(comparable(await app.handle(rawRequest(row))));
  });
});

describe("httpClient, inside a component on the runtime", () => {
  const server = new Worker(new URL("../component/echo-server.mjs", import.meta.url));
  // Listens at once, because a message without a listener is lost.
  const port = new Promise<number>((listening) => server.once("message", listening));
  let runtime: Runtime;
  let base: string;

  beforeAll(async () => {
    base = `http://127.0.0.1:${await port}`;
    const file = await componentOf(module);
    const sidecars = { echo: base, nobody: "http://127.0.0.1:9" };
    runtime = await Runtime.create({ modules: [file], sidecars, cacheFolder: `${file}.cache`, logLevel: "off" });
  }, BUILD_TIMEOUT_MS);
  afterAll(() => Promise.all([runtime?.close(), server.terminate()]));

  async function fetched(query: Record<string, string>): Promise<unknown> {
    const url = `http://localhost/run/${runtime.modules[0]}/fetch?${new URLSearchParams(query)}`;
    const answer = await runtime.fetch(new Request(url));
    const body = await answer.text();
    expect({ status: answer.status, body }).toMatchObject({ status: 200 });
    return JSON.parse(body);
  }

  it("sends a request and reads the answer", async () => {
    expect(await fetched({ url: `${base}/echo` })).toEqual({ status: 201, text: 'POST 1 {"a":"é"}', x: "1, 2" });
  });
  it("gives up after its time-out", async () => {
    expect(await fetched({ url: `${base}/never`, timeout: "100" })).toMatchObject({ code: "timeout" });
  });
  it("stops at its limit of bytes", async () => {
    expect(await fetched({ url: `${base}/large` })).toMatchObject({ code: "too_large" });
  });
  it.each([
    ["nobody listens", "http://127.0.0.1:9/"],
    ["the runtime does not allow the host", "http://not-allowed.example/"],
  ])("says that it was refused where %s", async (_why, url) => {
    expect(await fetched({ url })).toMatchObject({ code: "refused" });
  });
  it("says so whenever it is that the connection fails: its body may be still on its way", async () => {
    for (let round = 0; round < 50; round++) {
      // After several failures the runtime sends nothing there for a while.
      const { code } = (await fetched({ url: "http://127.0.0.1:9/" })) as { code: string };
      expect(["refused", "unreachable"]).toContain(code);
    }
  });
  it("refuses what is no URL", async () => {
    expect(await fetched({ url: "nowhere" })).toMatchObject({ code: "invalid" });
  });
});

function comparable({ status, headers, body }: RawResponse): unknown {
  return { status, headers: headers.map(([name, value]) => [name, [...value]]), body: body && [...body] };
}
