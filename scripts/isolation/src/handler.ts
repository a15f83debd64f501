/**
 * A handler that leaves behind everything that JavaScript can. Each route changes something that the next request would
 * find in an instance that was not restored. The harness (crates/runtime/src/isolation) compares the instance's memory
 * and globals; `check` looks for the same changes from within.
 */
import {
  env,
  field,
  httpClient,
  ok,
  Path,
  post,
  Query,
  type Request,
  type Response,
  random,
  respond,
  routes,
  secret,
  sse,
  stream,
  time,
} from "@tenon/sdk";

const Input = Query("Input", { n: field.u32() });
const Route = Path("Route", { route: field.string() });

let calls = 0;
let last: unknown;
const list: unknown[] = [];
const map = new Map<string, unknown>();
const weak = new WeakMap<object, unknown>();
const key = {};
const bytes = new Uint8Array(4_096);
const sticky = /[a-m]+/gy;
const closures: (() => number)[] = [];
const objects = Array.from({ length: 200 }, (_, index) => ({
  index,
  text: `object ${index}`,
  self: undefined as unknown,
}));
const symbol = Symbol.for("isolation");
class Counter {
  static made = 0;
  #count = 0;
  count(): number {
    Counter.made++;
    return ++this.#count;
  }
}
const counter = new Counter();
function* endless() {
  for (let n = 0; ; n++) yield n;
}
const numbers = endless();
const open = globalThis as Record<string | symbol, unknown>;

/** Checks the state after the top level. Returns the name of the first difference. */
function check(): string | undefined {
  if (calls++ !== 0) return "calls";
  if (last !== undefined || list.length > 0 || map.size > 0 || weak.has(key) || closures.length > 0)
    return "collections";
  if (bytes.some((byte) => byte !== 0)) return "bytes";
  if (sticky.lastIndex !== 0) return "lastIndex";
  if (Counter.made !== 0 || counter.count() !== 1) return "classes";
  if ("left" in open || symbol in open || "left" in {} || "left" in Array) return "globals";
  if (numbers.next().value !== 0) return "generators";
  if (objects.some(({ index, text, self }) => text !== `object ${index}` || self !== undefined)) return "objects";
  return undefined;
}

function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

