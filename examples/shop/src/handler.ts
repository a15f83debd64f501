import { cors, error, get, ok, routes, SidecarError, secureHeaders } from "@tenon/sdk";
import { orders } from "./orders.ts";
import { payments } from "./payments.ts";
import { products } from "./products.ts";

export default routes(
  {
    /** Service banner. */
    index: get("", () => ok({ service: "shop", message: "Products are at /api/v1/products" })),
    products,
    orders,
    payments,
  },
  {
    prefix: "/api/v1",
    // Customers' assistants read products and place orders; webhooks are no tools.
    mcp: { include: ["products", "orders"] },
    use: [cors({ origin: ["https://shop.example"], expose: ["location"] }), secureHeaders()],
    onError: (thrown) => (thrown instanceof SidecarError ? error(503, "the shop is closed for a moment") : undefined),
  },
);
