import {
  created,
  db,
  ensure,
  Form,
  field,
  get,
  group,
  guard,
  type Infer,
  list,
  noContent,
  ok,
  omit,
  PageInfo,
  pageInfo,
  partial,
  respond,
  sqlCount,
  sqlCreate,
  sqlRead,
  sqlUpdate,
  storage,
  Type,
  table,
} from "@tenon/sdk";
import { admin } from "./auth.ts";
import { dialect } from "./database.ts";

export const Product = Type("Product", {
  id: field.u32(),
  name: field.string({ min: 1, max: 100 }),
  price: field.u32({ docs: "In cents" }),
  note: field.string({ max: 1000 }).nullable(),
});
const Products = Type("Products", { products: list(Product), page: PageInfo });
const NewProduct = omit(Product, ["id"], "NewProduct");
const Picture = Form("Picture", { picture: field.file({ max: 1_000_000, types: ["image/png", "image/jpeg"] }) });

type Row = Infer<typeof Product>;

const rows = table(Product);
const path = { id: field.u32() };
const order = { order: "name", key: "id" } as const;

export const products = group("/products", {
  /** List products by name, one page at a time. */
  list: get(
    "",
    {
      query: { after: field.string().optional(), limit: field.u32({ default: 20, min: 1, max: 100 }) },
      response: Products,
    },
    async ({ query: { after, limit } }) => {
      const read = ensure(
        () => sqlRead(dialect(), rows, { ...order, after, limit: limit + 1 }),
        400,
        "after is not a cursor",
      );
      const found = await db.query<Row>(read);
      const [counted] = await db.query<{ count: number | string }>(sqlCount(dialect(), rows));
      const { rows: shown, page } = pageInfo(found, { ...order, after, limit, total: Number(counted?.count) });
      return ok({ products: shown, page });
    },
  ),

  /** Get one product. */
  one: get("/{id}", { path, response: Product }, async ({ path: { id } }) => {
    const [product] = await db.query<Row>(sqlRead(dialect(), rows, { filter: { id } }));
    return ok(ensure(product, 404, "no such product"));
  }),

  /** Add a product. */
  create: admin.post("", { body: NewProduct, response: Product, status: 201 }, async ({ body }, req) => {
    const [product] = await db.query<Row>(
      sqlCreate(dialect(), rows, [body], { returning: ["id", "name", "price", "note"] }),
    );
    const { id } = ensure(product, 500, "the product is not there");
    return created(`${req.base}/api/v1/products/${id}`, { ...body, id });
  }),

  /** Change some of a product. */
  change: admin.patch("/{id}", { path, body: partial(NewProduct, "ProductChanges"), status: 204 }, async (input) => {
    guard(Object.keys(input.body).length > 0, 400, "there is nothing to change");
    const changed = await db.execute(sqlUpdate(dialect(), rows, { set: input.body, filter: { id: input.path.id } }));
    guard(changed > 0, 404, "no such product");
    return noContent();
  }),

  /** Put a picture up. */
  upload: admin.put(
    "/{id}/picture",
    { path, body: Picture, status: 204 },
    async ({ path: { id }, body: { picture } }) => {
      await storage.put(`products/${id}`, picture.bytes, { contentType: picture.type });
      return noContent();
    },
  ),

  /** A product's picture. */
  picture: get("/{id}/picture", { path }, async ({ path: { id } }) => {
    const picture = ensure(await storage.get(`products/${id}`), 404, "no picture");
    return respond(200, { headers: { "content-type": picture.contentType }, body: picture.bytes() });
  }),
});
