/** An app with types that OpenAPI 3.0 expresses differently, for tools that read its document. */
import { scope, type } from "arktype";
import { z } from "zod";
import { del, field, get, noContent, ok, Path, post, routes, Type } from "../../src/index.ts";

const Reason = Type("Reason", { why: field.string() });
const Id = Path("ThingId", { id: field.u32() });

const Order = type({
  name: type("string").configure({ examples: ["Ada"], title: "A name" }),
  note: "string | null",
  either: "'a' | 1 | null",
  only: "'z'",
  "price?": "0 < number <= 9",
  lines: "unknown[]",
  "gone?": "'a' | undefined",
});
const Tree = scope({ node: { value: "string", children: "node[]" } }).export().node;

const user = z.object({ name: z.string().meta({ examples: ["Ada"], title: "Name" }) }).meta({ id: "用户" });
const Page = z
  .object({ first: user.nullable(), all: z.array(user), older: z.union([z.string(), z.null()]) })
  .meta({ id: "Page<User>" });

export default routes({
  /** Order in ArkType's words. */
  order: post("/orders", { body: Order, response: Order }, ({ body }) => ok(body as never)),
  /** A type that holds itself. */
  tree: post("/trees", { body: Tree, response: Tree }, ({ body }) => ok(body as never)),
  /** Names that OpenAPI does not permit. */
  page: post("/pages", { body: Page, response: Page }, ({ body }) => ok(body as never)),
  /** A body of DELETE. */
  remove: del("/things/{id}", { path: Id, body: Reason, status: 204 }, () => noContent()),
  /** A body of GET. */
  find: get("/things", { body: Reason.optional() }, () => ok([])),
});
