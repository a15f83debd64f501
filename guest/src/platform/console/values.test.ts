import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { printable } from "./values.ts";

/** An error with the stack that the component's engine gives it. */
function thrown(name: string, message: string, options?: ErrorOptions): Error {
  const error = new Error(message, options);
  return Object.defineProperties(error, {
    name: { value: name },
    stack: { value: `${name}@a.js:1:2\nhandle@a.js:3:4\n`, configurable: true },
  });
}

const stack = (name: string, message: string) => `${name}: ${message}\n${name}@a.js:1:2\nhandle@a.js:3:4`;

test.each([
  ["%s is %d years, %i and %f", ["Ada", 36.7, "36.7", "1.5 m"], ["Ada is 36 years, 36 and 1.5"]],
  ["%s %s", [Symbol("a"), new RangeError("b")], ["Symbol(a) RangeError: b"]],
  ["%d %f", [Symbol("a"), Symbol("b")], ["NaN NaN"]],
  ["%j and %c%%.", [{ a: 1 }, "color: red"], ['{"a":1} and %.']],
  ["the user %o is in", [{ a: 1 }], ["the user", { a: 1 }, "is in"]],
  ["%O", [[1]], [[1]]],
  ["%s", ["a", "b", { c: 1 }], ["a", "b", { c: 1 }]],
  ["%s and %s", ["a"], ["a and %s"]],
  ["100 %", ["a"], ["100 %", "a"]],
])("fills %j", (format, values, expected) => {
  expect(printable([format, ...values])).toEqual(expected);
});

test("leaves values as they are without an error and a placeholder", () => {
  class Of {
    a = [1];
  }
  const circular: { [key: string]: unknown; self?: unknown } = {
    map: new Map([[1, new Set([2])]]),
    of: new Of(),
    bytes: new Uint8Array(1),
  };
  circular.self = circular;
  const given = ["100 %", 1, circular];
  expect(printable(given)).toEqual(given);
  expect(printable(given)[2]).toBe(circular);
  expect(printable(["%s"])).toEqual(["%s"]);
  expect(printable([])).toEqual([]);
});

test("prints an error as its title, its stack and its causes", () => {
  const cause = thrown("RangeError", "inner", { cause: "a text" });
  expect(printable([thrown("TypeError", "outer", { cause })])).toEqual([
    `${stack("TypeError", "outer")}\nCaused by: ${stack("RangeError", "inner")}\nCaused by: a text`,
  ]);
});

test("knows an error of another realm", () => {
  const error = runInNewContext('new RangeError("of a realm")');
  error.stack = "a@a.js:1:2";
  expect(printable([error])).toEqual(["RangeError: of a realm\na@a.js:1:2"]);
});

test("prints an error's title once where the stack has it", () => {
  const error = new Error("two\nlines");
  expect(printable(["failed:", error])).toEqual(["failed:", error.stack]);
});

test("prints each error of an AggregateError, and an error's own properties", () => {
  const one = Object.assign(thrown("Error", "one"), { code: "ECONN", status: 404, body: {}, none: undefined });
  const all = new AggregateError([one, 2], "all");
  all.stack = "a@a.js:5:6\n";
  expect(printable([all])).toEqual([
    `AggregateError: all\na@a.js:5:6\nOne of its errors: ${stack("Error", "one")}\n{ code: "ECONN", status: 404 }\nOne of its errors: 2`,
  ]);
});

test("appends the stacks of errors inside of values", () => {
  const [a, b] = [thrown("A", "a"), thrown("B", "b")];
  expect(printable([{ error: a, id: 7 }])).toEqual([{ error: "A: a", id: 7 }, `\n${stack("A", "a")}`]);
  expect(printable([[a, new Map([["b", new Set([b])]])], a, "last"])).toEqual([
    ["A: a", new Map([["b", new Set(["B: b"])]])],
    "A: a",
    `last\n${stack("A", "a")}\n${stack("B", "b")}`,
  ]);
  class Of {
    error = a;
  }
  expect(printable([new Of()])[0]).toEqual({ error: "A: a" });
});

test("bounds what it prints, and survives values that throw", () => {
  const circular = thrown("A", "a");
  circular.cause = circular;
  expect(printable([circular])).toEqual([stack("A", "a")]);
  const self: { error: Error; self?: unknown } = { error: circular };
  self.self = self;
  const [copy] = printable([self]) as [typeof self];
  expect(copy.self).toBe(copy);
  let chain = thrown("A", "0");
  for (let i = 1; i < 50; i++) chain = thrown("A", String(i), { cause: chain });
  const [text] = printable([chain]) as [string];
  expect(text.split("Caused by: ")).toHaveLength(10);
  expect(text).toMatch(/\(1 more errors\)$/);
  const many = Array.from({ length: 5000 }, () => ({ error: thrown("A", "x".repeat(1e5)) }));
  expect(String(printable(many).at(-1)).length).toBeLessThan(200_000);
  const throws = {
    error: circular,
    get bad() {
      throw new Error("of the getter");
    },
  };
  expect(printable([throws])[0]).toBe(throws);
});
