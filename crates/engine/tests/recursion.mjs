// biome-ignore-all lint: each program recurses where a linter would rather see none

/**
 * Programs that recurse without an end, or very deep. Each must either return or throw a RangeError; none may trap.
 *
 * Plain JavaScript without imports, so that it runs in a handler, in `qjs` and in Node alike.
 */

const nested = (open, inner, close, depth) => open.repeat(depth) + inner + close.repeat(depth);
const parse = (text) => () => Function(`return ${text}`)();
const DEEP = 30_000;

/** Wraps `value` `depth` times. */
const wrapped = (value, wrap, depth = DEEP) => {
  let all = value;
  for (let i = 0; i < depth; i++) all = wrap(all);
  return all;
};

export const cases = {
  "a plain call": () =>
    (function f() {
      return f() + 1;
    })(),
  "a call of a method": () =>
    ({
      f() {
        return this.f() + 1;
      },
    }).f(),
  "mutual calls": () => {
    const a = () => b() + 1;
    const b = () => a() + 1;
    return a();
  },
  "many locals": () =>
    (function f(a, b, c) {
      const d = a,
        e = b,
        g = c,
        h = 1,
        i = 2,
        j = 3,
        k = 4;
      return f(d, e, g) + h + i + j + k;
    })(1, 2, 3),
  "a closure": () => {
    let n = 0;
    const f = () => {
      n++;
      return (() => f() + n)();
    };
    return f();
  },
  "fewer arguments than parameters": () =>
    (function f(a, b, c, d, e, g, h) {
      return f() + a + b + c + d + e + g + h;
    })(),
  "rest and spread": () =>
    (function f(...all) {
      return f(...all, 1) + 1;
    })(),
  apply: () =>
    (function f(...all) {
      return f.apply(null, all) + 1;
    })(1, 2),
  "Reflect.apply": () =>
    (function f() {
      return Reflect.apply(f, null, [1, 2]) + 1;
    })(),
  call: () =>
    (function f() {
      return f.call(null, 1) + 1;
    })(),
  "apply with many arguments": () => Math.max.apply(null, new Array(60_000).fill(1)),
  "spread of many arguments": () => ((...all) => all.length)(...new Array(60_000).fill(1)),
  "push of many arguments": () => [].push(...new Array(60_000).fill(1)),
  "a bound function with many arguments": () =>
    ((...all) => all.length).bind(null, ...new Array(30_000).fill(1))(...new Array(30_000).fill(2)),
  "a bound function": () => {
    const o = {};
    o.f = () => o.g() + 1;
    o.g = o.f.bind(o, 1, 2);
    return o.g();
  },
  "a chain of bound functions": () =>
    wrapped(
      () => 1,
      (f) => f.bind(),
      8_000,
    )(),
  "new of a chain of bound functions": () => new (wrapped(class {}, (f) => f.bind(), 8_000))(),
  "instanceof a chain of bound functions": () => ({}) instanceof wrapped(class {}, (f) => f.bind(), 8_000),
  "instanceof without Symbol.hasInstance": () => {
    const chain = wrapped(
      () => {},
      (f) => {
        const g = f.bind();
        Object.defineProperty(g, Symbol.hasInstance, { value: undefined });
        return g;
      },
      8_000,
    );
    return {} instanceof chain;
  },
  "Symbol.hasInstance": () => {
    const o = { [Symbol.hasInstance]: () => 1 instanceof o };
    return 1 instanceof o;
  },
  "a constructor": () =>
    new (class A {
      constructor() {
        this.a = new A();
      }
    })(),
  "a derived constructor": () => {
    class B {
      constructor() {
        this.a = new A();
      }
    }
    class A extends B {
      constructor() {
        super();
      }
    }
    return new A();
  },
  "a long chain of classes": () => {
    let C = class {};
    for (let i = 0; i < 3_000; i++)
      C = class extends C {
        constructor() {
          super();
        }
      };
    return typeof new C();
  },
  "a field": () => {
    class A {
      a = new A();
    }
    return new A();
  },
  "a static block": () => {
    const f = () => {
      class A {
        static {
          f();
        }
      }
      return A;
    };
    return f();
  },
  super: () => {
    const o = {
      __proto__: {
        f() {
          return this.f();
        },
      },
      f() {
        return super.f() + 1;
      },
    };
    return o.f();
  },
  "a getter": () =>
    ({
      get a() {
        return this.a + 1;
      },
    }).a,
  "a setter": () => {
    ({
      set a(value) {
        this.a = value;
      },
    }).a = 1;
  },
  "a static getter": () => {
    class A {
      static get a() {
        return A.a + 1;
      }
    }
    return A.a;
  },
  toString: () => {
    const o = {
      toString() {
        return `${o}`;
      },
    };
    return `${o}`;
  },
  valueOf: () => {
    const o = {
      valueOf() {
        return +o;
      },
    };
    return +o;
  },
  "Symbol.toPrimitive": () => {
    const o = {
      [Symbol.toPrimitive]() {
        return o + 1;
      },
    };
    return o < 1;
  },
  "a computed key": () => {
    const o = {
      toString() {
        return { [o]: 1 };
      },
    };
    return { [o]: 1 };
  },
  comparison: () => {
    const o = {
      valueOf() {
        return o < 1;
      },
    };
    return o == 1;
  },
  "typed arrays and valueOf": () => {
    const a = new Uint8Array(1),
      o = {
        valueOf() {
          a[0] = o;
          return 1;
        },
      };
    a[0] = o;
  },
  "join of an array in itself by another": () => {
    const a = { toString: () => [a, a].join() };
    return String(a);
  },
  sort: () =>
    (function f() {
      [2, 1].sort(f);
      return 1;
    })(),
  toSorted: () =>
    (function f() {
      [2, 1].toSorted(f);
      return 1;
    })(),
  "sort of a typed array": () =>
    (function f() {
      new Uint8Array([2, 1]).sort(f);
      return 1;
    })(),
  map: () =>
    (function f() {
      return [1].map(f);
    })(),
  forEach: () =>
    (function f() {
      [1].forEach(f);
    })(),
  reduce: () =>
    (function f() {
      return [1, 2].reduce(f);
    })(),
  flatMap: () =>
    (function f() {
      return [1].flatMap(f);
    })(),
  find: () =>
    (function f() {
      return [1].find(f);
    })(),
  findLast: () =>
    (function f() {
      return [1].findLast(f);
    })(),
  "Array.from": () =>
    (function f() {
      return Array.from([1], f);
    })(),
  "Array.from of an iterable": () => {
    const o = { [Symbol.iterator]: () => Array.from(o)[Symbol.iterator]() };
    return Array.from(o);
  },
  "map of a typed array": () =>
    (function f() {
      return new Uint8Array(1).map(f);
    })(),
  "Map.forEach": () =>
    (function f() {
      new Map([[1, 1]]).forEach(f);
    })(),
  "Map.groupBy": () =>
    (function f() {
      return Map.groupBy([1], f);
    })(),
  "Object.groupBy": () =>
    (function f() {
      return Object.groupBy([1], f);
    })(),
  replace: () =>
    (function f() {
      return "a".replace("a", f);
    })(),
  "replace by an expression": () =>
    (function f() {
      return "a".replace(/a/g, f);
    })(),
  replaceAll: () =>
    (function f() {
      return "a".replaceAll("a", f);
    })(),
  "split by a symbol": () => {
    const o = { [Symbol.split]: () => "a".split(o) };
    return "a".split(o);
  },
  "exec of an expression": () => {
    const r = /a/;
    r.exec = () => r.test("a");
    return r.test("a");
  },
  species: () => {
    class A extends Array {
      static get [Symbol.species]() {
        return new A(1).map((n) => n).constructor;
      }
    }
    return new A(1).map((n) => n);
  },
  "concat and species": () => {
    class A extends Array {
      static get [Symbol.species]() {
        return class {
          constructor() {
            return new A(1).concat(1);
          }
        };
      }
    }
    return new A(1).concat(1);
  },
  "Symbol.isConcatSpreadable": () => {
    const o = {
      get [Symbol.isConcatSpreadable]() {
        return [].concat(o);
      },
    };
    return [].concat(o);
  },
  "JSON.parse of arrays": () => JSON.parse(nested("[", "", "]", DEEP)),
  "JSON.parse of objects": () => JSON.parse(nested('{"a":', "1", "}", DEEP)),
  "JSON.parse with a reviver": () => JSON.parse(nested("[", "", "]", 500), (key, value) => value),
  "a reviver that parses": () =>
    (function f() {
      return JSON.parse("[1]", f);
    })(),
  "a reviver of a grown value": () =>
    JSON.parse("[1]", function (key, value) {
      if (key === "0") this[1] = wrapped([], (v) => [v]);
      return value;
    }),
  "JSON.stringify of arrays": () => JSON.stringify(wrapped([], (v) => [v])).length,
  "JSON.stringify of objects": () => JSON.stringify(wrapped({}, (a) => ({ a }))).length,
  "JSON.stringify with spaces": () =>
    JSON.stringify(
      wrapped({}, (a) => ({ a })),
      null,
      1,
    ).length,
  toJSON: () => {
    const o = { toJSON: () => JSON.stringify(o) };
    return JSON.stringify(o);
  },
  "toJSON that gives another": () =>
    JSON.stringify({
      toJSON() {
        return { a: { toJSON: this.toJSON } };
      },
    }),
  "a replacer": () =>
    (function f() {
      return JSON.stringify([1], f);
    })(),
  "a replacer that gives another": () => JSON.stringify(1, () => ({ a: 1 })),
  "a cycle": () => {
    const o = {};
    o.o = o;
    try {
      return JSON.stringify(o);
    } catch (error) {
      if (error instanceof TypeError) return 1;
      throw error;
    }
  },
  "a proxy in JSON.stringify": () => {
    const handler = {
      ownKeys: () => ["a"],
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
      get: (target, key) => (key === "toJSON" ? undefined : new Proxy({}, handler)),
    };
    return JSON.stringify(new Proxy({}, handler));
  },
  flat: () => wrapped([], (v) => [v]).flat(Infinity),
  "toString of nested arrays": () => String(wrapped([], (v) => [v])),
  "toLocaleString of nested arrays": () => wrapped([], (v) => [v]).toLocaleString(),
  "a handler's get": () => new Proxy({}, { get: (target, key, me) => me[key] }).a,
  "a handler's set": () => {
    new Proxy(
      {},
      {
        set(target, key, value, me) {
          me[key] = value;
          return true;
        },
      },
    ).a = 1;
  },
  "a handler's has": () => {
    const p = new Proxy({}, { has: (target, key) => key in p });
    return "a" in p;
  },
  "a handler's apply": () => {
    const p = new Proxy(() => 1, { apply: () => p() });
    return p();
  },
  "a handler's construct": () => {
    const p = new Proxy(class {}, { construct: () => new p() });
    return new p();
  },
  "a handler's ownKeys": () => {
    const p = new Proxy({}, { ownKeys: () => Object.keys(p) });
    return Object.keys(p);
  },
  "a handler's getPrototypeOf": () => {
    const p = new Proxy({}, { getPrototypeOf: () => Object.getPrototypeOf(p) });
    return Object.getPrototypeOf(p);
  },
  "a proxy that is its own prototype": () => {
    const p = new Proxy(
      class {
        m() {}
      }.prototype.m,
      {},
    );
    p.__proto__ = p;
    let q = p;
    q++;
    return q;
  },
  "a handler that is a proxy of itself": () => {
    const h = {};
    const p = new Proxy({}, h);
    h.__proto__ = p;
    return p.a;
  },
  ...Object.fromEntries(
    [
      ["get", (p) => p.a],
      [
        "set",
        (p) => {
          p.a = 1;
        },
      ],
      ["has", (p) => "a" in p],
      ["delete", (p) => delete p.a],
      ["define", (p) => Object.defineProperty(p, "a", { value: 1, configurable: true })],
      ["getOwnPropertyDescriptor", (p) => Object.getOwnPropertyDescriptor(p, "a")],
      ["ownKeys", (p) => Reflect.ownKeys(p)],
      ["keys", (p) => Object.keys(p)],
      ["spread", (p) => ({ ...p })],
      [
        "for…in",
        (p) => {
          for (const key in p) return key;
        },
      ],
      ["getPrototypeOf", (p) => Object.getPrototypeOf(p)],
      ["setPrototypeOf", (p) => Object.setPrototypeOf(p, null)],
      ["isExtensible", (p) => Object.isExtensible(p)],
      ["preventExtensions", (p) => Object.preventExtensions(p)],
      ["freeze", (p) => Object.freeze(p)],
      ["isArray", (p) => Array.isArray(p)],
      ["instanceof", (p) => p instanceof Object],
      ["JSON.stringify", (p) => JSON.stringify(p)],
      ["toString", (p) => Object.prototype.toString.call(p)],
      ["concat", (p) => [].concat(p)],
    ].map(([name, use]) => [
      `a chain of proxies, ${name}`,
      () => typeof use(wrapped({}, (target) => new Proxy(target, {}))),
    ]),
  ),
  "a call of a chain of proxies": () =>
    wrapped(
      () => 1,
      (f) => new Proxy(f, {}),
    )(),
  "new of a chain of proxies": () => typeof new (wrapped(class {}, (f) => new Proxy(f, {})))(),
  "a chain of prototypes": () => {
    const o = wrapped({}, (proto) => ({ __proto__: proto }), 10_000);
    return o.a;
  },
  "a set along prototypes": () => {
    const o = wrapped({}, (proto) => ({ __proto__: proto }), 10_000);
    o.a = 1;
    return o.a;
  },
  "for…in along prototypes": () => {
    for (const key in wrapped({ a: 1 }, (proto) => ({ __proto__: proto }), 10_000)) return key;
  },
  "a chain of proxies as prototypes": () => wrapped({}, (proto) => new Proxy({ __proto__: proto }, {})).a,
  "a set along proxies as prototypes": () => {
    wrapped({}, (proto) => new Proxy({ __proto__: proto }, {})).a = 1;
  },
  "a generator": () => [
    ...(function* f() {
      yield* f();
    })(),
  ],
  "a generator that iterates itself": () => {
    function* f() {
      for (const a of f()) yield a;
    }
    return f().next();
  },
  "a generator resumed by a generator": () => {
    const f = () => {
      const g = (function* () {
        f();
        yield 1;
      })();
      g.next();
    };
    f();
  },
  "a chain of generators": () => {
    function* one(of) {
      yield* of;
    }
    return wrapped([1], one).next?.().value ?? 1;
  },
  "an iterator": () => {
    const o = {
      [Symbol.iterator]: () => {
        for (const a of o) return a;
      },
    };
    for (const a of o) return a;
  },
  "a destructured iterator": () => {
    const o = {
      [Symbol.iterator]: () => {
        const [a] = o;
        return a;
      },
    };
    const [a] = o;
    return a;
  },
  "a destructured getter": () => {
    const o = {
      get a() {
        const { a } = o;
        return a;
      },
    };
    const { a } = o;
    return a;
  },
  "a default": () =>
    (function f(a = f()) {
      return a;
    })(),
  "a chain of iterator helpers": () =>
    typeof Iterator === "undefined" ? 1 : wrapped([1].values(), (i) => i.map((n) => n)).next().value,
  "a chain of iterator helpers, filter": () =>
    typeof Iterator === "undefined" ? 1 : wrapped([1].values(), (i) => i.filter(() => true)).toArray(),
  "a chain of flatMap": () =>
    typeof Iterator === "undefined" ? 1 : wrapped([1].values(), (i) => i.flatMap((n) => [n])).next().value,
  "return of a chain of iterator helpers": () =>
    typeof Iterator === "undefined" ? 1 : wrapped([1].values(), (i) => i.take(2)).return(),
  "an async function": () =>
    typeof (async function f() {
      await f();
    })(),
  "an async generator": () => {
    async function* f() {
      yield* f();
    }
    return typeof f().next();
  },
  "async functions that start each other": () => {
    const f = async () => {
      f();
      await 1;
    };
    return typeof f();
  },
  "a thenable": () => {
    return (function f() {
      return Promise.resolve({
        get then() {
          return f();
        },
      });
    })();
  },
  "an executor": () =>
    (function f() {
      return new Promise(f);
    })(),
  "a promise's constructor": () => {
    class P extends Promise {
      static get [Symbol.species]() {
        return P.resolve(1).then(() => 1).constructor;
      }
    }
    return P.resolve(1).then(() => 1);
  },
  "an error's stack": () =>
    (function f() {
      try {
        f();
      } catch (error) {
        return error.stack;
      }
      return new Error().stack;
    })(),
  prepareStackTrace: () => {
    const was = Error.prepareStackTrace;
    Error.prepareStackTrace = () => new Error().stack;
    try {
      return new Error().stack;
    } finally {
      Error.prepareStackTrace = was;
    }
  },
  "catch at each level": () => {
    let n = 0;
    (function f() {
      try {
        f();
      } catch {
        n++;
      }
    })();
    return n > 0;
  },
  "finally at each level": () => {
    let n = 0;
    try {
      (function f() {
        try {
          f();
        } finally {
          n++;
        }
      })();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return n > 0;
  },
  "catch that calls again": () => {
    let n = 0;
    (function f() {
      try {
        f();
      } catch {
        if (n++ < 200) f();
      }
    })();
    return n;
  },
  eval: () => {
    const f = () => (0, eval)("globalThis.evalAgain()");
    globalThis.evalAgain = f;
    return f();
  },
  "direct eval": () =>
    (function f() {
      return eval("f()") + 1;
    })(),
  Function: () => {
    globalThis.makeAgain = () => Function("return makeAgain()")() + 1;
    return globalThis.makeAgain();
  },
  "parsing (": parse(nested("(", "1", ")", DEEP)),
  "parsing [": parse(nested("[", "1", "]", DEEP)),
  "parsing {a:": parse(nested("{a:", "1", "}", DEEP)),
  "parsing f(": parse(`${nested("Boolean(", "1", ")", DEEP)}`),
  "parsing a[": parse(nested("a[", "1", "]", DEEP)),
  "parsing !": parse(nested("!", "1", "", DEEP)),
  "parsing -": parse(nested("- ", "1", "", DEEP)),
  "parsing typeof": parse(nested("typeof ", "1", "", DEEP)),
  "parsing new": parse(nested("new ", "Object", "", DEEP)),
  "parsing await": () => Function(`return async () => { ${nested("await ", "1", "", DEEP)} }`)(),
  "parsing yield": () => Function(`return function* () { ${nested("yield ", "1", "", DEEP)} }`)(),
  "parsing =": parse(`(a) => { ${nested("a = ", "1", "", DEEP)} }`),
  "parsing **": parse(nested("1 ** ", "1", "", DEEP)),
  "parsing +": parse(nested("1 + ", "1", "", DEEP)),
  "parsing &&": parse(nested("1 && ", "1", "", DEEP)),
  "parsing ??": parse(nested("null ?? ", "1", "", DEEP)),
  "parsing ,": parse(`(${nested("1, ", "1", "", DEEP)})`),
  "parsing ? :": parse(nested("0 ? 1 : ", "1", "", DEEP)),
  "parsing ? : in the middle": parse(nested("1 ? ", "1", " : 0", DEEP)),
  "parsing =>": parse(nested("a => ", "1", "", DEEP)),
  "parsing (a) =>": parse(nested("(a) => ", "1", "", 100)),
  "parsing (a = ": parse(nested("(a = ", "1", ") => 1", 3_000)),
  "parsing async": parse(nested("async () => ", "1", "", 100)),
  "parsing function": parse(nested("function f() { return ", "1", "}", DEEP)),
  "parsing class": parse(nested("class { a = ", "1", "}", DEEP)),
  "parsing class extends": parse(nested("class extends ", "Object", " {}", DEEP)),
  "parsing a method": parse(nested("({ a() { return ", "1", "} })", DEEP)),
  "parsing a getter": parse(nested("({ get a() { return ", "1", "} })", DEEP)),
  "parsing a computed key": parse(nested("({ [", "1", "]: 1 })", DEEP)),
  "parsing ...": parse(nested("[...", "[]", "]", DEEP)),
  "parsing templates": parse(nested("`${", "1", "}`", DEEP)),
  "parsing tagged templates": parse(nested("a`${", "1", "}`", DEEP)),
  "parsing blocks": () => Function(nested("{", "1", "}", DEEP))(),
  "parsing if": () => Function(nested("if (1) ", "1", "", DEEP))(),
  "parsing else": () => Function(nested("if (0) 1; else ", "1", "", DEEP))(),
  "parsing for": () => Function(nested("for (;0;) ", "1", "", DEEP))(),
  "parsing for…of": () => Function(nested("for (const a of []) ", "1", "", DEEP))(),
  "parsing while": () => Function(nested("while (0) ", "1", "", DEEP))(),
  "parsing do": () => Function(nested("do ", "1", "; while (0)", DEEP))(),
  "parsing labels": () => Function(Array.from({ length: 5_000 }, (_, i) => `a${i}: `).join("") + "1")(),
  "parsing switch": () => Function(nested("switch (1) { case 1: ", "1", "}", 3_000))(),
  "parsing try": () => Function(nested("try {", "1", "} catch {}", DEEP))(),
  "parsing patterns [": () => typeof Function(`let ${nested("[", "a", "]", 200)} = null`),
  "parsing patterns {": () => typeof Function(`let ${nested("{ a: ", "a", "}", 200)} = null`),
  "parsing patterns of parameters": () => Function(`return (${nested("[", "a", "]", DEEP)}) => 1`)(),
  "parsing patterns assigned": () => Function(`let a; ${nested("[", "a", "]", DEEP)} = 1`)(),
  "parsing ?.": parse(`null${"?.a".repeat(DEEP)}`),
  "parsing .": parse(`null?.a${".a".repeat(DEEP)}`),
  "parsing calls": parse(`null?.a${"()".repeat(DEEP)}`),
  "parsing import()": parse(`() => ${nested("import(", "1", ")", DEEP)}`),
  "an expression of groups": () => new RegExp(nested("(", "a", ")", 200)).test("a"),
  "an expression of many groups": () => {
    try {
      return new RegExp(nested("(", "a", ")", DEEP)).test("a");
    } catch (error) {
      if (/too many/.test(error.message)) return 1;
      throw error;
    }
  },
  "an expression of groups that capture nothing": () => new RegExp(nested("(?:", "a", ")", DEEP)).test("a"),
  "an expression of repeated groups": () => new RegExp(nested("(?:", "a", ")*", 200)).test("a"),
  "an expression of lookaheads": () => new RegExp(nested("(?=", "a", ")", DEEP)).test("a"),
  "an expression of lookaheads, matched": () => new RegExp(nested("(?=", "a", ")", 300)).test("a"),
  "an expression of lookbehinds": () => new RegExp(nested("(?<=", "a", ")", DEEP)).test("a"),
  "an expression of modifiers": () => {
    try {
      return new RegExp(nested("(?i:", "a", ")", DEEP)).test("a");
    } catch (error) {
      if (error instanceof SyntaxError) return 1;
      throw error;
    }
  },
  "an expression of alternatives": () => new RegExp(nested("(?:a|", "b", ")", DEEP)).test("b"),
  "an expression of many alternatives": () => new RegExp("a|".repeat(DEEP) + "b").test("b"),
  "an expression of classes": () => new RegExp(nested("[", "a", "]", DEEP), "v").test("a"),
  "an expression of strings": () => new RegExp(`[\\q{${"a|".repeat(DEEP)}}]`, "v").test("a"),
  backtracking: () => /^(?:a|b|ab)*$/.test("ab".repeat(DEEP)),
  "backtracking, lazy": () => /^(?:a|b)*?c/.test("ab".repeat(DEEP)),
  "backtracking with captures": () => /^((a)|(b))*$/.test("ab".repeat(DEEP)),
  "backtracking in a lookahead": () => /^(?:(?=(a|b)*)(?:a|b))*$/.test("ab".repeat(50)),
  "a rope to the left": () => {
    let s = "";
    for (let i = 0; i < 300_000; i++) s += "abcdefghij";
    return s.charCodeAt(5);
  },
  "a rope to the right": () => {
    let s = "";
    for (let i = 0; i < 100_000; i++) s = "abcdefghij" + s;
    return s.charCodeAt(5);
  },
  "a rope that is dropped": () => {
    let s = "";
    for (let i = 0; i < 20_000; i++) s = `abcdefghijabcdefghijabcdefghij${s}`;
    s = "";
    return s;
  },
  "a rope as a key": () => {
    let s = "";
    for (let i = 0; i < 20_000; i++) s += "abcdefghij";
    return { [s]: 1 }[s];
  },
  "a long list that is freed": () => {
    let list = null;
    for (let i = 0; i < 200_000; i++) list = { next: list };
    list = null;
    return list;
  },
  "a long list of arrays that is freed": () => {
    let list = [];
    for (let i = 0; i < 200_000; i++) list = [list];
    list = null;
    return list;
  },
  "a long list of closures that is freed": () => {
    let f = null;
    for (let i = 0; i < 100_000; i++) {
      const g = f;
      f = () => g;
    }
    f = null;
    return f;
  },
  "a long list of maps that is freed": () => {
    let map = null;
    for (let i = 0; i < 30_000; i++) map = new Map([[map, map]]);
    map = null;
    return map;
  },
  "a long list of generators that is freed": () => {
    let g = null;
    for (let i = 0; i < 30_000; i++) {
      const h = g;
      g = (function* () {
        yield h;
      })();
      g.next();
    }
    g = null;
    return g;
  },
  "a long list of promises that is freed": () => {
    let p = Promise.resolve();
    for (let i = 0; i < 30_000; i++) {
      const q = p;
      p = p.then(() => q);
    }
    p = null;
    return p;
  },
  "a long list of weak references that is freed": () => {
    let w = {};
    const all = new WeakMap();
    for (let i = 0; i < 30_000; i++) {
      const v = {};
      all.set(v, w);
      w = v;
    }
    w = null;
    return w;
  },
  "a long list of proxies that is freed": () => {
    let p = {};
    for (let i = 0; i < 30_000; i++) p = new Proxy(p, {});
    p = null;
    return p;
  },
  "a long list of bound functions that is freed": () => {
    let f = () => 1;
    for (let i = 0; i < 10_000; i++) f = f.bind();
    f = null;
    return f;
  },
  "a long list of prototypes that is freed": () => {
    let o = {};
    for (let i = 0; i < 10_000; i++) o = { __proto__: o };
    o = null;
    return o;
  },
  "a long cycle that is collected": () => {
    const first = {};
    let list = first;
    for (let i = 0; i < 200_000; i++) list = { next: list };
    first.next = list;
    list = null;
    return 1;
  },
  "a long list of errors": () => {
    let e = null;
    for (let i = 0; i < 10_000; i++) e = new Error("a", { cause: e });
    e = null;
    return e;
  },
  structuredClone: () => (typeof structuredClone === "undefined" ? 1 : structuredClone(wrapped([], (v) => [v]))),
  "a recursion of 100": () =>
    (function f(n) {
      return n && f(n - 1) + 1;
    })(100),
  "a recursion of 300": () =>
    (function f(n) {
      return n && f(n - 1) + 1;
    })(300),
  "a recursion of 100 by map": () =>
    (function f(n) {
      return n ? [n].map(() => f(n - 1))[0] + 1 : 0;
    })(100),
};

/** Runs a case; the result is one line, and begins with "wrong" if the case neither returned nor threw a RangeError. */
export function run(name) {
  try {
    const value = cases[name]();
    if (value && typeof value.then === "function")
      value.then(
        () => {},
        () => {},
      );
    return "returned";
  } catch (error) {
    return error instanceof RangeError
      ? `RangeError: ${error.message}`
      : `wrong: ${error?.name}: ${String(error?.message).slice(0, 100)}`;
  }
}
