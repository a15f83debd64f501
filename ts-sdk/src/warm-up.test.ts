import { afterEach, beforeEach, expect, it, vi } from "vitest";
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
} from "./index.ts";
import { formats } from "./schema/formats.ts";

const reported = vi.spyOn(console, "error").mockImplementation(() => {});
beforeEach(() => void reported.mockClear());
afterEach(() => expect(reported).not.toHaveBeenCalled());

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("runs the way of a request without calling a handler, and reports nothing", async () => {
  const handler = vi.fn(() => ok({}));
  const app = routes({
    read: get("/things/{id}", handler),
    write: post("/things", { body: Type("Thing", { id: field.u32() }) }, handler),
  });
  warmUp(app);
  await turn();
  expect(handler).not.toHaveBeenCalled();
});

it("asks with inputs that the schemas accept, and with others", async () => {
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
      },
      () => ok({}),
    ),
  });
  const answers: ReturnType<typeof app.handle>[] = [];
  const watched = {
    ...app,
    handle: (...args: Parameters<typeof app.handle>) => {
      const answer = app.handle(...args);
      answers.push(answer);
      return answer;
    },
  };
  warmUp(watched);
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 400, 204]);
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
  const app = routes({
    write: post("/{id}", { path: { id: field.u32() }, query: { q: field.bool() }, body: Type("B", every) }, () =>
      ok({}),
    ),
  });
  const answers: ReturnType<typeof app.handle>[] = [];
  const handle: typeof app.handle = (...args) => {
    const answer = app.handle(...args);
    answers.push(answer);
    return answer;
  };
  warmUp({ ...app, handle });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 400, 404]);
});

it("parses every variant of a union, each of which may have a format of its own", () => {
  const ipv6 = vi.spyOn(formats, "ipv6");
  const V6 = Type("V6", { address: field.string({ format: "ipv6" }) });
  const body = oneOf("version", { v4: Type("V4", { address: field.string({ format: "ipv4" }) }), v6: V6 });
  warmUp(routes({ write: post("/", { body }, () => ok({})) }));
  expect(ipv6).toHaveBeenCalledWith("::");
  ipv6.mockRestore();
});

it("leaves another library's schemas alone: they may call what their user wrote", async () => {
  const validate = vi.fn((value: unknown) => ({ value }));
  const foreign = { "~standard": { version: 1, vendor: "other", validate } } as const;
  warmUp(routes({ write: post("/", { body: foreign }, () => ok({})) }));
  await turn();
  expect(validate).not.toHaveBeenCalled();
});

it("calls the handlers that are warm at the rehearsal alone, and once", async () => {
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
  await turn();
  expect(asked).toEqual([]);
  await rehearse();
  await rehearse();
  expect(asked).toEqual([5]);
});
