/**
 * Everything that a recording has events of, besides `examples/shop` and `examples/hono-app`: streamed answers and uploads, timers, calls
 * at once, transactions, a queue, a job, secrets, random values, exceptions, and a handler that its time limit ends.
 */
import {
  cache,
  db,
  env,
  field,
  get,
  octetStream,
  ok,
  post,
  queue,
  random,
  record,
  respond,
  routes,
  secret,
  sse,
  storage,
  stream,
  Type,
  time,
} from "@tenon/sdk";

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const Card = Type("Card", { number: field.string(), holder: field.string() });
const Payment = Type("Payment", { password: field.string(), card: Card, amount: field.f64() });
const Message = Type("Message", { id: field.string(), body: record(field.string()), attempts: field.u32() });
const Count = { n: field.u32({ default: 3, max: 200 }) };

export default routes({
  /** Reads an upload while it arrives, and logs on the way. */
  upload: post("/upload", { body: octetStream({ max: 10_000_000 }) }, async ({ body }) => {
    let [bytes, sum] = [0, 0];
    for await (const piece of body) {
      bytes += piece.length;
      for (const byte of piece) sum = (sum * 31 + byte) >>> 0;
      console.log("received", bytes);
    }
    return ok({ bytes, sum });
  }),
  /** Stores an upload. */
  keep: post("/keep/{id}", { path: { id: field.u32() }, body: octetStream({ max: 100_000 }) }, async (input) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of input.body) pieces.push(piece);
    const bytes = new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
    const { etag } = await storage.put(`kept/${input.path.id}`, bytes, { contentType: "application/octet-stream" });
    return ok({ etag, size: bytes.length });
  }),
  pieces: get("/pieces", { query: Count }, ({ query: { n } }) =>
    stream(async function* () {
      for (let i = 0; i < n; i++) {
        await sleep(Math.floor(Math.random() * 3));
        yield `${i} ${time.nowIso()} ${random.uuid()}\n`;
      }
      console.log("sent", n);
    }),
  ),
  events: get("/events", { query: Count }, ({ query: { n } }) =>
    sse(async function* () {
      for (let id = 1; id <= n; id++) yield { event: "tick", data: { id, at: Date.now() }, id };
    }),
  ),
  breaks: get("/breaks", () =>
    stream(async function* () {
      yield "before";
      await sleep(1);
      throw new Error("thrown in a stream");
    }),
  ),
  /** Calls at once, whose order of ends is the network's. */
  together: get("/together/{id}", { path: { id: field.u32() } }, async ({ path: { id } }) => {
    const key = `seen-${id}`;
    const race = Promise.race([sleep(1).then(() => "timer"), cache.get(key).then(() => "cache")]);
    const [seen, rows, object, first] = await Promise.all([
      cache.incr(key, { ttl: 3600 }),
      db.query<{ n: number }>(["SELECT count(*) AS n FROM visits WHERE id = ?", [id]]),
      storage.get(`kept/${id}`).then((found) => found?.bytes()),
      race,
    ]);
    return ok({ seen, visits: Number(rows[0]?.n), kept: object?.length ?? null, first });
  }),
  visit: post("/visit/{id}", { path: { id: field.u32() } }, async ({ path: { id } }) => {
    const visits = await db.transaction(async (tx) => {
      await tx.execute(["INSERT INTO visits (id, at, mark) VALUES (?, ?, ?)", [id, Date.now(), random.uuid()]]);
      return tx.query<{ n: number }>(["SELECT count(*) AS n FROM visits WHERE id = ?", [id]]);
    });
    const [sent] = await queue("mail").sendMany([
      { body: { visit: String(id), mark: random.uuid() }, key: `${id % 3}` },
    ]);
    return ok({ visits: Number(visits[0]?.n), isSent: sent !== undefined });
  }),
  /** A delivery of the queue; the first one of each third message fails. */
  mail: post("/jobs/mail", { body: Message }, async ({ body: { id, body, attempts } }) => {
    const visit = Number(body["visit"]);
    if (attempts === 1 && visit % 3 === 0) return respond(503, { body: "later" });
    await cache.set(`mail-${visit}`, id, { ttl: 3600 });
    console.log("mailed", visit);
    return respond(204);
  }),
  /** A run of the job. */
  tick: post("/jobs/tick", async (_, req) => {
    const [row] = await db.query<{ n: number }>(["SELECT count(*) AS n FROM visits"]);
    console.log("tick", req.headers.get("x-tenon-cron-job"), Number(row?.n));
    return respond(204);
  }),
  /** Masked members, and what a handler makes of them. */
  pay: post("/pay", { body: Payment }, async ({ body: { card, password, amount } }) => {
    const last = card.number.slice(-4);
    await db.execute(["INSERT INTO payments (holder, last, amount) VALUES (?, ?, ?)", [card.holder, last, amount]]);
    console.log("paid", amount, password.length, card.number);
    return ok({ last, amount, hint: `${password.length} characters`, of: env("REGION") });
  }),
  /** A secret that a service gets, also in other encodings. */
  credentials: get("/credentials", async (_, req) => {
    const key = secret("SERVICE");
    const basic = btoa(`tenon:${key}`);
    const hex = Array.from(new TextEncoder().encode(key), (byte) => byte.toString(16).padStart(2, "0")).join("");
    await cache.set(`for-${hex.length}`, JSON.stringify({ key, basic, hex, url: encodeURIComponent(key) }), {
      ttl: 60,
    });
    console.log("asked by", req.headers.get("authorization"), req.headers.get("cookie"), req.headers.get("x-api-key"));
    const query = new URL(req.url, "http://a").searchParams.get("token");
    return respond(200, {
      body: `${query?.length} ${basic.length}`,
      headers: { "set-cookie": `session=${key}; HttpOnly` },
    });
  }),
  /** Random ids that a handler sets as a cookie, stores, gets back and compares. */
  session: post("/session/{id}", { path: { id: field.u32() } }, async ({ path: { id } }) => {
    const [session, order] = [random.uuid(), random.uuid()];
    const rows = await db.query<{ mark: string }>([
      "INSERT INTO visits (id, at, mark) VALUES (?, 0, ?), (?, 1, ?) RETURNING mark",
      [id, session, id, `order/${order}`],
    ]);
    if (rows[0]?.mark !== session || rows[1]?.mark !== `order/${order}`) throw new Error("another session was stored");
    return respond(200, {
      body: JSON.stringify({ order: rows[1]?.mark.slice(6) }),
      headers: { "set-cookie": `session=${session}; HttpOnly` },
    });
  }),
  numbers: get("/numbers", () =>
    ok({
      nan: String(0 / 0),
      small: 5e-324,
      sum: 0.1 + 0.2,
      sines: [1, 2, 3].map(Math.sin),
      random: Math.random(),
      id: random.uuid(),
    }),
  ),
  /** Answers with every digit that it gets. */
  exact: get("/exact", () =>
    ok({
      now: performance.now(),
      random: Math.random(),
      bytes: [...crypto.getRandomValues(new Uint8Array(16))].join(),
    }),
  ),
  deep: get("/deep", () => {
    const fall = (n: number): number => 1 + fall(n + 1);
    try {
      return ok({ depth: fall(0) });
    } catch (error) {
      return ok({ thrown: String(error) });
    }
  }),
  throws: get("/throws/{id}", { path: { id: field.u32() } }, async ({ path: { id } }) => {
    console.log("about to fail", id);
    await sleep(1);
    throw new RangeError(`no such thing: ${id}`);
  }),
  /** Ended by its time limit. */
  spins: get("/spins", () => {
    console.log("spinning");
    for (;;);
  }),
});
