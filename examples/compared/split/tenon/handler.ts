/** Notes: an app in several files, with tokens, CORS and one way of answering errors. */
import { cors, error, get, ok, routes, SidecarError } from "@tenon/sdk";
import { admin } from "./admin.ts";
import { notes } from "./notes.ts";

export default routes(
  { health: get("/health", () => ok({ status: "ok" })), notes, admin },
  {
    prefix: "/api/v1",
    use: [cors({ origin: ["https://app.example"], expose: ["location"] })],
    onError: (thrown) => (thrown instanceof SidecarError ? error(503, "the database does not answer") : undefined),
  },
);
