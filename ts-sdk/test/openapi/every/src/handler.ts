/** An app with every feature that its OpenAPI document can show; each route answers with what it was given. */
import { get, group, ok, routes } from "@tenon/sdk";
import { accounts } from "./accounts.ts";
import { catalogue } from "./catalogue.ts";
import { drawings } from "./drawings.ts";
import * as fields from "./fields.ts";
import * as reading from "./index.ts";
import { jobs } from "./jobs.ts";

/** The index, found above its declaration. */
const index = get(["/", ""], () => ok({ service: "every" }));

export default routes({
  index,
  listItems: reading.listItems,
  catalogue,
  echoes: group("", fields.echoes),
  jobs,
  drawings,
  accounts,
  // Not a doc comment.
  /** A placeholder that no Path declares. */
  // Nor is this.
  readRaw: get("/raw/{anything}", (_, req) => ok({ path: req.path })),
});
