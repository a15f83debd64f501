/** The app inside the component: each request is one measurement, in one warm instance. */
import { field, get, ok, Path, routes } from "@tenon/sdk";
import { routing, validation } from "./measure.ts";

const What = Path("What", { what: field.enum("valid", "invalid", "routing") });

export default routes({
  measure: get("/{what}", { path: What }, async ({ path: { what } }) =>
    ok(what === "routing" ? await routing(15, 200) : await validation(what, 15, 50)),
  ),
});
