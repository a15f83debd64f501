import * as v from "valibot";
import { z } from "zod";
import { field, get, list, ok, post, type Route, random, Type, time } from "../../src/index.ts";

const zodUser = z.object({
  name: z.string().min(2).max(5),
  email: z.email().optional(),
  role: z.enum(["admin", "user"]),
  tags: z.array(z.string()).max(2).default([]),
});
const zodQuery = z.object({ page: z.coerce.number().int().min(1).default(1), tags: z.array(z.string()).optional() });
const zodTaken = z.object({ name: z.string().refine(async (name) => name !== "taken", "the name is not free") });
const valibotUser = v.object({
  name: v.pipe(v.string(), v.minLength(2), v.maxLength(5)),
  role: v.picklist(["admin", "user"]),
  address: v.optional(v.object({ zip: v.pipe(v.string(), v.regex(/^\d{5}$/)) })),
});
const ours = Type("Standard", { name: field.string({ max: 5 }), tags: list(field.u32()).optional() });
const valibotPath = v.object({ id: v.pipe(v.string(), v.digits(), v.transform(Number)) });

/** Routes with other libraries' schemas, ours as another library calls it, and the helpers. */
export const foreignRoutes: Record<string, Route> = {
  zodBody: post("/zod/body", { body: zodUser }, ({ body }) => ok(body)),
  zodQuery: get("/zod/query", { query: zodQuery }, ({ query }) => ok(query)),
  zodPath: get("/zod/path/{id}", { path: z.object({ id: z.coerce.number() }) }, ({ path }) => ok(path)),
  zodAsync: post("/zod/async", { body: zodTaken }, async ({ body }) => ok(body)),
  zodAll: post("/zod/all/{id}", { path: z.object({ id: z.uuid() }), query: zodQuery, body: zodUser }, (input) =>
    ok(input),
  ),
  valibotBody: post("/valibot/body", { body: valibotUser }, ({ body }) => ok(body)),
  valibotPath: get("/valibot/path/{id}", { path: valibotPath }, ({ path }) => ok(path)),
  ours: post("/standard", async (_, req) => ok(await ours["~standard"].validate(req.json()))),
  helpers: get("/helpers", () => {
    const [one, two] = [random.uuid(), random.uuid()];
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const now = time.nowIso();
    return ok({
      uuid: uuid.test(one) && uuid.test(two) && one !== two,
      time:
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(now) && Date.parse(now) > Date.parse("2026-01-01T00:00:00Z"),
    });
  }),
};