const all: Record<string, (n: number, request: Request) => unknown> = {
  nothing: () => undefined,
  globals(n) {
    open["left"] = n;
    open[symbol] = { n };
    last = { n, text: `${n}`.repeat(10) };
  },
  closures(n) {
    for (let i = 0; i < n % 50; i++) closures.push(() => n + i);
    return closures.reduce((sum, closure) => sum + closure(), 0);
  },
  arrays(n) {
    bytes.fill(n & 0xff, n % 2_000, 2_000 + (n % 2_000));
    new DataView(bytes.buffer).setFloat64(8, n / 3);
    new BigUint64Array(bytes.buffer)[5] = BigInt(n) ** 3n;
    list.push(new Float32Array(n % 5_000).fill(n), bytes.slice(n % 100));
  },
  maps(n) {
    for (let i = 0; i < n % 100; i++) map.set(`${n}-${i}`, { i });
    weak.set(key, n);
    list.push(new Set(map.keys()), new WeakRef(key));
  },
  strings(n) {
    last = `${n}`
      .padStart(n % 3_000, "é𝄞")
      .split("")
      .reverse()
      .join("");
    return [...(last as string)].length;
  },
  regexes(n) {
    sticky.exec("abcdef".repeat(1 + (n % 5)));
    last = `${n}`.replace(/(\d)(\d)/g, "$2$1");
    return [sticky.lastIndex, RegExp.$1];
  },
  prototypes(n) {
    (Object.prototype as Record<string, unknown>)["left"] = n;
    (Array as unknown as Record<string, unknown>)["left"] = n;
    Array.prototype.map = () => [n] as never;
    Math.max = () => n;
    JSON.parse = () => n;
    Object.freeze(Date);
    Object.defineProperty(Promise.prototype, "left", { value: n });
  },
  classes(n) {
    for (let i = 0; i < n % 20; i++) counter.count();
    last = new (class Other extends Counter {})();
    Object.setPrototypeOf(Counter.prototype, { n });
  },
  time(n) {
    last = [new Date(), Date.now(), performance.now(), time.nowIso(), new Date(n).toLocaleString()];
    return last;
  },
  random(n) {
    list.push(Math.random(), random.uuid());
    for (let i = 0; i < n % 10; i++) list.push(Math.random());
    return list.length;
  },
  async crypto(n) {
    crypto.getRandomValues(bytes);
    last = await crypto.subtle.digest("SHA-256", new Uint8Array(n % 500));
  },
  environment: () => [env("NAME"), env("SIDECAR_RANDOM_URL"), env("NONE")],
  json: (n) => JSON.parse(JSON.stringify({ n, objects: objects.slice(0, n % 200), nested: [[{ n }]] })),
  echo: (_, request) => (last = request.text()),
  exceptions(n) {
    list.push(new RangeError(`${n}`));
    objects[n % 200] = { index: n, text: "thrown", self: objects };
    throw new TypeError(`left by ${n}`, { cause: list });
  },
  generators: (n) => Array.from({ length: n % 50 }, () => numbers.next().value),
  async promises(n) {
    const results = await Promise.allSettled([1, 2, n].map(async (k) => (k === 2 ? Promise.reject(k) : list.push(k))));
    list.push(new Promise(() => undefined).then(() => n));
    return results.length;
  },
  timers: (n) => wait(n % 5),
  leftover(n) {
    setTimeout(() => list.push(n), n % 1_000);
    setInterval(() => list.push(n), 10);
    void Promise.reject(new Error(`unhandled ${n}`)).catch(() => undefined);
  },
  log(n) {
    console.log("line of", n, objects[n % 200]);
    console.error(`${n}`.repeat(n % 300));
  },
  unfinished(n) {
    console.error("unfinished", n);
    throw n;
  },
  async sidecar() {
    const response = await httpClient
      .request()
      .get(`${env("SIDECAR_RANDOM_URL")}/x`)
      .timeout(100)
      .send();
    last = response.status;
    return last;
  },
  async transaction(n) {
    const begun = await httpClient
      .request()
      .post(`${env("SIDECAR_RANDOM_URL")}/sql/transaction`)
      .timeout(100)
      .send();
    const id = begun.headers.get("tenon-transaction");
    // The others stay open.
    if (n % 2 === 1 || id === undefined || id === null) return id;
    const commit = httpClient.request().post(`${env("SIDECAR_RANDOM_URL")}/sql/transaction/commit`);
    last = (await commit.header("tenon-transaction", id).timeout(100).send()).status;
    return last;
  },
  secrets(n) {
    last = secret("KEY");
    console.log("a secret, and a part of it:", last, secret("KEY").slice(0, n % 20));
    if (n % 3 === 0) throw new Error(`with ${last}`);
  },
  abandoned() {
    void fetch(`${env("SIDECAR_RANDOM_URL")}/abandoned`).catch(() => undefined);
  },
  refused: () => fetch("http://example.invalid/").catch((error: unknown) => String(error)),
  growth(n) {
    const kept = [];
    for (let i = 0; i < 200 + (n % 400); i++) kept.push(new Uint8Array(65_536).fill(i));
    list.push(kept);
  },
  recursion: (n) => all["recursion"]?.(n + 1, undefined as never),
  never: () => new Promise(() => undefined),
  hoard() {
    for (;;) list.push(new Uint8Array(1 << 20).fill(1));
  },
  spin() {
    for (;;) calls++;
  },
};

/** Answers that continue after the handler has returned. */
const streamed: Record<string, (n: number) => Response<200, unknown>> = {
  stream: (n) =>
    stream(async function* () {
      for (let i = 0; i < n % 12; i++) {
        list.push(i);
        map.set(`${n}-${i}`, bytes.fill(i, i, n % 4_000));
        yield `${n}`.repeat(1 + (n % 200));
      }
    }),
  slowStream: (n) =>
    stream(async function* () {
      try {
        for (let i = 0; i < n % 6; i++) {
          await wait(i % 3);
          yield new Uint8Array(1 + (n % 5_000)).fill(i);
        }
      } finally {
        last = n;
        open["left"] = await fetch(`${env("SIDECAR_RANDOM_URL")}/finally`).catch(() => undefined);
      }
    }),
  sse: (n) =>
    sse(async function* () {
      try {
        for (let i = 0; i < n % 12; i++) yield { event: "tick", data: { n, i, count: counter.count() }, id: `${i}` };
      } finally {
        closures.push(() => n);
      }
    }),
  brokenStream: (n) =>
    stream(async function* () {
      yield "begun";
      all["globals"]?.(n, undefined as never);
      if (n % 3 === 0) throw new Error(`broken by ${n}`);
      yield bytes.fill(n & 0xff);
      if (n % 3 === 1) all["growth"]?.(n, undefined as never);
      yield n as never;
    }),
};

export default routes({
  run: post("/{route}", { path: Route, query: Input }, async ({ path, query }, request) => {
    const left = check();
    if (left !== undefined) return respond(599, { body: left });
    const answer = streamed[path.route]?.(query.n);
    if (answer !== undefined) return answer;
    const result = await all[path.route]?.(query.n, request);
    return ok({ result: result ?? null });
  }),
});
