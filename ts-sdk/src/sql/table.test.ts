import { describe, expect, it } from "vitest";
import { field, list, Type } from "../index.ts";
import { Cursor, sqlCreate, sqlDelete, sqlRead, sqlUpdate, table } from "./index.ts";

const Address = Type("Address", { city: field.string() });
const User = Type("User", {
  id: field.u32(),
  name: field.string(),
  email: field.string().optional(),
  score: field.f64(),
  balance: field.i64({ default: 0 }),
  active: field.bool(),
  role: field.enum("admin", "member"),
  tags: list(field.string()),
  address: Address,
});
const users = table(User);

describe("table", () => {
  it.each([
    ["User", "users"],
    ["OrderLine", "order_lines"],
    ["Category", "categories"],
    ["Day", "days"],
    ["Address", "addresses"],
    ["Box", "boxes"],
    ["Match", "matches"],
    ["Users", "users"],
    ["HTTPLog", "http_logs"],
    ["user", "users"],
  ])("names the table of %s %s", (type, name) => {
    expect(table(Type(type, { id: field.u32() })).name).toBe(name);
  });

  it("must be a name", () => {
    expect(sqlRead(table(User, "public.people"))[0]).toBe("SELECT * FROM public.people");
    const wrong = expect.objectContaining({ name: "SqlError", code: "identifier" });
    expect(() => table(User, "a b")).toThrow(wrong);
    expect(() => table(Type("a-b", { id: field.u32() }))).toThrow(wrong);
  });

  it("stands where a name does", () => {
    expect(sqlRead(users, { select: ["id"], filter: { name: "x" }, order: "-id" })[0]).toBe(
      "SELECT id FROM users WHERE name = $1 ORDER BY id DESC",
    );
    expect(sqlCreate(users, { name: "x", returning: ["id"] })[0]).toBe(
      "INSERT INTO users (name) VALUES ($1) RETURNING id",
    );
    expect(sqlUpdate(users, { set: { email: null }, filter: { id: 1 } })[0]).toBe(
      "UPDATE users SET email = $1 WHERE id = $2",
    );
    expect(sqlDelete(users, { filter: { id: 1 } })[0]).toBe("DELETE FROM users WHERE id = $1");
  });

  it("knows which columns hold no NULL, for a cursor", () => {
    const after = new Cursor().string("name", "x").int("id", 7).encode();
    expect(sqlRead(users, { order: ["name", "id"], after })[0]).toBe(
      "SELECT * FROM users WHERE (name, id) > ($1, $2) ORDER BY name ASC, id ASC",
    );
    const emailed = new Cursor().string("email", "x").int("id", 7).encode();
    expect(sqlRead(users, { order: ["email", "id"], after: emailed })[0]).toBe(
      "SELECT * FROM users WHERE (email, id) > ($1, $2) OR email IS NULL ORDER BY email ASC, id ASC",
    );
  });

  it.each<[string, unknown]>([
    ["id", "1"],
    ["id", 1.5],
    ["id", -1],
    ["id", 2 ** 32],
    ["name", 1],
    ["name", true],
    ["score", "1.5"],
    ["balance", 0.5],
    ["active", 1],
    ["active", "true"],
    ["role", 7],
    ["tags", "x"],
    ["address", "x"],
  ])("refuses a merged %s of another kind: %j", (column, value) => {
    const refused = expect.objectContaining({ name: "FilterError", code: "value", field: column });
    const allow = [column] as never;
    expect(() => sqlRead(users, { merge: { [column]: value } as never, allow })).toThrow(refused);
    expect(() => sqlRead(users, { merge: { [column]: { $in: [null, value] } } as never, allow })).toThrow(refused);
  });

  it("takes merged values of the column's kind, and NULL", () => {
    const merge = {
      id: { $in: [1, 2n] },
      name: "x",
      email: null,
      score: 1,
      balance: { $lt: 5 },
      active: true,
      role: "admin",
    };
    const allow = ["id", "name", "email", "score", "balance", "active", "role"] as const;
    expect(sqlRead(users, { merge, allow })[1]).toEqual([1, 2n, "x", 1, 5, true, "admin"]);
  });

  it("refuses a cursor with values of another kind", () => {
    for (const after of [new Cursor().string("id", "seven"), new Cursor().float("id", 0.5)]) {
      expect(() => sqlRead(users, { order: "id", after: after.encode() })).toThrow(
        expect.objectContaining({ name: "CursorError", code: "value", field: "id" }),
      );
    }
    expect(() => sqlRead("users", { order: "name", after: new Cursor().string("name", "x\0").encode() })).toThrow(
      expect.objectContaining({ name: "CursorError", code: "value", field: "name" }),
    );
  });
});
