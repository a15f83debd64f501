/** The app inside the component: each request to `/{what}` is one measurement, in one warm instance. */
import { field, get, ok, Path, routes } from "@tenon/sdk";
import { answers, routing, validation } from "./measure.ts";

const What = Path("What", { what: field.enum("valid", "invalid", "routing", "answers") });

export default routes({
  measure: get("/{what}", { path: What }, async ({ path: { what } }) => {
    if (what === "answers") return ok(await answers(15, 200));
    return ok(what === "routing" ? await routing(15, 200) : await validation(what, 15, 50));
  }),
});
