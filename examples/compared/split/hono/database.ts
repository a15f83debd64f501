import { HTTPException } from "hono/http-exception";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"] });

export const query = <Row extends object>(sql: string, params: unknown[]) =>
  pool.query<Row>(sql, params).catch((cause) => {
    throw new HTTPException(503, { message: "the database does not answer", cause });
  });
