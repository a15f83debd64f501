import { describe, expect, it } from "vitest";
import { Cursor, CursorError, type CursorErrorCode } from "./index.ts";
import { MAX_CURSOR_KEYS, MAX_CURSOR_TEXT } from "./limits.ts";

const refused = (code: CursorErrorCode) => expect.objectContaining({ name: "CursorError", code });
const terms = (...columns: string[]) => columns.map((column) => ({ column, descending: false }));
const encodeJson = (json: string) => Buffer.from(json.padEnd(Math.ceil(json.length / 3) * 3)).toString("base64");

describe("Cursor", () => {
  it("goes there and back", () => {
    const cursor = new Cursor()
      .string("name", 'Zoë \u{1f600} >?~\u007f "\\\n\0 ünïcode')
      .int("id", 7)
      .int("big", 2n ** 62n)
      .float("score", -1.5e-7)
      .bool("active", true)
      .null("gone");
    const text = cursor.encode();
    const decoded = Cursor.decode(text);
    const columns = ["name", "id", "big", "score", "active", "gone"];
    expect(decoded.values(terms(...columns))).toEqual(cursor.values(terms(...columns)));
    expect(decoded.encode()).toBe(text);
  });

  it("gives base64 that needs no escaping in a URL", () => {
    for (let length = 0; length < 9; length++) {
      const text = new Cursor().string("k", "~?>é\u{10ffff}".repeat(length) + "x".repeat(length)).encode();
      expect(text).toMatch(/^[A-Za-z0-9]+$/);
      expect(text.length % 4).toBe(0);
      expect(JSON.parse(atob(text))).toEqual(JSON.parse(Buffer.from(text, "base64url").toString()));
    }
  });

  it("is made from a row", () => {
    const row = { id: 7, created_at: "2026-01-01", score: null, other: {} };
    expect(Cursor.from(row, ["-created_at", "id"]).encode()).toBe(
      new Cursor().string("created_at", "2026-01-01").int("id", 7).encode(),
    );
    expect(Cursor.from(row, "-score", "id").encode()).toBe(new Cursor().null("score").int("id", 7).encode());
    expect(Cursor.from(row, ["t.id"]).encode()).toBe(new Cursor().int("t.id", 7).encode());
    expect(Cursor.from({ "t.id": 1, id: 2 }, ["t.id"]).values(terms("t.id"))).toEqual([1]);
  });

  it("is not made from a row that lacks a column, or has what it cannot carry", () => {
    expect(() => Cursor.from({ id: 7 }, ["created_at"])).toThrow(refused("keys"));
    expect(() => Cursor.from({ id: undefined }, ["id"])).toThrow(refused("keys"));
    expect(() => Cursor.from({}, ["toString"])).toThrow(refused("keys"));
    for (const value of [new Date(), {}, [], Number.NaN, Number.POSITIVE_INFINITY, Symbol("x")]) {
      expect(() => Cursor.from({ id: value }, ["id"])).toThrow(refused("value"));
    }
    expect(() => Cursor.from(null as never, ["id"])).toThrow(refused("value"));
  });

  it("checks what is added", () => {
    expect(() => new Cursor().string("a", 1 as never)).toThrow(refused("value"));
    expect(() => new Cursor().int("a", 1.5)).toThrow(refused("value"));
    expect(() => new Cursor().int("a", "1" as never)).toThrow(refused("value"));
    expect(() => new Cursor().float("a", Number.NaN)).toThrow(refused("value"));
    expect(() => new Cursor().float("a", "1" as never)).toThrow(refused("value"));
    expect(() => new Cursor().bool("a", 1 as never)).toThrow(refused("value"));
    expect(() => new Cursor().int("a", 1).null("a")).toThrow(refused("keys"));
    expect(() => new Cursor().int("", 1)).toThrow(refused("keys"));
    expect(() => new Cursor().int(undefined as never, 1)).toThrow(refused("keys"));
    expect(() => new Cursor().string("a", "x".repeat(MAX_CURSOR_TEXT)).encode()).toThrow(refused("size"));
    const full = new Cursor();
    for (let i = 0; i < MAX_CURSOR_KEYS; i++) full.int(`k${i}`, i);
    expect(Cursor.decode(full.encode()).encode()).toBe(full.encode());
    expect(() => full.int("more", 1)).toThrow(refused("size"));
  });

  it.each([
    "",
    "x",
    "====",
    "AAAA",
    "W10", // [] without its last character
    "W10=",
    " W10g",
    "W10g\n",
    "W10-",
    encodeJson('{"a":1}'),
    encodeJson("null"),
    encodeJson("[1]"),
    encodeJson("[[1,2]]"),
    encodeJson('[["a"]]'),
    encodeJson('[["a",1,2]]'),
    encodeJson('[["a",{}]]'),
    encodeJson('[["a",[]]]'),
    encodeJson('[["a","1","text"]]'),
    encodeJson('[["a","1x","int"]]'),
    encodeJson('[["a","01","int"]]'),
    encodeJson('[["a",1],["a",2]]'),
    encodeJson('[["",1]]'),
    encodeJson('[["a",1e999]]'),
    encodeJson('[["a",1.0]]'),
    encodeJson('[["a",-0]]'),
    encodeJson('[ ["a",1]]'),
    encodeJson('[["\\u0061",1]]'),
    encodeJson(`${"[".repeat(5_000)}${"]".repeat(5_000)}`),
    encodeJson(`[${'["a",1],'.repeat(1_000)}["b",1]]`),
  ])("refuses %j", (text) => {
    expect(() => Cursor.decode(text)).toThrow(CursorError);
  });

  it("decodes the empty cursor, which no order takes", () => {
    expect(() => Cursor.decode(new Cursor().encode()).values(terms("id"))).toThrow(refused("keys"));
  });

  it("refuses what is too long unread", () => {
    expect(() => Cursor.decode("A".repeat(MAX_CURSOR_TEXT + 4))).toThrow(refused("size"));
    expect(() => Cursor.decode(undefined as never)).toThrow(refused("encoding"));
  });
});
