import { expect, it, vi } from "vitest";
import {
  error,
  field,
  get,
  list,
  ok,
  oneOf,
  Path,
  partial,
  post,
  Query,
  record,
  rehearse,
  routes,
  Type,
  warmUp,
} from "../index.ts";
import type { App } from "./app.ts";

/** Warms an app up, and returns the statuses of its answers. */
async function warmedUp(app: App): Promise<number[]> {
  const statuses: number[] = [];
  const handle: App["handle"] = async (...args) => {
    const answer = await app.handle(...args);
    statuses.push(answer.status);
    return answer;
  };
  warmUp({ ...app, handle });
  await rehearse();
  return statuses;
}

it("asks with inputs that the schemas accept", async () => {
  const each = {
    s: field.string({ min: 3 }),
    n: field.i32({ min: -5 }),
    b: field.bool(),
    e: field.enum("a b", "c"),
    mail: field.string({ format: "email" }),
    uuid: field.string({ format: "uuid" }),
    date: field.string({ format: "date" }),
    at: field.string({ format: "date-time" }),
    uri: field.string({ format: "uri" }),
    v4: field.string({ format: "ipv4" }),
    v6: field.string({ format: "ipv6" }),
  };
  const app = routes({
    write: post(
      "/{s}/{e}",
      {
        path: Path("P", { s: each.s, e: each.e }),
        query: Query("Q", { ...each, l: list(field.u32(), { min: 1 }) }),
        body: Type("B", { ...each, l: list(Type("N", each), { min: 1 }) }),
        warm: true,
      },
      () => ok({}),
    ),
  });
  expect(await warmedUp(app)).toEqual([200]);
});

it("makes examples of every kind of schema", async () => {
  const Circle = Type("Circle", { radius: field.f64() });
  const shape = oneOf("kind", { circle: Circle, other: Type("Other", {}) });
  const every = {
    nullable: field.u32().nullable(),
    record: record(list(field.string()), { min: 1 }),
    json: field.json(),
    shape,
    shapes: record(shape).nullable(),
    part: partial(Circle),
  };
  const query = { q: field.bool() };
  const options = { path: { id: field.u32() }, query, body: Type("B", every), warm: true } as const;
  expect(await warmedUp(routes({ write: post("/{id}", options, () => ok({})) }))).toEqual([200]);
});

it("leaves another library's schemas alone: they may call what their user wrote", async () => {
  const validate = vi.fn((value: unknown) => ({ value }));
  const foreign = { "~standard": { version: 1, vendor: "other", validate } } as const;
  expect(await warmedUp(routes({ write: post("/", { body: foreign, warm: true }, () => ok({})) }))).toEqual([]);
  expect(validate).not.toHaveBeenCalled();
});

it("calls the handlers that are warm alone, at the rehearsal and once", async () => {
  const asked: unknown[] = [];
  const app = routes({
    warm: get("/things/{id}", { path: Path("Warm", { id: field.u32({ min: 5 }) }), warm: true }, ({ path }) => {
      asked.push(path.id);
      throw error(503, "its sidecar is empty");
    }),
    other: get("/others", () => {
      asked.push("other");
      return ok({});
    }),
  });
  warmUp(app);
  expect(asked).toEqual([]);
  await rehearse();
  await rehearse();
  expect(asked).toEqual([5]);
});
