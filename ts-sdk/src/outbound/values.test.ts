import { expect, it } from "vitest";
import { db, get, ok, routes } from "../index.ts";
import { testApp } from "../testing/index.ts";

interface Asked {
  readonly path: string;
  readonly transaction: string | null;
  readonly body: unknown;
}

/** Runs a function as a handler does, and returns its result and the requests to the sidecar. */
async function asked(run: () => Promise<unknown>): Promise<{ result: unknown; asked: Asked[] }> {
  const list: Asked[] = [];
  const sidecar = async (request: Request) => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    const body = text === "" ? undefined : JSON.parse(text);
    list.push({ path: pathname, transaction: request.headers.get("tenon-transaction"), body });
    if (pathname === "/sql/transaction") return Response.json({ id: "t1" }, { status: 201 });
    if (pathname === "/sql/transaction/commit") return new Response(null, { status: 204 });
    return Response.json({ columns: ["id", "1", "id"], rows: [[1, "one", 2]] });
  };
  const app = routes({ run: get("/", async () => ok({ result: (await run()) as string })) });
  const answer = await testApp(app, { sidecars: { db: sidecar } }).get("/");
  expect(answer.status, answer.text()).toBe(200);
  return { result: (answer.json() as { result: unknown }).result, asked: list };
}

it("asks for rows as arrays, and returns them", async () => {
  const { result, asked: requests } = await asked(() =>
    db.values(["SELECT a.id, 1, b.id FROM a, b WHERE a.n = $1", [7n]]),
  );
  expect(result).toEqual([[1, "one", 2]]);
  const body = { rows: "arrays", sql: "SELECT a.id, 1, b.id FROM a, b WHERE a.n = $1", params: [7] };
  expect(requests).toEqual([{ path: "/sql/query", transaction: null, body }]);
});

it("does so in a transaction", async () => {
  const { result, asked: requests } = await asked(() => db.transaction((tx) => tx.values(["SELECT 1", []])));
  expect(result).toEqual([[1, "one", 2]]);
  expect(requests.map(({ path, transaction }) => [path, transaction])).toEqual([
    ["/sql/transaction", null],
    ["/sql/query", "t1"],
    ["/sql/transaction/commit", "t1"],
  ]);
  expect(requests[1]?.body).toEqual({ rows: "arrays", sql: "SELECT 1", params: [] });
});
