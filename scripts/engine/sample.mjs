// Tenon's own tests, for the parts of the engine and its heap that Tenon rewrites: the clock, random numbers, the
// arguments of a call, free blocks, young objects, code compiled at run time, timers. They run in CI. Each function's
// text is evaluated in the component. It prints lines that must be the same on every engine, and throws if one is wrong
// everywhere.

import { before } from "./wpt.mjs";

const checks = {
  /** The time must be the request's: not that of the build, of the rehearsal or of an earlier request. */
  clock() {
    const passed = Date.now() - globalThis.hostTime;
    if (Math.abs(passed) > 300_000) throw new Error(`the time is off by ${passed} ms`);
    const made = new Date();
    if (Math.abs(made - Date.now()) > 60_000) throw new Error("two clocks");
    let last = performance.now();
    for (let i = 0; i < 1000; i++) {
      const now = performance.now();
      if (!(now >= last && now < 60_000)) throw new Error(`performance.now() went from ${last} to ${now}`);
      last = now;
    }
    globalThis.print(new Date(0).toISOString(), new Date(2024, 1, 29, 12).toString(), Date.UTC(1970, 0));
  },
  async timers() {
    const order = [];
    const begun = performance.now();
    const after = (ms, ...values) =>
      new Promise((done) => setTimeout((...all) => done(order.push(...all)), ms, ...values));
    const cancelled = setTimeout(() => order.push("cancelled"), 1);
    clearTimeout(cancelled);
    await Promise.all([after(1, "a", "b"), Promise.resolve().then(() => order.push("job"))]);
    await after(20, "c");
    if (performance.now() - begun < 20) throw new Error("a timer is early");
    let count = 0;
    await new Promise((done) => {
      const interval = setInterval(() => {
        if (++count === 3) done(clearInterval(interval));
      }, 1);
    });
    globalThis.print(order.join(), count);
  },
  random() {
    const values = Array.from({ length: 100 }, () => Math.random());
    const bytes = crypto.getRandomValues(new Uint8Array(64));
    if (new Set(values).size < 100 || new Set(bytes).size < 16) throw new Error("not random");
    globalThis.print(
      values.every((value) => value >= 0 && value < 1),
      crypto.randomUUID().length,
    );
  },
  dates() {
    for (const text of ["2024-02-29T23:59:59.999Z", "1970-01-01", "275760-09-13", "not a date", "-271821-04-20"]) {
      const date = new Date(text);
      globalThis.print(text, date.getTime(), String(date), date.getTimezoneOffset());
    }
  },
  argumentObjects() {
    const mapped = Function("a", "b", "arguments[0] = 7; b = 8; return [a, arguments[1], arguments.length].join()");
    const strict = Function("a", '"use strict"; arguments[0] = 7; return [a, arguments.length].join()');
    globalThis.print(mapped(1, 2, 3), mapped(1), strict(1, 2), Math.max(...Array.from({ length: 5000 }, (_, i) => i)));
    globalThis.print(((...rest) => rest.length).apply(null, { length: 300 }), Reflect.construct(Date, [0]).getTime());
  },
  /**
   * Makes objects of every size and drops most of them, so that blocks that were free in the snapshot are used and
   * collected.
   */
  heap() {
    let sum = 0;
    let kept = [];
    for (let round = 0; round < 20_000; round++) {
      const size = (round * 7919) % 700;
      const made = {
        round,
        text: "x".repeat(size % 97) + round,
        bytes: new Uint8Array(size).fill(round),
        next: kept[0],
      };
      if (round % 50 === 0) kept.push(made);
      if (kept.length > 200) kept = kept.slice(100);
      sum = (sum * 31 + made.text.length + (made.bytes[size >> 1] ?? 0)) | 0;
    }
    const large = Array.from({ length: 6 }, (_, i) => new Uint8Array(1 << 20).fill(i));
    if (new Uint8Array(5 << 20).some((byte) => byte !== 0)) throw new Error("new memory is not zero");
    globalThis.print(
      sum,
      kept.length,
      kept.map(({ text }) => text.length).join(),
      large.map((each) => each[99]).join(),
    );
  },
  maps() {
    const map = new Map();
    const weak = new WeakMap();
    for (let i = 0; i < 5000; i++) {
      const key = i % 3 === 0 ? { i } : `key ${i}`;
      map.set(key, i);
      if (typeof key === "object") weak.set(key, i);
      if (i % 7 === 0) map.delete(`key ${i - 5}`);
    }
    const right = [...map].every(([key, value]) => typeof key !== "object" || weak.get(key) === value);
    globalThis.print(
      map.size,
      right,
      [...map.values()].reduce((a, b) => (a * 33 + b) | 0, 0),
    );
  },
  expressions() {
    const text = "2026-11-23T04:56:43Z GET /users/42?page=2 üöä 👩‍🚀";
    for (const expression of [
      /(?<y>\d{4})-(?<m>\d\d)/,
      /\/(\w+)\/(\d+)/g,
      /[^\0-\x7f]+/gu,
      /(?<=GET )\S+/,
      /(a*)*b/,
      /(.)\1/,
    ]) {
      globalThis.print(String(expression), JSON.stringify([...text.matchAll(new RegExp(expression, "g"))]));
    }
    globalThis.print(
      "a-b_c".replace(/[-_](.)/g, (_, c) => c.toUpperCase()),
      "x".padStart(5, "ab"),
      "I".toLowerCase(),
    );
  },
  compiled() {
    // biome-ignore lint/security/noGlobalEval: it is the feature under test
    const evaluate = globalThis.eval;
    globalThis.print(
      evaluate("var fromEval = 3; fromEval ** 4"),
      evaluate("(class A { #p = 5; get p() { return this.#p } })").name,
    );
    const functions = Array.from({ length: 300 }, (_, i) => new Function("x", `return x * ${i} + ${i % 7}`));
    globalThis.print(functions.reduce((value, each) => each(value) % 1_000_003, 1));
    for (const wrong of ["let a; let a", "(", "var 1", "return", "`${", "a => { break }"]) {
      try {
        evaluate(wrong);
        throw new Error(`${wrong} is no error`);
      } catch (error) {
        globalThis.print(wrong, error.name, error.message);
      }
    }
  },
  async generators() {
    function* numbers() {
      try {
        for (let i = 0; ; i++) if ((yield i * i) === "stop") return "stopped";
      } finally {
        globalThis.print("finally");
      }
    }
    const generator = numbers();
    globalThis.print(
      generator.next().value,
      generator.next().value,
      generator.next("stop").value,
      generator.next().done,
    );
    async function* later() {
      for (const value of [1, 2, 3]) yield await new Promise((done) => queueMicrotask(() => done(value)));
    }
    const all = [];
    for await (const value of later()) all.push(value);
    globalThis.print(all.join(), [...new Set(all).union(new Set([9]))].join());
  },
  typedArrays() {
    const buffer = new ArrayBuffer(64, { maxByteLength: 256 });
    const view = new DataView(buffer);
    view.setFloat64(0, Math.PI);
    view.setBigInt64(8, -(2n ** 62n), true);
    buffer.resize(128);
    const words = new Uint32Array(buffer);
    globalThis.print(words.length, [...words.subarray(0, 4)].join(), new Float32Array([1.1, Number.NaN, -0]).join());
    const moved = buffer.transfer();
    globalThis.print(buffer.detached, moved.byteLength, structuredClone(new Uint8Array([1, 2, 3])).join());
    globalThis.print(
      new Int32Array(5000)
        .map((_, i) => (i * 7919) % 5003)
        .sort()
        .slice(2490, 2510)
        .join(),
    );
  },
  numbers() {
    for (const value of [0.1 + 0.2, 1e21, 2 ** 53 + 1, -0, 5e-324, Number.MAX_VALUE]) {
      globalThis.print(
        String(value),
        value.toFixed(3),
        value.toString(36),
        value.toExponential(5),
        Object.is(value, -0),
      );
    }
    globalThis.print(
      2n ** 300n,
      BigInt.asIntN(64, 2n ** 63n),
      parseFloat("0x1"),
      Number("0b101"),
      Math.hypot(3, 4),
      Math.fround(5.05),
    );
    const sums = ["sin", "cos", "tan", "exp", "log", "cbrt", "atanh", "sinh", "log1p", "expm1"];
    globalThis.print(sums.map((name) => Math[name](0.7)).join());
  },
  recursion() {
    const depth = (n) => {
      try {
        return depth(n + 1);
      } catch {
        return n;
      }
    };
    globalThis.print(depth(0) > 100, JSON.stringify(JSON.parse("[".repeat(100) + "]".repeat(100))).length);
  },
  objects() {
    const log = [];
    const proxy = new Proxy({}, { get: (_, key) => log.push(String(key)), has: () => true, ownKeys: () => ["a"] });
    globalThis.print(proxy.x, "y" in proxy, Reflect.ownKeys(proxy).join(), log.join());
    globalThis.print(
      Object.keys({ b: 1, 2: 1, a: 1, 1: 1 }).join(),
      JSON.stringify({ a: [undefined, () => 1, new Date(0)], b: 1n < 2 }),
    );
    class Base {
      static #made = 0;
      accessor = ++Base.#made;
      static {
        globalThis.print("static", Base.#made);
      }
    }
    globalThis.print(
      new (class extends Base {})().accessor,
      new Error("why", { cause: 5 }).cause,
      Object.groupBy([1, 2, 3], (n) => n % 2)[1].join(),
    );
  },
  texts() {
    const text = `${"€".repeat(3000)}\u{1F600}${"a".repeat(40_000)}`;
    const bytes = new TextEncoder().encode(text);
    globalThis.print(
      bytes.length,
      new TextDecoder().decode(bytes) === text,
      new TextDecoder("utf-16le").decode(bytes.subarray(0, 6)),
    );
    globalThis.print(btoa(text.slice(3002).slice(0, 30)), encodeURIComponent("ä€😀"), "😀".at(1).charCodeAt(0));
    globalThis.print(
      new URL("http://ex%41mple.com/ä?q=ö#é").href,
      ["z", "ä", "a"].sort().join(),
      "\ud800".isWellFormed(),
    );
  },
  /** Prints the properties of the global object and the shape of its functions, which reveals a different wrapper. */
  globals() {
    const own = Object.getOwnPropertyNames(globalThis).filter((name) => !["print", "$262", "hostTime"].includes(name));
    globalThis.print(own.sort().join());
    for (const name of own) {
      const { value, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name);
      if (typeof value !== "function") continue;
      globalThis.print(
        name,
        value.name,
        value.length,
        writable,
        enumerable,
        configurable,
        Object.hasOwn(value, "prototype"),
      );
    }
  },
};

/** Relative URLs, as in Web Platform Tests. Only the unmodified engine has its own base for them. */
const relative = {
  id: "relative URLs of Web Platform Tests",
  first: before("http://127.0.0.1:8000/fetch/api/test.any.js"),
  script: scriptOf(
    {
      relative() {
        const redirected = [Response.redirect("/"), Response.redirect("../a?b", 301)];
        globalThis.print(redirected.map(({ status, headers }) => `${status} ${headers.get("location")}`).join());
        // The function `URL` is also a URL when converted to a text.
        const requests = [new Request(""), new Request("../a", { method: "POST", body: "b" }), new Request(URL)];
        globalThis.print([...requests, new Request(requests[1])].map(({ method, url }) => `${method} ${url}`).join());
      },
    }.relative,
  ),
};

/** Sizes of a task's text near the capacity of the block of arguments, and far beyond it. */
const sizes = [1_000, 16_000, ...Array.from({ length: 40 }, (_, i) => 16_340 + i), 65_536, 1_000_000];

/** Returns the tests in the form of `test262`. Each of them passes on every engine. */
export function sample() {
  const tests = [relative, ...Object.entries(checks).map(([id, check]) => ({ id, script: scriptOf(check) }))];
  for (const size of sizes) {
    const script = `print("${"sum".padEnd(size, "0123456789")}".length); print("over");`;
    tests.push({ id: `text of ${size} characters`, script });
  }
  return {
    tests: tests.map(({ id, first = "", script }) => ({
      id,
      task: () => ({
        scripts: [`globalThis.hostTime = ${Date.now()};`, first, script],
        until: ["over"],
        waitMs: 5_000,
      }),
      verdict: (report) => (report.startsWith("{") && isGood(JSON.parse(report)) ? "pass" : "fail"),
    })),
    leftOut: new Map(),
  };
}

const isGood = ({ threw, pending, printed }) => !threw && !pending && printed.at(-1) === "over";

/** Prints several values as one line, and "over" at the end, or the test's error. */
function scriptOf(check) {
  const text = check.toString().replace(/^(async )?(\w+)/, "$1function $2");
  return `{
    const line = print;
    globalThis.print = (...values) => line(values.map(String).join(" "));
    (async () => { await (${text})(); })().then(() => line("over"), (error) => line("over: " + error.name + ": " + error.message));
  }`;
}
