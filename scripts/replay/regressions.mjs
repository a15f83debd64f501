// Changes of the shop as texts: regressions, which `tenon replay --against` must find, and refactorings, which it must not report.

const [products, orders, payments, handler] = ["products", "orders", "payments", "handler"].map(
  (name) => `src/${name}.ts`,
);

/** Regressions: the name, the file, and the text that another one replaces. */
export const regressions = [
  ["a rounded total", products, "Number(counted?.count)", "Math.round(Number(counted?.count) / 10) * 10"],
  ["a lost condition", orders, "filter: { id: path.id, customer }", "filter: { id: path.id }"],
  ["another order", orders, 'order: "-id"', 'order: "id"'],
  ["a lost header", handler, 'expose: ["location"] }), secureHeaders()]', 'expose: ["location"] })]'],
  ["a wrong status", products, 'guard(changed > 0, 404, "no such', 'guard(changed > 0, 400, "no such'],
  ["a page that is one too long", products, "after, limit, total", "after, limit: limit + 1, total"],
  ["a lost where", orders, 'filter: { customer }, order: "-id"', 'order: "-id"'],
  ["a renamed member", products, "ok({ products: shown, page })", "ok({ items: shown, page } as never)"],
  ["a wrong default", products, "default: 20", "default: 10"],
  ["a lost await", orders, "const product = await db.query(", "const product: any = db.query("],
  [
    "an extra statement",
    orders,
    "ensure(product[0], 422",
    'await db.query(["SELECT count(*) FROM orders"]);\n      ensure(product[0], 422',
  ],
  ["swapped operands", products, "changed > 0", "0 > changed"],
  ["a lost validation", orders, "field.u32({ min: 1, max: 100 })", "field.u32({ min: 1 })"],
  [
    "a changed cache header",
    products,
    '"content-type": picture.contentType',
    '"content-type": picture.contentType, "cache-control": "max-age=60"',
  ],
  ["a wrong media type", products, "contentType: picture.type", 'contentType: "image/png"'],
  ["a wrong currency", products, "{ ...body, id }", "{ ...body, price: Math.floor(body.price / 100), id }"],
  [
    "a missing member in the place of null",
    products,
    "return ok(ensure(product, 404",
    "if (product?.note === null) delete (product as any).note;\n    return ok(ensure(product, 404",
  ],
  [
    "a text in the place of a number",
    orders,
    "placed.id}`, placed)",
    "placed.id}`, { ...placed, quantity: String(placed.quantity) } as never)",
  ],
  ["a lost idempotency", orders, 'onConflict: { columns: ["customer", "idempotency_key"], nothing: true },', ""],
  [
    "a lost permission",
    products,
    "admin.patch(",
    "signedIn.patch(",
    ["import { admin }", "import { admin, signedIn }"],
  ],
  ["a lost condition of an event", payments, 'type === "payment_intent.succeeded" && ', ""],
  ["a wrong link", orders, "/api/v1/orders/$", "/api/v1/order/$"],
  ["another origin", handler, 'origin: ["https://shop.example"]', 'origin: ["https://else.example"]'],
  ["a dropped event", payments, "await db.execute(sqlUpdate(", "void (sqlUpdate("],
  ["an event that nobody waits for", payments, "await db.execute(sqlUpdate(", "void db.execute(sqlUpdate("],
  ["a changed log", orders, "const placed =", 'console.log("placed");\n      const placed ='],
];

/** Refactorings: the name, and the replaced texts by their files. */
export const refactorings = [
  [
    "names and a function of its own",
    {
      [orders]: [
        ['const placed = ensure(order, 500, "the order is not there");', "const placed = required(order);"],
        [
          "type Row = ",
          'const required = (row: Row | undefined): Row => ensure(row, 500, "the order is not there");\n\ntype Row = ',
        ],
      ],
    },
  ],
  [
    "statements in another form",
    {
      [payments]: [
        [
          'if (type === "payment_intent.succeeded" && Number.isSafeInteger(id)) {',
          'const isPaid = type === "payment_intent.succeeded";\n      if (!isPaid) return noContent();\n      if (Number.isSafeInteger(id)) {',
        ],
      ],
      [products]: [
        ["guard(Object.keys(input.body).length > 0, 400", "guard(Object.entries(input.body).some(() => true), 400"],
      ],
    },
  ],
  [
    "more questions for the time and random values",
    {
      [orders]: [
        [
          "const product = await db.query(",
          "const began = performance.now() + Math.random();\n      const product = await db.query(",
        ],
        [
          "const placed =",
          "if (performance.now() < began - 1) throw new Error(crypto.randomUUID());\n      const placed =",
        ],
      ],
    },
  ],
  [
    "a question for the time where there was none",
    { [orders]: [["const placed =", "if (Date.now() < 1e12) throw new Error();\n      const placed ="]] },
  ],
];
