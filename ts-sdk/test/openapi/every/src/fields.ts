import { field, get, list, ok, Path, post, Query, type Route, Type } from "@tenon/sdk";

const Moment = Type("Moment", {
  id: field.string({ format: "uuid" }),
  day: field.string({ format: "date" }),
  at: field.string({ format: "date-time" }),
  link: field.string({ format: "uri" }),
  mail: field.string({ format: "email" }),
  v4: field.string({ format: "ipv4" }),
  v6: field.string({ format: "ipv6" }),
});

const Numbers = Type("Numbers", {
  u32: field.u32(),
  i32: field.i32(),
  i64: field.i64(),
  f64: field.f64(),
  small: field.i32({ min: -5, max: 5 }),
  flag: field.bool(),
  matrix: list(list(field.i32(), { max: 3 }), { min: 1, max: 3 }),
});

const NumbersQuery = Query("NumbersQuery", {
  u32: field.u32(),
  i64: field.i64({ default: 0 }),
  f64: field.f64().optional(),
  flags: list(field.bool(), { max: 4 }),
});

const MomentPath = Path("MomentPath", { day: field.string({ format: "date" }), flag: field.bool() });

/** Routes for each kind of field. */
export const echoes = {
  /** Every format of a text. */
  echoMoment: post("/moments", { body: Moment, response: Moment }, ({ body }) => ok(body)),
  /** Every kind of number. */
  echoNumbers: post("/numbers", { body: Numbers, response: Numbers }, ({ body }) => ok(body)),
  /** Numbers of a query. */
  readNumbers: get("/numbers", { query: NumbersQuery }, ({ query }) => ok(query)),
  /** Placeholders that are converted. */
  readMoment: get("/moments/{day}/{flag}", { path: MomentPath }, ({ path }) => ok(path)),
} satisfies Record<string, Route>;
