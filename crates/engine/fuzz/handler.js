// A handler that does what none should. Each request chooses by random numbers of the host, so a seed repeats it.
import * as engine from "tenon:engine";

const any = (below) => Math.floor(Math.random() * below);
const pick = (...all) => all[any(all.length)]();
const kept = [];
const bytes = (length = any(50)) => new Uint8Array(length).fill(65);
const resizable = () => {
  const buffer = new ArrayBuffer(any(3000), { maxByteLength: 4000 });
  const view = new Uint8Array(buffer, 0);
  kept.push(() => buffer.resize(any(4000)));
  return view;
};
const detached = () => {
  const view = bytes(2000);
  kept.push(() => view.buffer.transfer());
  return view;
};
const disturb = () => {
  while (kept.length > 0) {
    try {
      kept.pop()();
    } catch {}
  }
};
const disturbing = (value) => () => {
  disturb();
  return value;
};
const odd = () =>
  pick(
    () => undefined,
    () => null,
    () => 7,
    () => "text\ud800",
    () => Symbol("s"),
    () => 10n,
    () => ({}),
    () => [],
    () => new Proxy([], {}),
    () => new Proxy(bytes(), {}),
    () => ({ valueOf: disturbing(3), toString: disturbing("odd") }),
    () => ({
      toString() {
        throw new Error("no text");
      },
    }),
  );
const value = () =>
  pick(
    () => bytes(),
    () => bytes(),
    resizable,
    detached,
    () => new Uint8Array(new SharedArrayBuffer(16)),
    () => new Uint16Array(4),
    odd,
  );
const name = () =>
  any(8)
    ? pick(
        () => "a",
        () => "content-type",
        () => "ß😀",
        () => "x".repeat(any(400)),
      )
    : odd();
const pair = () => {
  const made = [name(), value()];
  if (any(10) === 0) {
    Object.defineProperty(made, any(2), {
      get() {
        disturb();
        if (any(3) === 0) call();
        if (any(6) === 0) throw new Error("getter");
        return value();
      },
    });
  }
  return made;
};
const list = () =>
  pick(
    () => Array.from({ length: any(6) }, pair),
    () => Object.freeze(Array.from({ length: any(6) }, pair)),
    () => Object.preventExtensions(Array.from({ length: any(3) }, pair)),
    () => Array.from({ length: any(200) }, pair),
    () => ({ length: any(2) ? any(10) : 2 ** 32 + any(9), 0: pair(), 1: pair() }),
    () =>
      new Proxy([pair(), pair()], {
        get(target, key) {
          disturb();
          return Reflect.get(target, key);
        },
      }),
    odd,
  );
const numbers = [];
const outgoing = () => ({
  method: any(9) ? "GET" : odd(),
  url: any(9) ? "http://x/" : odd(),
  headers: list(),
  body: any(2) ? undefined : value(),
  timeoutMs: any(9) ? any(1000) : odd(),
  maxBytes: any(9) ? any(1000) : odd(),
});
const opened = [];
const stream = () => {
  if (any(4) === 0) opened.push(engine.startStream(outgoing(), any(2) ? any(2) === 0 : odd()));
  if (opened.length > 30) opened.splice(0, any(20));
  const handle = any(9) ? opened[any(opened.length || 1)] : odd();
  const made = pick(
    () => engine.streamHead(handle),
    () => engine.readStream(handle),
    () => engine.readStream(handle),
    () => engine.writeStream(handle, any(5) ? value() : undefined),
    () => engine.streamRoom(handle),
    () => any(3) === 0 && engine.cancelStream(handle),
  );
  // The engine reads this from the value of a promise while it settles.
  if (any(30) === 0) {
    const name = "then";
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      get() {
        delete Object.prototype[name];
        for (let index = any(4); index > 0; index--) attempt({});
      },
    });
  }
  if (typeof made?.then === "function" && any(2)) return made.then(() => stream());
  return made;
};
const call = () => {
  const made = engine.startCall(
    outgoing(),
    any(2)
      ? undefined
      : (number) => {
          numbers.push(number);
          if (any(9) === 0) throw new Error("started");
        },
  );
  return made.then((answer) => {
    if (any(2)) kept.push(() => answer.headers);
    return pick(
      () => answer,
      () => answer.headers?.length,
      () => {
        throw new Error("unhandled");
      },
    );
  });
};
const timer = () => {
  const id = pick(
    () => setTimeout(() => disturb(), any(3)),
    () => setInterval(() => any(4) === 0 && clearInterval(id), any(3)),
    () =>
      setTimeout(
        () => {
          throw new Error("timer");
        },
        any(3),
        odd(),
      ),
  );
  if (any(3) === 0) clearTimeout(id);
};
const texts = () => {
  const text = engine.utf8Decode(value(), any(2), any(2));
  return engine.utf8Encode(text + (any(2) ? "\ud83d" : "\ude00") + odd());
};
// Any native function with any arguments. What it returns, such as a handle, is an argument of later ones. Those of cryptography
// compare lengths with their block in Rust, and trap.
const trapping =
  /^(?:rsa|oaep|pss|pkcs1|ec|ed25519|x25519|gcm|cbc|ctr|kw|hkdf|pbkdf2|scrypt|argon2)|^(?:startCall|cancelCall|setAsyncContext|startStream)$|^linked/;
