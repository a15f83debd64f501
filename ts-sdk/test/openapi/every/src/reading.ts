import { get, ok } from "@tenon/sdk";
import { Filter, Items } from "./schemas.ts";

/** List items, at either of two paths. */
export const listItems = get(["/items", "/api/v1/items"], { query: Filter, response: Items }, () =>
  ok({ items: [], total: 0 }),
);
