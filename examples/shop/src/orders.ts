import {
  created,
  db,
  ensure,
  field,
  group,
  type Infer,
  list,
  ok,
  pick,
  sqlCreate,
  sqlRead,
  Type,
  table,
} from "@tenon/sdk";
import { signedIn } from "./auth.ts";
import { dialect } from "./database.ts";
import { Product } from "./products.ts";

export const Order = Type("Order", {
  id: field.u32(),
  product_id: field.u32(),
  quantity: field.u32({ min: 1, max: 100 }),
  state: field.enum("open", "paid"),
});

type Row = Infer<typeof Order>;

const columns = ["id", "product_id", "quantity", "state"];

export const orders = group("/orders", {
  /** Order a product. With the `Idempotency-Key` of an earlier order, that one is answered and nothing is ordered. */
  place: signedIn.post(
    "",
    { body: pick(Order, ["product_id", "quantity"], "NewOrder"), response: Order, status: 201 },
    async ({ body }, req, { customer }) => {
      const idempotency_key = ensure(req.headers.get("idempotency-key"), 400, "an order needs an Idempotency-Key");
      const product = await db.query(sqlRead(dialect(), table(Product), { filter: { id: body.product_id } }));
      ensure(product[0], 422, "no such product");
      const insert = sqlCreate(dialect(), "orders", [{ ...body, customer, idempotency_key }], {
        onConflict: { columns: ["customer", "idempotency_key"], nothing: true },
        returning: columns,
      });
      const earlier = sqlRead(dialect(), "orders", { select: columns, filter: { customer, idempotency_key } });
      const order = (await db.query<Row>(insert))[0] ?? (await db.query<Row>(earlier))[0];
      const placed = ensure(order, 500, "the order is not there");
      return created(`${req.base}/api/v1/orders/${placed.id}`, placed);
    },
  ),

  /** The customer's own orders, the newest first. */
  mine: signedIn.get("", { response: list(Order) }, async (_input, _req, { customer }) =>
    ok(
      await db.query<Row>(
        sqlRead(dialect(), "orders", { select: columns, filter: { customer }, order: "-id", limit: 100 }),
      ),
    ),
  ),

  /** One of the customer's orders. */
  one: signedIn.get("/{id}", { path: { id: field.u32() }, response: Order }, async ({ path }, _req, { customer }) => {
    const read = sqlRead(dialect(), "orders", { select: columns, filter: { id: path.id, customer } });
    return ok(ensure((await db.query<Row>(read))[0], 404, "no such order"));
  }),
});
