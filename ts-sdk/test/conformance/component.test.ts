import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { RawResponse } from "../../src/index.ts";
import { environmentKey, platform } from "../../src/platform.ts";
import { bundle, componentize, entry } from "../component/build.ts";
import { type HandlerComponent, run } from "../component/run.ts";
import app from "./app.ts";
import { checkRow, rawRequest } from "./check-row.ts";
import { rowName } from "./row.ts";
import { table } from "./table.ts";

const environment = { GREETING: "hello" };
/** Building a component takes some twenty seconds, on a busy machine minutes. */
const BUILD_TIMEOUT_MS = 240_000;

describe("the table, inside a component", () => {
  let component: HandlerComponent;
  const reported = vi.spyOn(console, "error").mockImplementation(() => {});

  beforeAll(async () => {
    platform[environmentKey] = () => Object.entries(environment);
    component = await run(await componentize(await bundle(entry("../conformance/app.ts"))), environment);
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

function comparable({ status, headers, body }: RawResponse): unknown {
  return { status, headers: headers.map(([name, value]) => [name, [...value]]), body: body && [...body] };
}
