/** `structuredClone` in the engine, compared with Node's. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Evaluator, evaluateInNode, evaluator } from "../../../testing/evaluate.ts";

let evaluate: Evaluator;
beforeAll(async () => {
  const modules = ["structured-clone/install.ts", "events/install/event.ts", "message-channel/install.ts"];
  evaluate = await evaluator(
    modules.map((module) => `platform/${module}`),
    "lean",
  );
});

/** Describes a value with its class, because JSON shows few of them. */
const show = `const show = (value) => {
  if (typeof value !== "object" || value === null) return [typeof value, String(value)];
  const type = Object.prototype.toString.call(value).slice(8, -1);
  if (value instanceof Map) return [type, [...value].map((each) => each.map(show))];
  if (value instanceof Set) return [type, [...value].map(show)];
  if (ArrayBuffer.isView(value)) return [type, value.byteOffset, value.byteLength, value.buffer.byteLength];
  if (value instanceof ArrayBuffer) return [type, [...new Uint8Array(value)]];
  if (value instanceof Error) return [value.constructor.name, value.name, value.message, Object.keys(value), show(value.cause)];
  if (value instanceof Date) return [type, value.getTime()];
  if (/RegExp|Number|String|Boolean|BigInt/.test(type)) return [type, String(value), value.lastIndex];
  return [type, value.constructor.name, Object.entries(value).map(([name, each]) => [name, show(each)])];
};`;

const values: Readonly<Record<string, string>> = {
  primitive: "[1, -0, 'a', true, null, undefined, 10n, NaN]",
  boxed: "[new Number(1), new String('a'), new Boolean(false), Object(10n)]",
  date: "[new Date(5), new Date(NaN)]",
  "regular expression": "Object.assign(/a+/giu, { lastIndex: 3 })",
  "map and set": "new Map([[{ a: 1 }, new Set([1, [2]])], ['b', new Map()]])",
  "sparse list with a name": "Object.assign([, 1, , 3], { name: 'b' })",
  "instance of a class": "new (class A { a = 1; get b() { return 2; } #c = 3; })()",
  "key __proto__": `JSON.parse('{ "__proto__": { "a": 1 }, "b": 2 }')`,
  "without a prototype": "Object.assign(Object.create(null), { a: 1 })",
  getter: "({ get a() { return { b: 1 }; } })",
  bytes:
    "(() => { const bytes = new Uint8Array([1, 2, 3, 4]); return [bytes.subarray(1, 3), bytes, bytes.buffer, new DataView(bytes.buffer, 2)]; })()",
  errors:
    "[new TypeError('a'), Object.assign(new Error('b', { cause: new RangeError('c') }), { code: 1 }), new (class Own extends Error { name = 'Own'; })('d')]",
};

describe("clones as Node does", () => {
  test.each(Object.entries(values))("%s", (_, value) => {
    const program = `${show} return show(structuredClone(${value}));`;
    expect(evaluate(program)).toEqual(evaluateInNode(program));
  });
});

const refused: Readonly<Record<string, string>> = {
  function: "() => 1",
  symbol: "Symbol()",
  "function in a list": "[1, { a() {} }]",
  "weak map": "new WeakMap()",
  promise: "Promise.resolve()",
  generator: "(function* () {})()",
  proxy: "new Proxy({}, {})",
  "boxed symbol": "Object(Symbol())",
  arguments: "(function () { return arguments; })(1, 2)",
  event: "new Event('a')",
};

describe("refuses", () => {
  test.each(Object.entries(refused))("%s", (_, value) => {
    const program = `try { structuredClone(${value}); } catch (error) { return [error.name, error.code, error instanceof DOMException]; }`;
    expect(evaluate(program)).toEqual(["DataCloneError", 25, true]);
  });
});

test("keeps cycles and values that are there twice", () => {
  const program = `const one = { list: [] }; one.list.push(one, one.list); one.map = new Map([[one, one.list]]);
    const copy = structuredClone(one);
    return [copy !== one, copy.list[0] === copy, copy.list[1] === copy.list, copy.map.get(copy) === copy.list];`;
  expect(evaluate(program)).toEqual(evaluateInNode(program));
});

test("clones what is nested deeper than calls can be", () => {
  const program = `let deep = {}; for (let i = 0; i < 100000; i++) deep = { deep };
    let depth = 0; for (let at = structuredClone(deep); at.deep; at = at.deep) depth++;
    return depth;`;
  expect(evaluate(program)).toBe(100_000);
});

test("transfers buffers, wherever they and their views are", () => {
  const program = `const buffer = new ArrayBuffer(4), bytes = new Uint8Array(buffer, 1, 2).fill(7);
    const copy = structuredClone({ bytes, map: new Map([[bytes, buffer], [buffer, 1]]), set: new Set([1, buffer, 2]) }, { transfer: [buffer] });
    return [buffer.byteLength, bytes.length, [...copy.bytes], copy.bytes.buffer.byteLength, copy.map.get(copy.bytes) === copy.bytes.buffer,
      [...copy.map.keys()].indexOf(copy.bytes.buffer), [...copy.set].indexOf(copy.bytes.buffer)];`;
  expect(evaluate(program)).toEqual([0, 0, [7, 7], 4, true, 1, 1]);
  expect(evaluateInNode(program)).toEqual([0, 0, [7, 7], 4, true, 1, 1]);
});

test("detaches nothing when it refuses", () => {
  const program = `const buffer = new ArrayBuffer(4), detached = new ArrayBuffer(1), seen = [];
    structuredClone(detached, { transfer: [detached] });
    for (const [value, transfer] of [[[buffer, () => 1], [buffer]], [1, [buffer, buffer]], [1, [buffer, detached]], [1, [buffer, {}]]]) {
      try { structuredClone(value, { transfer }); } catch (error) { seen.push(error.name, buffer.byteLength); }
    }
    return seen;`;
  expect(evaluate(program)).toEqual(Array(4).fill(["DataCloneError", 4]).flat());
});

test("messages arrive in their order, also those of a transferred port", () => {
  const program = `const { port1, port2 } = new MessageChannel(), inner = new MessageChannel(), seen = [];
    return new Promise((resolve) => {
      port2.onmessage = ({ data, ports: [port] }) => {
        seen.push(data);
        if (port) port.onmessage = (event) => { seen.push(event.data); if (event.data === "late") resolve(seen); };
      };
      port1.postMessage({ a: 1 });
      inner.port2.postMessage("early");
      port1.postMessage("with a port", [inner.port1]);
      inner.port2.postMessage("late");
    });`;
  expect(evaluate(program)).toEqual([{ a: 1 }, "with a port", "early", "late"]);
});

test("a closed channel delivers nothing, and the other port learns of it", () => {
  const program = `const { port1, port2 } = new MessageChannel(), seen = [];
    port2.onmessage = ({ data }) => seen.push(data);
    port2.addEventListener("close", (event) => seen.push(event.type));
    port1.postMessage("before");
    port1.close();
    port1.postMessage("after");
    return new Promise((resolve) => setTimeout(() => resolve(seen), 5));`;
  expect(evaluate(program)).toEqual(["before", "close"]);
});