const natives = Object.entries(engine)
  .filter(([name]) => !trapping.test(name))
  .map(([, native]) => native);
const returned = [];
const argument = () =>
  pick(
    value,
    () => any(70),
    () => any(300) - 150,
    () =>
      pick(
        () => "gzip",
        () => "shift_jis",
        () => "http://a:1/b?c#d",
        () => "x".repeat(any(5000)),
      ),
    () => any(2) === 0,
    () => returned[any(returned.length || 1)],
    () => returned[any(returned.length || 1)],
    odd,
  );
const native = () => {
  const made = natives[any(natives.length)](...Array.from({ length: any(7) }, argument));
  if (made !== undefined) returned[any(20)] = made;
};
const types = () => Array.from({ length: any(any(9) ? 5 : 80) }, () => "iIfF"[any(4)]).join("");
// False while a limit would end the engine with a trap.
let isLimited = true;
const scripts = [
  "1 + 1",
  "import a, { b } from 'a'; [a, b]",
  "import * as c from 'c'; c",
  "await import('c')",
  "export default 1; export * from 'a'",
  "import 'tenon:engine'",
  "try { /^(?:a+)+$/.test('a'.repeat(13) + 'b') } finally { setTimeout(() => 1) }",
];
// The first text of an isolate, and programs for it: ends of its time and memory at any point.
const isolate = `(evaluate) => {
  let said = "";
  return (text) => {
    if (text === undefined) return said;
    const [evaluated, namespace] = evaluate(text, "program.js");
    evaluated.then(() => { said += namespace.default; }, (error) => { said += error; });
  };
}`;
const programs = [
  "1 + 1",
  "const all = []; for (;;) all.push({ a: [all], b: 'x'.repeat(99) })",
  "let s = 'a'; for (;;) s = (s + s).replace(/a/g, (m) => m + 'b')",
  "for (;;) { try { JSON.parse(JSON.stringify({ a: [1, { b: 2 }] })).a.map(String).sort() } catch {} }",
  "const f = (n) => { try { return f(n + 1) + 1 } catch { return f(n) } }; f(0)",
  "class A { #p = 1; get p() { return this.#p } static async *g() { yield* [1, 2] } } for (;;) for await (const x of A.g()) new A().p",
  "await Promise.all(Array.from({ length: 1000 }, async (_, n) => { await n; return new Map([[n, new Set([n])]]) }))",
  "const m = new WeakMap(), r = new FinalizationRegistry(() => { throw 1 }); for (let i = 0; ; i++) { const o = {}; m.set(o, [o]); r.register(o, i) }",
  "import 'a'",
  "await import('a').catch(String)",
  "(",
  "throw { toString() { for (;;); } }",
  "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "eval('let x = ' + '['.repeat(5000))",
];
const linked = () =>
  pick(
    () => engine.linkedFind(any(9), odd()),
    () => engine.linkedCall(any(9), types(), types(), list()),
    () => engine.linkedCall(odd(), odd(), odd(), odd()),
    () => engine.linkedRead(any(9), odd(), value()),
    () => engine.linkedWrite(odd(), any(9), value()),
    () => engine.linkedGrow(engine.linkedPages(odd()), odd()),
    () => engine.linkedScope(odd()),
    // Rarely with a limit that a regular expression exceeds, because nothing runs afterwards.
    () =>
      engine.evaluate(
        scripts[any(scripts.length)],
        "script.js",
        { a: { b: odd(), default: any(9) }, c: odd() },
        isLimited && any(100) === 0 ? 10_000 : undefined,
      ),
    () =>
      engine.openIsolate(
        pick(
          () => isolate,
          () => isolate,
          () => isolate,
          () => "() => 1",
          odd,
        ),
      ),
    () =>
      engine.exchangeIsolate(
        programs[any(programs.length)],
        100,
        pick(
          () => 1 << 22,
          () => 400_000 + any(1 << 20),
          odd,
        ),
      ),
    () =>
      engine.exchangeIsolate(
        pick(odd, () => programs[0]),
        pick(() => 100, odd),
        1 << 22,
      ),
    () => engine.isolateUsage(),
    () => engine.closeIsolate(),
    () =>
      engine.linkedScope(() => {
        engine.linkedAllocate(any(20000), 8);
        engine.origin();
        return linked();
      }),
  );
