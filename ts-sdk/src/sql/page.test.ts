import { describe, expect, it } from "vitest";
import { Cursor, pageInfo } from "./index.ts";

const rows = (...ids: number[]) => ids.map((id) => ({ id, name: `n${id}` }));
const at = (id: number) => new Cursor().int("id", id).encode();
const options = { order: "id", limit: 2 };

describe("pageInfo", () => {
  it("knows a page with rows after it by the row too many", () => {
    expect(pageInfo(rows(1, 2, 3), options)).toEqual({
      rows: rows(1, 2),
      page: { has_next: true, has_prev: false, next_cursor: at(2), prev_cursor: null },
    });
    expect(pageInfo(rows(3, 4), { ...options, after: at(2) })).toEqual({
      rows: rows(3, 4),
      page: { has_next: false, has_prev: true, next_cursor: null, prev_cursor: at(3) },
    });
  });

  it("turns rows read with before", () => {
    expect(pageInfo(rows(4, 3, 2), { ...options, before: at(5) })).toEqual({
      rows: rows(3, 4),
      page: { has_next: true, has_prev: true, next_cursor: at(4), prev_cursor: at(3) },
    });
    expect(pageInfo(rows(2, 1), { ...options, before: at(3) }).page).toEqual({
      has_next: true,
      has_prev: false,
      next_cursor: at(2),
      prev_cursor: null,
    });
  });

  it("has no cursors without rows", () => {
    expect(pageInfo([], { ...options, after: at(9) })).toEqual({
      rows: [],
      page: { has_next: false, has_prev: true, next_cursor: null, prev_cursor: null },
    });
  });

  it("adds the key, and the total it is told", () => {
    const { page } = pageInfo(rows(1, 2, 3), { order: ["-name"], key: "id", limit: 2, total: 3 });
    expect(page.next_cursor).toBe(new Cursor().string("name", "n2").int("id", 2).encode());
    expect(page.total).toBe(3);
  });

  it("leaves the rows it was given alone, and refuses what makes no page", () => {
    const given = Object.freeze(rows(3, 2, 1));
    expect(pageInfo(given, { ...options, before: at(4) }).rows).toEqual(rows(2, 3));
    const wrong = expect.objectContaining({ name: "SqlError", code: "option" });
    for (const limit of [0, -1, 1.5, Number.NaN]) expect(() => pageInfo([], { order: "id", limit })).toThrow(wrong);
    expect(() => pageInfo([], { ...options, after: at(1), before: at(2) })).toThrow(wrong);
    expect(() => pageInfo(rows(1, 2, 3), { order: "missing", limit: 2 })).toThrow(
      expect.objectContaining({ name: "CursorError", code: "keys", field: "missing" }),
    );
    for (const order of [undefined, []]) {
      expect(() => pageInfo(rows(1, 2, 3), { order: order as never, limit: 2 })).toThrow(
        expect.objectContaining({ name: "SqlError", code: "option", field: "order" }),
      );
    }
  });
});
