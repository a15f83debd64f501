/**
 * The rows of the middleware, cookies and forms. They have the same answers in Node and in a component on the runtime.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
// Compiled, like all code of the CLI that these tests use.
import { Runtime } from "../../../cli/dist/index.js";
import { environmentKey, SECRET_PREFIX } from "../../src/abi.ts";
import type { RawResponse } from "../../src/index.ts";
import { platform } from "../../src/platform.ts";
import { componentOf } from "../component/build.ts";
import { checkRow, rawRequest } from "./check-row.ts";
import app from "./middleware-app.ts";
import { middlewareRows, publicKeyRows, secrets } from "./middleware-rows.ts";
import { type Row, rowName } from "./row.ts";

const named = (all: readonly Row[]) => all.map((row, i) => [`${i} ${rowName(row)}`, row] as const);
const rows = named([...middlewareRows, ...publicKeyRows]);
const module = fileURLToPath(new URL("./middleware-app.ts", import.meta.url));
let runtime: Runtime;

beforeAll(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  platform[environmentKey] = () =>
    Object.entries(secrets).map(([name, value]) => [SECRET_PREFIX + name, value] as const);
  const file = await componentOf(module);
  runtime = await Runtime.create({ modules: [file], secrets, logLevel: "off" });
}, 240_000);
afterAll(async () => {
  platform[environmentKey] = undefined;
  vi.restoreAllMocks();
  await runtime?.close();
});

/** The component's answer, through the runtime. */
async function served({ method, path, headers = [], body }: Row): Promise<RawResponse> {
  const url = `http://localhost/run/${runtime.modules[0]}${path}`;
  const given = body === undefined ? {} : { body: typeof body === "string" ? new TextEncoder().encode(body) : body };
  const answer = await runtime.fetch(
    new Request(url, { method, headers: headers.map(([name, value]) => [name, value]), ...given }),
  );
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const encoded = [...answer.headers].map(
    ([name, value]) => [name, new Uint8Array(Buffer.from(value, "latin1"))] as const,
  );
  return { status: answer.status, headers: encoded, ...(bytes.length === 0 ? {} : { body: bytes }) };
}

describe("in Node", () => {
  it.each(rows)("%s", async (_name, row) => {
    checkRow(row, await app.handle(rawRequest(row)));
  });
});

describe("inside a component", () => {
  it.each(rows)("%s", async (_name, row) => {
    checkRow(row, await served(row));
  });
});

it("answers in the component what it answers in Node", async () => {
  const comparable = ({ status, body }: RawResponse) => [status, Buffer.from(body ?? []).toString("latin1")];
  for (const [name, row] of rows) {
    expect([name, ...comparable(await served(row))]).toEqual([name, ...comparable(await app.handle(rawRequest(row)))]);
  }
});