// Writers of declared members, kept for later requests, and values whose members are odd, missing, wide or deep.
const shape = (depth = 0) => ({
  kind: any(20) ? ["string", "json", "object", "list", "record", "union"][any(depth > 4 ? 2 : 6)] : odd(),
  dropsNull: any(3) === 0,
  open: any(9) === 0,
  tag: any(9) ? "a" : odd(),
  ...(any(20) && { items: shape(depth + 1), fields: shapes(depth), variants: shapes(depth) }),
});
const shapes = (depth) => Object.fromEntries(Array.from({ length: any(4) }, () => [member(), shape(depth + 1)]));
const member = () => ["a", "b", "c", "ß", '😀"', "1", "toJSON", "__proto__", "x".repeat(any(400))][any(9)];
const data = (depth = 0) =>
  pick(
    value,
    () => any(2 ** 31) / 3,
    () => "a\n😀".repeat(any(30)) + any(9),
    () => ["a", "b", "ß"][any(3)],
    ...Array(depth > 6 ? 0 : 4).fill(() => Array.from({ length: any(5) }, () => data(depth + 1))),
    ...Array(depth > 6 ? 0 : 8).fill(() => {
      const made = Object.fromEntries(Array.from({ length: any(7) }, () => [member(), data(depth + 1)]));
      if (any(9) === 0) delete made[member()];
      if (any(20) === 0) made.a = made;
      return made;
    }),
  );
const writers = [];
const write = () => {
  if (writers.length < 20 || any(3) === 0) writers[any(20)] = engine.jsonWriter(shape());
  return writers[any(20)]?.(data());
};
const act = (request) =>
  pick(
    write,
    write,
    write,
    native,
    native,
    native,
    native,
    native,
    native,
    linked,
    linked,
    call,
    call,
    stream,
    stream,
    stream,
    timer,
    timer,
    texts,
    disturb,
    () => kept.push(() => request.headers),
    () => request.headers,
    () => request.contentType,
    () => request.host,
    () => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(request), "headers").get.call(odd()),
    () => engine.getEnvironment(),
    () => engine.variables(any(4) ? ["host", "a", "ß"] : odd()),
    () => engine.origin(),
    () => engine.cancelCall(any(3) ? (numbers.pop() ?? 0) : odd(), { reason: 1, detail: "x" }),
    () => engine.print(odd(), any(2)),
    () => void Promise.reject(odd()),
    () => queueMicrotask(() => disturb()),
    () => JSON.parse(JSON.stringify({ a: [1, "ß", null, { b: 1.5 }] })),
    () => structuredCloneOrNothing(),
    () => {
      const recurse = () => recurse() + 1;
      return recurse();
    },
  );
const structuredCloneOrNothing = () => globalThis.structuredClone?.(new Map([[1, new Date()]]));
const response = () =>
  any(12)
    ? { status: any(20) ? 200 : odd(), headers: list(), body: any(2) ? undefined : value() }
    : pick(odd, () => ({
        get status() {
          disturb();
          return 200;
        },
        get headers() {
          call().catch(() => {});
          return list();
        },
        get body() {
          disturb();
          return value();
        },
      }));
const attempt = (request) => {
  try {
    const made = act(request);
    if (typeof made?.then === "function") return made.catch(() => {});
  } catch (error) {
    String(error.stack);
  }
};
const handle = (request) => {
  if (kept.length > 50 || any(3) === 0) disturb();
  const count = any(8);
  for (let index = 0; index < count; index++) attempt(request);
  if (any(3) === 0) return response();
  return (async () => {
    for (let index = any(5); index > 0; index--) await attempt(request);
    if (any(20) === 0) throw odd();
    if (any(60) === 0) await new Promise(() => {});
    return response();
  })();
};
// The last request is used again, though its call is over.
let last = {};
const again = (bytes) => {
  if (bytes instanceof Uint8Array) kept.push(() => bytes.buffer.transfer());
  return handle(last);
};
export const handler = { handle };
export const streams = {
  takesBodies: () =>
    pick(
      () => true,
      odd,
      () => Promise.resolve(true),
    ),
  begin(request) {
    last = request;
    return handle(request);
  },
  piece: again,
  end: again,
  broken: again,
  next: again,
  // An exception would be a trap, also that of a reached limit, which nothing catches.
  cancel() {
    isLimited = false;
    try {
      attempt(last);
    } catch {}
    isLimited = true;
  },
};
