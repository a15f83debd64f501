/** The same route in code mode. */
import { field, ok, post, routes } from "@tenon/sdk";

export default routes(
  {
    /** Adds two numbers. */
    add: post("/add", { body: { a: field.f64(), b: field.f64() }, response: { sum: field.f64() } }, ({ body }) =>
      ok({ sum: body.a + body.b }),
    ),
  },
  { mcp: { code: true } },
);
