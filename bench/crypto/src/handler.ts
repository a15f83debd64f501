import { field, get, ok, routes } from "@tenon/sdk";
// @ts-expect-error Node runs it, too, so it has no types.
import { measured } from "./operations.js";

export default routes({
  measure: get("/", { query: { name: field.string() } }, async ({ query }) => ok({ ms: await measured(query.name) })),
});
