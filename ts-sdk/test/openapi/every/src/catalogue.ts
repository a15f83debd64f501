import { created, del, group, list, noContent, ok, patch, post, put } from "@tenon/sdk";
import { Item, ItemId, Items } from "./schemas.ts";

const stored = { sku: "A1", name: "Apple", price: 0.5, stock: 3, tags: ["fruit"] };

/** The routes of the catalogue. */
export const catalogue = group("/api/v1/items", {
  /**
   * Add an item.
   *
   * The answer's `Location` leads to it. Of two items with one `sku`:
   *
   * - the last one stays,
   * - the first is gone.
   *
   * @param nothing a block tag ends the description
   */
  addItem: post("", { body: Item, response: Item, status: 201 }, ({ body }) => created(`/api/v1/items/north/1`, body)),

  /** Add many items at once; see {@link Item}. */
  addItems: post("/batch", { body: list(Item, { max: 3 }), response: Items }, ({ body }) =>
    ok({ items: body, total: body.length }),
  ),

  /** Replace an item. */
  replaceItem: put("/{shop}/{id}", { path: ItemId, body: Item, response: Item }, ({ body }) => ok(body)),

  /** Change an item; without a body it stays as it is. */
  changeItem: patch("/{shop}/{id}", { path: ItemId, body: Item.optional(), response: Item }, ({ body }) =>
    ok(body ?? stored),
  ),

  /** Remove an item. */
  removeItem: del("/{shop}/{id}", { path: ItemId, status: 204, deprecated: true }, () => noContent()),
});
