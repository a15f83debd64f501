// The shop over HTTP: a page to edit scripts, and the calls that it makes. The merchant is a header, in the place of a login.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Scripts } from "./scripts.js";
import { addOrder, makeShop } from "./shop.js";
import { makeTools, Order } from "./tools.js";

const MOST = 64 * 1024;

/** Makes the server; it does not listen yet. */
export async function makeServer(runtime, shop = makeShop(), now = Date.now) {
  const sandbox = await runtime.sandbox({
    tools: makeTools(shop),
    input: Order,
    limits: { cpuMs: 100, wallMs: 2_000, memoryBytes: 16 << 20, calls: 20, logBytes: 4_096, sourceBytes: 16_384 },
  });
  const scripts = new Scripts(sandbox, now);
  const page = await readFile(new URL("page.html", import.meta.url));
  const answers = {
    "GET /api/scripts": ({ merchant }) => ({ scripts: scripts.list(merchant), leftMs: scripts.left(merchant) }),
    "GET /api/types": () => ({ types: sandbox.types() }),
    "GET /api/orders": ({ merchant }) => ({
      orders: shop.orders.filter((order) => order.merchant === merchant),
      mails: shop.mails.filter(({ from }) => from === merchant),
    }),
    "POST /api/orders": async ({ merchant, body }) => {
      const order = addOrder(shop, merchant, body);
      await scripts.react(merchant, order);
      return order;
    },
    "PUT /api/scripts": ({ merchant, body }) => scripts.save(merchant, String(body.name), String(body.source)),
    "DELETE /api/scripts": ({ merchant, body }) => scripts.remove(merchant, String(body.name)),
    "POST /api/run": ({ merchant, body }) => {
      const order = shop.orders.findLast((each) => each.merchant === merchant);
      return scripts.run(merchant, String(body.name), order);
    },
  };
  return createServer(async (request, response) => {
    const json = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value ?? null));
    try {
      const answer = answers[`${request.method} ${request.url}`];
      if (request.url === "/") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
      else if (answer === undefined) json(404, { error: "there is no such page" });
      else json(200, await answer({ merchant: request.headers["x-merchant"] ?? "ada", body: await bodyOf(request) }));
    } catch (error) {
      const isTheirs = error instanceof SyntaxError || error instanceof RangeError;
      json(isTheirs ? 400 : 500, { error: isTheirs ? error.message : "the server has failed" });
    }
  });
}

async function bodyOf(request) {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) {
    text += piece;
    if (text.length > MOST) throw new RangeError("the body is too large");
  }
  return text === "" ? {} : JSON.parse(text);
}
