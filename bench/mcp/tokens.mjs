/**
 * Counts the tokens of a tool list: what a model reads of an API of 10, 100 and 1,000 routes.
 *
 *     npm run build && node bench/mcp/tokens.mjs
 */
import { field, get, list, ok, post, routes, Type } from "@tenon/sdk";
import { testApp } from "@tenon/sdk/testing";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const Item = Type("Item", {
  id: field.u32(),
  name: field.string({ max: 100, docs: "Name that customers see" }),
  price: field.u32({ docs: "In cents" }),
  active: field.bool(),
});
const query = { page: field.u32({ default: 1 }), limit: field.u32({ default: 20, max: 100 }) };

/** Routes as a shop has them: a list, one item, a new one and a change, for each of its resources. */
function shop(count) {
  const all = [];
  for (let n = 0; all.length < count; n++) {
    const path = `/resource-${n}`;
    all.push(
      [`listResource${n}`, get(path, { query, response: list(Item) }, () => ok([]))],
      [`getResource${n}`, get(`${path}/{id}`, { path: { id: field.u32() }, response: Item }, () => ok(undefined))],
      [`addResource${n}`, post(path, { body: Item, response: Item }, ({ body }) => ok(body))],
      [`stateOfResource${n}`, get(`${path}/{id}/state`, { path: { id: field.u32() } }, () => ok({}))],
    );
  }
  return routes(Object.fromEntries(all.slice(0, count)), { mcp: {} });
}

for (const count of [10, 100, 1000]) {
  const app = testApp(shop(count));
  let tokens = 0;
  let pages = 0;
  for (let cursor; ; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await app.post("/mcp", { json: { jsonrpc: "2.0", id: 1, method: "tools/list", params } });
    const { result } = answer.json();
    tokens += encode(JSON.stringify(result.tools)).length;
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  console.log(`${count} routes: ${tokens} tokens, ${Math.round(tokens / count)} a tool, ${pages + 1} pages`);
}
