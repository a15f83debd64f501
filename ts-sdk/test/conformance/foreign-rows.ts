import type { ExpectedError, Row } from "./row.ts";

const post = (path: string, body: string, expected: object | readonly ExpectedError[]): Row => ({
  method: "POST",
  path,
  body,
  ...outcome(expected),
});
const get = (path: string, expected: object | readonly ExpectedError[]): Row => ({
  method: "GET",
  path,
  ...outcome(expected),
});

function outcome(expected: object | readonly ExpectedError[]): Pick<Row, "status" | "json" | "errors"> {
  return Array.isArray(expected) ? { status: 400, errors: expected } : { status: 200, json: expected };
}

/** Zod's and Valibot's schemas in place of ours, and ours through Standard Schema. */
export const foreignRows: Row[] = [
  post("/standard", '{"name":"Ada","tags":[1],"extra":1}', { value: { name: "Ada", tags: [1] } }),
  post("/standard", '{"name":"Adalbert","tags":[1,"2"]}', {
    issues: [
      { message: "must have at most 5 characters", path: ["name"], code: "max" },
      { message: "must be a whole number from 0 to 4294967295", path: ["tags", 1], code: "type" },
    ],
  }),
  post("/zod/body", '{"name":"Ada","role":"user","email":"a@b.co","extra":1}', {
    name: "Ada",
    role: "user",
    email: "a@b.co",
    tags: [],
  }),
  post("/zod/body", "{}", ["body #/name required", "body #/role required"]),
  post("/zod/body", '{"name":"A","role":"root","email":"x","tags":["a",1]}', [
    "body #/name min",
    "body #/email format",
    "body #/role enum",
    "body #/tags/1 type",
  ]),
  post("/zod/body", '{"name":"Adalbert","role":1}', ["body #/name max", "body #/role enum"]),
  post("/zod/body", "[]", ["body # type"]),
  post("/zod/body", "{", ["body # json"]),
  get("/zod/query", { page: 1 }),
  get("/zod/query?page=2&page=3", { page: 3 }),
  get("/zod/query?tags=a", { page: 1, tags: ["a"] }),
  get("/zod/query?tags=a&tags=b%20c", { page: 1, tags: ["a", "b c"] }),
  get("/zod/query?page=0", ["query #/page min"]),
  get("/zod/query?page=%zz", ["query #/page format"]),
  get("/zod/path/7", { id: 7 }),
  get("/zod/path/x", ["path #/id type"]),
  post("/zod/async", '{"name":"free"}', { name: "free" }),
  post("/zod/async", '{"name":"taken"}', ["body #/name type"]),
  post("/zod/all/x?page=-1", "{}", [
    "path #/id format",
    "query #/page min",
    "body #/name required",
    "body #/role required",
  ]),
  post("/valibot/body", '{"name":"Ada","role":"user","address":{"zip":"12345"}}', {
    name: "Ada",
    role: "user",
    address: { zip: "12345" },
  }),
  post("/valibot/body", '{"name":"A","role":"root","address":{"zip":"x"}}', [
    "body #/name min",
    "body #/role enum",
    "body #/address/zip format",
  ]),
  post("/valibot/body", '{"role":"user"}', ["body #/name required"]),
  get("/valibot/path/7", { id: 7 }),
  get("/valibot/path/x7", ["path #/id type"]),
  get("/helpers", { uuid: true, time: true }),
];
