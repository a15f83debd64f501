/**
 * The shop for assistants that write programs: two tools, `search` and `execute`, in place of one for each route. Build it with
 * `entry = "src/code-mode.ts"` under `[project]`, and put a secret `MCP_CONFIRM_KEY` under `[secrets]`, which signs confirmations.
 */
import { cors, error, routes, SidecarError, secureHeaders } from "@tenon/sdk";
import { orders } from "./orders.ts";
import { products } from "./products.ts";

export default routes(
  { products, orders },
  {
    prefix: "/api/v1",
    // Customers confirm their orders, and shopkeepers their changes.
    mcp: { code: true, confirm: () => true },
    use: [cors({ origin: ["https://shop.example"], expose: ["location"] }), secureHeaders()],
    onError: (thrown) => (thrown instanceof SidecarError ? error(503, "the shop is closed for a moment") : undefined),
  },
);
