// The functions that scripts call. `context` is the merchant for whom a script runs: it decides which orders there are.
import { field, list, Type } from "@tenon/sdk";
import { PublicError, tool } from "tenon";

export const Order = Type("Order", {
  id: field.u32(),
  customer: field.string(),
  total: field.f64(),
  items: list(field.string()),
  note: field.string(),
});
const Id = Type("Id", { id: field.u32() });
const Note = Type("Note", { id: field.u32(), note: field.string({ max: 200 }) });
const Mail = Type("Mail", { to: field.string({ max: 100 }), text: field.string({ max: 1_000 }) });
const Sku = Type("Sku", { sku: field.string() });
const Level = Type("Level", { left: field.u32() });

/** Makes the tools of a shop. */
export function makeTools(shop) {
  const own = (id, merchant) => {
    const order = shop.orders.find((each) => each.id === id && each.merchant === merchant);
    if (order === undefined) throw new PublicError(`there is no order ${id}`);
    return order;
  };
  return {
    orders: {
      find: tool({
        description: "Finds one of your orders.",
        input: Id,
        output: Order,
        run: ({ id }, { context }) => own(id, context),
      }),
      note: tool({
        description: "Writes a note on one of your orders.",
        input: Note,
        run: ({ id, note }, { context }) => {
          own(id, context).note = note;
        },
      }),
    },
    stock: {
      level: tool({
        description: "Counts the pieces that are left.",
        input: Sku,
        output: Level,
        run: ({ sku }) => ({ left: Object.hasOwn(shop.stock, sku) ? shop.stock[sku] : 0 }),
      }),
    },
    mail: {
      send: tool({
        description: "Sends a mail in the name of your shop.",
        input: Mail,
        run: (mail, { context }) => {
          shop.mails.push({ from: context, ...mail });
        },
      }),
    },
  };
}
