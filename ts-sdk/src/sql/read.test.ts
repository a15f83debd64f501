import { describe, expect, it } from "vitest";
import { Cursor, sqlRead } from "./index.ts";

const error = (name: string, code: string, field?: string) =>
  expect.objectContaining(field === undefined ? { name, code } : { name, code, field });

describe("sqlRead", () => {
  it("quotes reserved words and leaves other names bare", () => {
    expect(sqlRead("order", { select: ["user", "name", "t.group"], order: "-select" })[0]).toBe(
      'SELECT "user", name, t."group" FROM "order" ORDER BY "select" DESC',
    );
    expect(sqlRead("public.users")[0]).toBe("SELECT * FROM public.users");
  });

  it.each(["", " ", "a b", "a;b", "1a", "a.b.c", ".a", "a.", 'a"b', "a-b", "é", "*", "a\n", "a\0"])(
    "refuses %j as a name",
    (name) => {
      const refused = error("SqlError", "identifier");
      expect(() => sqlRead(name)).toThrow(refused);
      expect(() => sqlRead("t", { select: [name] })).toThrow(refused);
      expect(() => sqlRead("t", { order: [name] })).toThrow(refused);
      expect(() => sqlRead("t", { order: [`-${name}`] })).toThrow(refused);
      expect(() => sqlRead("t", { filter: { [name]: 1 } })).toThrow(refused);
    },
  );

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "20", null])(
    "refuses %j as limit or page",
    (n) => {
      const count = n as number;
      expect(() => sqlRead("t", { limit: count })).toThrow(error("SqlError", "option", "limit"));
      expect(() => sqlRead("t", { limit: 1, page: count })).toThrow(error("SqlError", "option", "page"));
    },
  );

  it("refuses a page without a limit, and one too far to count", () => {
    expect(() => sqlRead("t", { page: 2 })).toThrow(error("SqlError", "option", "page"));
    expect(() => sqlRead("t", { page: 2 ** 52, limit: 4 })).toThrow(error("SqlError", "option", "page"));
  });

  it("refuses options it does not know, an empty select, and lists with holes", () => {
    for (const names of [new Array(1), ["a", undefined], [1], "a", null]) {
      expect(() => sqlRead("t", { select: names as never })).toThrow(error("SqlError", "option", "select"));
    }
    expect(() => sqlRead("t", { order: new Array(1) })).toThrow(error("SqlError", "option", "order"));
    expect(() => sqlRead("t", { filtre: {} } as never)).toThrow(error("SqlError", "option", "filtre"));
    expect(() => sqlRead("t", { select: [] })).toThrow(error("SqlError", "option", "select"));
    expect(() => sqlRead("t", 7 as never)).toThrow(error("SqlError", "option"));
    expect(() => sqlRead(7 as never)).toThrow(error("SqlError", "option", "table"));
  });

  it("refuses undefined for the filter: it was to hide some rows", () => {
    expect(() => sqlRead("t", { filter: undefined as never })).toThrow(error("FilterError", "undefined"));
    expect(() => sqlRead("t", { filter: { a: undefined as never } })).toThrow(error("FilterError", "undefined", "a"));
  });

  it("goes without a cursor when there is none yet", () => {
    const options = { order: ["-a", "id"], limit: 3 };
    for (const none of [
      { after: undefined },
      { after: null },
      { before: undefined },
      { after: undefined, before: null },
    ]) {
      expect(sqlRead("t", { ...options, ...none })).toEqual(["SELECT * FROM t ORDER BY a DESC, id ASC LIMIT 3", []]);
    }
    expect(sqlRead("t", { order: "a", limit: 3, page: 2, after: undefined })[0]).toContain("OFFSET 3");
  });

  it("refuses a cursor beside a page, beside another cursor, and without an order", () => {
    const after = new Cursor().int("a", 1).encode();
    expect(() => sqlRead("t", { order: "a", limit: 3, page: 2, after })).toThrow(error("SqlError", "option", "page"));
    expect(() => sqlRead("t", { order: "a", after, before: after })).toThrow(error("SqlError", "option", "before"));
    expect(() => sqlRead("t", { after })).toThrow(error("SqlError", "option", "order"));
    expect(() => sqlRead("t", { order: ["a", "-a"], after: new Cursor().int("a", 1).encode() })).toThrow(
      error("CursorError", "keys"),
    );
  });

  it("refuses a cursor of another order, and one that is none", () => {
    const after = new Cursor().int("a", 1).string("b", "x").encode();
    for (const order of [["a"], ["b", "a"], ["a", "c"], ["a", "b", "c"]]) {
      expect(() => sqlRead("t", { order, after })).toThrow(error("CursorError", "keys"));
    }
    for (const text of ["", "x", "!!!!", "AAAA", 7, {}]) {
      expect(() => sqlRead("t", { order: "a", after: text as string })).toThrow(error("CursorError", "encoding"));
    }
  });

  it("appends the key to the order, once, in the last direction", () => {
    expect(sqlRead("t", { order: ["-a"], key: "id" })[0]).toBe("SELECT * FROM t ORDER BY a DESC, id DESC");
    expect(sqlRead("t", { order: ["-id", "a"], key: "id" })[0]).toBe("SELECT * FROM t ORDER BY id DESC, a ASC");
    expect(sqlRead("t", { key: "id" })[0]).toBe("SELECT * FROM t ORDER BY id ASC");
  });

  it("counts parameters, and refuses more than the database takes", () => {
    const $in = Array.from({ length: 65_536 }, (_, i) => i);
    expect(() => sqlRead("t", { filter: { a: { $in } } })).toThrow(error("SqlError", "params"));
    expect(sqlRead("t", { filter: { a: { $in: $in.slice(1) } } })[1]).toHaveLength(65_535);
  });
});
