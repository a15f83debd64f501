/** Type tests of declarations: headers, several answers, promises, paths, placeholders of groups, inline fields. */
import { expectTypeOf } from "vitest";
import { field, get, list, ok, post, routes, Type } from "../index.ts";
import { client } from "../typed-client/index.ts";

const Body = Type("Body", { a: field.u32() });

// Headers.

const pay = post(
  "/pay",
  { headers: { "idempotency-key": field.string().optional(), "x-n": field.u32({ default: 1 }) }, body: Body },
  ({ headers }) => {
    expectTypeOf(headers).toEqualTypeOf<{ "idempotency-key"?: string | undefined; "x-n": number }>();
    // @ts-expect-error no such header is declared
    headers["x-other"];
    return ok({});
  },
);
const tenant = get("/t", { headers: { "x-tenant": field.string(), "x-tags": list(field.u32()) } }, () => ok({}));
get("/t", (input) => {
  // @ts-expect-error no header is declared
  input.headers;
  return ok({});
});
// @ts-expect-error a header is no object
get("/t", { headers: { "x-a": Body } }, () => ok({}));
const withHeaders = routes({ pay, tenant });
const headersApi = client<typeof withHeaders>("http://localhost");
headersApi.pay({ body: { a: 1 } });
headersApi.pay({ body: { a: 1 }, headers: { "x-n": 1, other: "x" } });
headersApi.tenant({ headers: { "x-tenant": "a", "x-tags": [1, 2], authorization: "x" } });
// @ts-expect-error a declared header that has to be sent
headersApi.tenant();
// @ts-expect-error a declared header of another kind
headersApi.pay({ body: { a: 1 }, headers: { "x-n": "1" } });
