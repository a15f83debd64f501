import { created, db, ensure, field, post, routes, Type } from "@tenon/sdk";

const NewOrder = Type("NewOrder", {
  product_id: field.u32(),
  quantity: field.u32({ min: 1 }),
  voucher: field.string().optional(),
});
const Order = Type("Order", {
  id: field.u32(),
  product_id: field.u32(),
  quantity: field.u32(),
  total: field.u32({ docs: "In cents" }),
});

interface Priced {
  readonly price: number;
}

interface Voucher {
  readonly percent: number;
}

export default routes({
  /** Order a product, at a lower price with a voucher. */
  place: post("/orders", { body: NewOrder, response: Order, status: 201 }, async ({ body }, req) => {
    const { product_id, quantity, voucher } = body;
    const [product] = await db.query<Priced>(["SELECT price FROM products WHERE id = ?", [product_id]]);
    const { price } = ensure(product, 422, "no such product");
    let percent = 0;
    if (voucher !== undefined) {
      const [found] = await db.query<Voucher>(["SELECT percent FROM vouchers WHERE code = ?", [voucher]]);
      percent = (found as Voucher).percent;
    }
    const total = Math.round(price * quantity * (1 - percent / 100));
    const [order] = await db.query<{ id: number }>([
      "INSERT INTO orders (product_id, quantity, total) VALUES (?, ?, ?) RETURNING id",
      [product_id, quantity, total],
    ]);
    const { id } = ensure(order, 500, "the order is not there");
    return created(`${req.base}/orders/${id}`, { id, product_id, quantity, total });
  }),
});
