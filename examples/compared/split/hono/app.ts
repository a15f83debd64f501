/** Notes: an app in several files, with tokens, CORS and one way of answering errors. */
import { Hono } from "hono";
import { cors } from "hono/cors";
import { admin } from "./admin.ts";
import { notFound, onError } from "./errors.ts";
import { notes } from "./notes.ts";

const app = new Hono()
  .basePath("/api/v1")
  .use(cors({ origin: ["https://app.example"], exposeHeaders: ["location"] }))
  .get("/health", (c) => c.json({ status: "ok" }))
  .route("/notes", notes)
  .route("/admin", admin);

app.notFound(notFound);
app.onError(onError);

export default app;
