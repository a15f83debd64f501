import { db, field, group, noContent, post, record, secret, signature, sqlUpdate, Type } from "@tenon/sdk";
import { dialect } from "./database.ts";

/** The field of Stripe's events that is used here: the paid order. */
const PaymentEvent = Type("PaymentEvent", {
  type: field.string(),
  data: Type("PaymentData", { object: Type("Payment", { metadata: record(field.string()) }) }),
});

export const payments = group(
  "/payments",
  {
    /** Receive a payment from Stripe, which may repeat the call. */
    stripe: post("/stripe", { body: PaymentEvent, status: 204 }, async ({ body: { type, data } }) => {
      const id = Number(data.object.metadata["order"]);
      if (type === "payment_intent.succeeded" && Number.isSafeInteger(id)) {
        await db.execute(sqlUpdate(dialect(), "orders", { set: { state: "paid" }, filter: { id } }));
      }
      return noContent();
    }),
  },
  { use: [signature({ scheme: "stripe", secret: () => secret("STRIPE") })] },
);
