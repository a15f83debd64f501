/**
 * The suites of the SQL builder on PostgreSQL behind `--tables`: pages by cursor, filters, some of them from texts, and inserts.
 * Each statement passes the list, and answers as it does without one.
 */
import { Agent, request } from "node:http";
import { expect, it, vi } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { postgres, type Statement } from "../../../ts-sdk/src/sql/index.ts";
import type { Database } from "../../../ts-sdk/test/sql/database.ts";
import type { DatabaseCase } from "../../../ts-sdk/test/sql/databases.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { startPostgres } from "./stores.ts";

/** Statements that passed the list, by their first word. */
const passed: Record<string, number> = {};

/** A PostgreSQL whose tables are made by their owner, and which everything else reaches through a list of them. */
async function startListed(): Promise<Database> {
  const store = await startPostgres();
  const start = (tables?: string[]) =>
    Sidecar.start({ kind: "sql", url: store.url, listen: "127.0.0.1:0", logLevel: "off", ...(tables && { tables }) });
  const [owner, listed] = [await start(), await start(["things", "tasks"])];
  const agent = new Agent({ keepAlive: true });
  return {
    name: "postgres",
    query: async ([sql, params]: Statement) => {
      const isBuilt = /^(?:SELECT|INSERT|UPDATE|DELETE) /.test(sql);
      const { status, text } = await ask(agent, (isBuilt ? listed : owner).address, JSON.stringify({ sql, params }));
      if (status !== 200) {
        expect([status, sql], text).not.toEqual([403, sql]);
        throw new Error(text);
      }
      if (isBuilt) passed[sql.slice(0, 6)] = (passed[sql.slice(0, 6)] ?? 0) + 1;
      return JSON.parse(text).rows;
    },
    close: async () => {
      agent.destroy();
      await listed.close();
      await owner.close();
      await store.stop();
    },
  };
}

function ask(agent: Agent, address: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request(`${address}/sql/query`, { method: "POST", headers, agent }, async (message) => {
      const chunks: Buffer[] = [];
      for await (const chunk of message) chunks.push(chunk as Buffer);
      resolve({ status: message.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

// The suites take their databases from this module, and their number of cases from the environment.
vi.mock("../../../ts-sdk/test/sql/databases.ts", () => ({
  describeDatabases: (what: string, suite: (database: DatabaseCase) => void) =>
    describeWith("postgresql", `${what}, behind a list of tables`, () =>
      suite({ dialect: postgres, start: startListed }),
    ),
}));
process.env["TENON_SQL_CASES"] ??= "150";
await import("../../../ts-sdk/test/sql/walk.test.ts");
await import("../../../ts-sdk/test/sql/differential.test.ts");
await import("../../../ts-sdk/test/sql/typed-walk.test.ts");
await import("../../../ts-sdk/test/sql/write.test.ts");

describeWith("postgresql", "the suites of the SQL builder", () => {
  it("passed the list", () => {
    expect(passed["SELECT"]).toBeGreaterThan(1_000);
    expect(passed["INSERT"]).toBeGreaterThan(200);
  });
});
