/**
 * Counts the tokens of a tool list: what a model reads of an API of 10, 100 and 1,000 routes, with a tool for each and in code mode.
 * It fails when code mode needs 1,200 or more.
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
function shop(count, code) {
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
  return routes(Object.fromEntries(all.slice(0, count)), { mcp: { code } });
}

/** The tokens of all pages of a list. */
async function tokensOf(app) {
  let tokens = 0;
  let pages = 0;
  for (let cursor; ; ) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await app.post("/mcp", { json: { jsonrpc: "2.0", id: 1, method: "tools/list", params } });
    const { result } = answer.json();
    tokens += encode(JSON.stringify(result.tools)).length;
    pages++;
    cursor = result.nextCursor;
    if (cursor === undefined) return { tokens, pages };
  }
}

for (const count of [10, 100, 1000]) {
  const { tokens, pages } = await tokensOf(testApp(shop(count, false)));
  const inCode = (await tokensOf(testApp(shop(count, true)))).tokens;
  console.log(
    `${count} routes: ${tokens} tokens, ${Math.round(tokens / count)} a tool, ${pages} pages; in code mode ${inCode} tokens`,
  );
  if (inCode >= 1200) process.exitCode = 1;
}
