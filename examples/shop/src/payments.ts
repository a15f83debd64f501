import { db, field, group, noContent, post, record, secret, signature, sqlUpdate, Type } from "@tenon/sdk";
import { dialect } from "./database.ts";

/** What of Stripe's events is of interest here: which order was paid. */
const PaymentEvent = Type("PaymentEvent", {
  type: field.string(),
  data: Type("PaymentData", { object: Type("Payment", { metadata: record(field.string()) }) }),
});

export const payments = group(
  "/payments",
  {
    /** Stripe tells of a payment, perhaps more than once. */
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
