import { expect, it } from "vitest";
import { Cursor, SidecarError } from "../index.ts";
import { readPage } from "./page.ts";

const after = new Cursor().string("id", "x").encode();
const refuse = (sqlstate: string) => async (): Promise<never> => {
  throw new SidecarError("db", "status", "refused", { status: 400, problem: { sqlstate } });
};

it("answers a value that the database cannot read as an input error, when there is a cursor", async () => {
  const place = (name: string) => ({ errors: [{ in: "query", pointer: `#/${name}` }] });
  const options = { order: "id", limit: 1 };
  await expect(readPage(["t", { ...options, after }], refuse("22P02"))).rejects.toMatchObject({
    status: 400,
    body: place("after"),
  });
  await expect(readPage(["t", { ...options, before: after }], refuse("22P02"))).rejects.toMatchObject({
    body: place("before"),
  });
  for (const sqlstate of ["42P01", "23505"]) {
    await expect(readPage(["t", { order: "id", limit: 1, after }], refuse(sqlstate))).rejects.toThrow(SidecarError);
  }
  await expect(readPage(["t", { order: "id", limit: 1 }], refuse("22P02"))).rejects.toThrow(SidecarError);
});

it("states where NULLs come for either database, unless there are none", async () => {
  const read = async (...target: unknown[]) => {
    let sql = "";
    await readPage([...target, { order: ["a", "-b"], key: "id", limit: 1, notNull: ["c"] }], async (statement) => {
      sql = statement[0];
      return [];
    });
    return sql.replace(/^.* ORDER BY/, "");
  };
  expect(await read("t")).toBe(" a ASC NULLS LAST, b DESC NULLS FIRST, id DESC LIMIT 2");
});
