// The shop over real sockets, with scripts that a merchant may save.
import { Runtime } from "tenon";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeServer } from "../src/server.js";
import { makeShop } from "../src/shop.js";

const shop = makeShop();
let time = 0;
let runtime;
let server;
beforeAll(async () => {
  runtime = await Runtime.create({ modules: {}, logLevel: "off" });
  server = await makeServer(runtime, shop, () => time);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
}, 300_000);
afterAll(async () => {
  server?.close();
  server?.closeAllConnections();
  await runtime?.close();
});

async function api(merchant, method, path, body) {
  const url = `http://127.0.0.1:${server.address().port}/api/${path}`;
  const response = await fetch(url, {
    method,
    headers: { "x-merchant": merchant },
    body: body && JSON.stringify(body),
  });
  return response.json();
}
const order = (merchant, total) =>
  api(merchant, "POST", "orders", { customer: "kim@example.com", total, items: ["lamp"] });
const logOf = async (merchant, name) =>
  (await api(merchant, "GET", "scripts")).scripts.find((script) => script.name === name).log;

test("a script reacts to orders with its tools, and has a log", async () => {
  const source = `export default async (order) => {
    const { left } = await stock.level({ sku: order.items[0] });
    console.log("left:", left);
    if (order.total < 100) return "small";
    await mail.send({ to: order.customer, text: "Thank you!" });
    await orders.note({ id: order.id, note: "thanked" });
    return "thanked";
  }`;
  await api("ada", "PUT", "scripts", { name: "thanks", source });
  const { id } = await order("ada", 250);
  await order("ada", 5);
  expect(await logOf("ada", "thanks")).toMatchObject([
    { value: "small", lines: ["left: 3"] },
    { order: id, value: "thanked" },
  ]);
  expect(shop.mails).toEqual([{ from: "ada", to: "kim@example.com", text: "Thank you!" }]);
  expect(shop.orders.find((each) => each.id === id).note).toBe("thanked");
});

test("a script reaches the orders of its merchant only", async () => {
  const source = "(order) => orders.find({ id: 1 })";
  for (const merchant of ["ada", "bob"]) await api(merchant, "PUT", "scripts", { name: "peek", source });
  expect(await api("ada", "POST", "run", { name: "peek" })).toMatchObject({ value: { id: 1, total: 120 } });
  expect(await api("bob", "POST", "run", { name: "peek" })).toMatchObject({ error: "there is no order 1" });
  expect((await api("bob", "GET", "scripts")).scripts.map(({ name }) => name)).toEqual(["peek"]);
});

test("a mistake is in the log with its line, and a loop ends", async () => {
  const ends = async (source) => {
    await api("bob", "PUT", "scripts", { name: "wrong", source });
    return (await api("bob", "POST", "run", { name: "wrong" })).error;
  };
  expect(await ends("1;\nlet let")).toMatch(/line 2/);
  expect(await ends("(order) => order.none.x")).toMatch(/cannot read property 'x' of undefined.*line 1/);
  expect(await ends("for (;;);")).toMatch(/^cpuMs: /);
  expect(await ends("mail.send({ to: 1 })")).toMatch(/^mail.send: /);
});

test("a script without a name and one that is too large are refused with the reason", async () => {
  const save = (script) => api("bob", "PUT", "scripts", script);
  expect(await save({ name: " ", source: "1" })).toEqual({ error: "a script needs a name" });
  expect(await save({ name: "large", source: "1".repeat(70_000) })).toEqual({ error: "the body is too large" });
});

test("the scripts of a merchant have a budget, which a new minute fills", async () => {
  time = 60_000;
  await api("bob", "PUT", "scripts", { name: "wrong", source: "for (;;);" });
  const errors = [];
  for (let n = 0; n < 12; n++) errors.push((await api("bob", "POST", "run", { name: "wrong" })).error);
  expect(errors[0]).toMatch(/^cpuMs/);
  expect(errors.at(-1)).toBe("the budget of 1000 ms a minute is spent");
  expect((await api("ada", "GET", "scripts")).leftMs).toBeGreaterThan(0);
  time = 120_000;
  expect((await api("bob", "GET", "scripts")).leftMs).toBe(1_000);
});
