/**
 * Measures the cost of a page by cursor in the middle of 300,000 rows: the databases' own plans must look the position
 * up in an index, and examine about as many rows as the page has. The figures are printed.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { field, Type } from "../../src/index.ts";
import { Cursor, type Statement, sqlRead, table } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";
import { describeDatabases } from "./databases.ts";

const ROWS = 300_000;
const LIMIT = 21;
/** Rows that tie on `created_at`. */
const TIES = 3;
/** The rows of the cursor's tie may be examined and left out. */
const MOST_EXAMINED = LIMIT + TIES;

const Post = Type("Post", {
  id: field.u32(),
  created_at: field.u32(),
  rating: field.u32().optional(),
  body: field.string(),
});
const middle = { id: ROWS / 2, created_at: Math.floor(ROWS / 2 / TIES), rating: Math.floor(ROWS / 2 / TIES) };

interface PlanCase {
  readonly name: string;
  readonly order: readonly ("id" | "created_at" | "rating" | "-id" | "-created_at" | "-rating")[];
  readonly backward?: boolean;
  /** Only this database's NULL order lets an index be used although the column may have NULL. */
  readonly nullable?: "postgres" | "sqlite";
}

const cases: PlanCase[] = [
  { name: "one column", order: ["id"] },
  { name: "uniform, ascending", order: ["created_at", "id"] },
  { name: "uniform, descending", order: ["-created_at", "-id"] },
  { name: "uniform, before", order: ["created_at", "id"], backward: true },
  { name: "mixed, descending first", order: ["-created_at", "id"] },
  { name: "mixed, ascending first", order: ["created_at", "-id"] },
  { name: "mixed, before", order: ["-created_at", "id"], backward: true },
  { name: "nullable, uniform, descending", order: ["-rating", "-id"], nullable: "postgres" },
  { name: "nullable, mixed, descending first", order: ["-rating", "id"], nullable: "postgres" },
  { name: "nullable, uniform, ascending", order: ["rating", "id"], nullable: "sqlite" },
  { name: "nullable, mixed, ascending first", order: ["rating", "-id"], nullable: "sqlite" },
];

describeDatabases("plans", ({ dialect, start }) => {
  let database: Database;
  beforeAll(async () => {
    database = await start();
    await database.query([
      "CREATE TABLE posts (id INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, rating INTEGER, body TEXT NOT NULL)",
      [],
    ]);
    await database.query([
      `INSERT INTO posts WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) ` +
        `SELECT i, i / ${TIES}, i / ${TIES}, 'some text of an ordinary length, to give the row a size' FROM n`,
      [],
    ]);
    for (const column of ["created_at", "rating"]) {
      await database.query([`CREATE INDEX ${column}_uniform ON posts (${column}, id)`, []]);
      await database.query([`CREATE INDEX ${column}_mixed ON posts (${column} DESC, id ASC)`, []]);
    }
    await database.query(["ANALYZE posts", []]);
  }, 120_000);
  afterAll(() => database?.close());

  it.each(cases.filter(({ nullable }) => nullable === undefined || nullable === dialect.name))(
    "$name: $order",
    async ({ name, order, backward }) => {
      const cursor = Cursor.from(middle, order).encode();
      const place = backward ? { before: cursor } : { after: cursor };
      const statement = sqlRead(dialect, table(Post), { order, limit: LIMIT, ...place });
      const plan =
        database.name === "postgres" ? await postgresPlan(database, statement) : await sqlitePlan(database, statement);
      process.stderr.write(`plan, ${dialect.name}, ${name}: ${plan.examined} rows for ${LIMIT}; ${plan.condition}\n`);
      expect(plan.sorts, plan.text).toBe(false);
      expect(plan.condition, plan.text).toMatch(/\b(created_at|rating|id)\b|rowid/);
      expect(plan.examined, plan.text).toBeLessThanOrEqual(MOST_EXAMINED);
    },
  );

  it("goes through all rows before the place when NULLs come last and nothing is known of the column", async () => {
    const order = dialect.name === "postgres" ? ["created_at", "id"] : ["-created_at", "-id"];
    const options = { order, limit: LIMIT, after: Cursor.from(middle, order).encode() };
    const plan = database.name === "postgres" ? postgresPlan : sqlitePlan;
    const unknown = await plan(database, sqlRead(dialect, "posts", options));
    const known = await plan(database, sqlRead(dialect, "posts", { ...options, notNull: ["created_at", "id"] }));
    process.stderr.write(
      `plan, ${dialect.name}, nothing known: ${unknown.examined} rows for ${LIMIT}; with notNull: ${known.examined}\n`,
    );
    expect(unknown.examined).toBeGreaterThan(ROWS / 4);
    expect(known.examined).toBeLessThanOrEqual(MOST_EXAMINED);
  });
});

interface Plan {
  /** The condition of the index lookup; empty when there is none. */
  readonly condition: string;
  readonly sorts: boolean;
  /** The number of rows read for the page. */
  readonly examined: number;
  readonly text: string;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Cond"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: PlanNode[];
}

async function postgresPlan(database: Database, [sql, params]: Statement): Promise<Plan> {
  // Literal parameters, because EXPLAIN of a statement with parameters would show the generic plan's condition.
  const text = sql.replace(/\$(\d+)/g, (_, n) => String(params[Number(n) - 1]));
  const [row] = await database.query([`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, []]);
  const [explained] = Object.values(row ?? {}) as [[{ Plan: PlanNode }]];
  const root = explained[0].Plan;
  const nodes: PlanNode[] = [];
  const collect = (node: PlanNode) => {
    nodes.push(node);
    node.Plans?.forEach(collect);
  };
  collect(root);
  const scan = nodes[nodes.length - 1] as PlanNode;
  return {
    condition: scan["Index Cond"] ?? "",
    sorts: nodes.some((node) => node["Node Type"].includes("Sort")),
    examined: scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0),
    text: JSON.stringify(root, null, 1),
  };
}

/** Counts the rows between the looked-up bound and the last row of the page, because SQLite does not count them. */
async function sqlitePlan(database: Database, statement: Statement): Promise<Plan> {
  const [sql, params] = statement;
  const text = (await database.query([`EXPLAIN QUERY PLAN ${sql}`, params]))
    .map(({ detail }) => String(detail))
    .join("; ");
  const rows = (await database.query(statement)) as { id: number }[];
  const condition = /\((.*[<>].*)\)/.exec(text)?.[1] ?? "";
  const ids = rows.map(({ id }) => id);
  const bound = middle.id - (middle.id % TIES);
  // With a row value the scan starts at the position itself, with a bound on the first column at an end of its tie.
  const ascends = (ids[ids.length - 1] ?? 0) > middle.id;
  const first = condition === "" ? (ascends ? 1 : ROWS) : ascends ? bound : bound + TIES - 1;
  const last = ascends ? Math.max(...ids) : Math.min(...ids);
  return { condition, sorts: text.includes("TEMP B-TREE"), examined: Math.abs(last - first) + 1, text };
}
