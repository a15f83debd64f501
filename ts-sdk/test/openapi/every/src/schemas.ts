import { extend, field, list, omit, oneOf, PageInfo, Path, partial, Query, record, Type } from "@tenon/sdk";

export const Address = Type("Address", {
  street: field.string({ min: 1, docs: "Street and number" }),
  zip: field.string({ min: 5, max: 5, x_internal_id: "postal_code" }),
});

export const Item = Type("Item", {
  sku: field.string({ min: 1, max: 20, docs: "Stock keeping unit", x_column: "sku", x_indexed: true, x_weight: 1.5 }),
  name: field.string({ max: 50 }),
  price: field.f64({ min: 0, max: 1_000_000 }),
  stock: field.u32({ default: 0 }),
  colour: field.enum("red", "green", "dark blue").optional(),
  old_code: field.string({ max: 10, deprecated: true }).optional(),
  origin: Address.optional(),
  tags: list(field.string({ max: 10 }), { max: 5, default: [], docs: "Free words" }),
});

export const Items = Type("Items", { items: list(Item), total: field.u32() });

export const ItemId = Path("ItemId", { shop: field.enum("north", "south"), id: field.u32({ min: 1, docs: "Number" }) });

export const Filter = Query("Filter", {
  q: field.string({ min: 1, max: 20, docs: "Words to look for" }).optional(),
  page: field.u32({ default: 1, min: 1, max: 1000 }),
  sort: field.enum("name", "price", { default: "name" }),
  tags: list(field.string({ min: 1, max: 5 }), { max: 3 }).optional(),
  legacy: field.bool({ deprecated: true }).optional(),
});

const Circle = Type("Circle", { radius: field.f64({ min: 0, docs: "In metres" }) });
const Polygon = Type("Polygon", { kind: field.enum("square", "hexagon"), side: field.f64({ min: 0 }) });

export const Drawing = Type("Drawing", {
  id: field.u32(),
  title: field.string({ max: 20 }).nullable(),
  outline: oneOf("kind", { circle: Circle, square: Polygon, hexagon: Polygon }),
  hole: oneOf("kind", { circle: Circle, square: Polygon, hexagon: Polygon }).nullable(),
  origin: Address.nullable(),
  labels: record(field.string({ max: 10 }), { max: 5, docs: "By language" }),
  layers: record(list(field.u32().nullable(), { max: 3 }), { min: 1, max: 2 }).optional(),
  extra: field.json({ docs: "Whatever belongs to it" }).optional(),
});

export const DrawingPatch = partial(omit(Drawing, ["id"]));

export const SignedDrawing = extend(Drawing, "SignedDrawing", { by: field.string({ max: 20 }) });

export const Drawings = Type("Drawings", { drawings: list(Drawing), page: PageInfo });
