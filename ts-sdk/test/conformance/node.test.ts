import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { environmentKey } from "../../src/abi.ts";
import { platform } from "../../src/platform.ts";
import app from "./app.ts";
import { checkRow, rawRequest } from "./check-row.ts";
import { rowName } from "./row.ts";
import { table } from "./table.ts";

describe("the table, in Node", () => {
  const reported = vi.spyOn(console, "error").mockImplementation(() => {});
  beforeAll(() => {
    platform[environmentKey] = () => [["GREETING", "hello"]];
  });
  afterAll(() => {
    platform[environmentKey] = undefined;
    reported.mockRestore();
  });

  it("has at least 300 rows, each different", () => {
    expect(table.length).toBeGreaterThanOrEqual(300);
    const rows = table.map((row) => JSON.stringify(row));
    expect(rows.filter((row, i) => rows.indexOf(row) !== i)).toEqual([]);
  });

  it.each(table.map((row) => [rowName(row), row] as const))("%s", async (_name, row) => {
    checkRow(row, await app.handle(rawRequest(row)));
  });
});
