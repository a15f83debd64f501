import { afterEach, expect, it, vi } from "vitest";
import { field, list, ok, post, routes, Type } from "../index.ts";
import { testApp } from "../testing/index.ts";
import { compileQuick } from "./quick.ts";

afterEach(() => void vi.unstubAllGlobals());

const parts = { 'a"]=1;throw 1;//': field.enum("</script>", "\u2028", '"'), "b\\": list(field.u32()) };

it("writes keys and texts as they are declared, and nothing of them as code", () => {
  const quick = Type("T", parts).parsers.quick("json");
  const value = { 'a"]=1;throw 1;//': "\u2028", "b\\": [1] };
  expect(quick(value)).toEqual(value);
});

it("leaves all to the parsers where the host forbids generating code", async () => {
  const forbid = vi.fn(function forbidden() {
    throw new EvalError("Code generation from strings disallowed for this context");
  });
  vi.stubGlobal("Function", forbid);
  const User = Type("User", { name: field.string({ min: 2 }), tags: list(field.string(), { default: [] }) });
  const app = testApp(routes({ create: post("/", { body: User }, ({ body }) => ok(body)) }));
  vi.unstubAllGlobals();
  expect(forbid).toHaveBeenCalled();
  expect((await app.post("/", { json: { name: "A" } })).json()).toMatchObject({ errors: [{ pointer: "#/name" }] });
  expect(User["~standard"].validate({ name: "Ada" })).toEqual({ value: { name: "Ada", tags: [] } });
});

it("compiles when it is made, not in the first request", () => {
  let runs = 0;
  compileQuick((value, code) => {
    code.require(`${code.constant(() => ++runs)}()`);
    return value;
  }, "json");
  expect(runs).toBe(1);
});
