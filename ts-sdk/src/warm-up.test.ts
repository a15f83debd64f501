import { expect, it, vi } from "vitest";
import { field, get, ok, post, routes, Type, warmUp } from "./index.ts";

it("runs the way of a request without calling a handler, and reports nothing", async () => {
  const reported = vi.spyOn(console, "error").mockImplementation(() => {});
  const handler = vi.fn(() => ok({}));
  const app = routes({
    read: get("/things/{id}", handler),
    write: post("/things", { body: Type("Thing", { id: field.u32() }) }, handler),
  });
  warmUp(app);
  await new Promise((resolve) => setImmediate(resolve));
  expect(handler).not.toHaveBeenCalled();
  expect(reported).not.toHaveBeenCalled();
  reported.mockRestore();
});
