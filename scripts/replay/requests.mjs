// Random requests for `examples/shop`, `examples/hono-app` and `jobs`. The same seed makes the same requests.
import { createHmac } from "node:crypto";
import http from "node:http";
import { randomOf } from "../sandbox-attack/grammar.mjs";
import { secrets } from "./server.mjs";

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a request, whose body may be pieces. Resolves with the status, or 0 when the connection broke or was left. */
export function send(base, { module, method = "GET", path, headers = {}, body, leaves = false }, id) {
  return new Promise((resolve) => {
    const pieces = body === undefined ? [] : Array.isArray(body) ? body : [body];
    const own = { ...headers, "x-request-id": id };
    if (pieces.length === 1) own["content-length"] = Buffer.byteLength(pieces[0]);
    const outgoing = http.request(`${base}/run/${module}${path}`, { method, headers: own, agent });
    outgoing.on("error", () => resolve({ status: 0, body: "" }));
    outgoing.on("response", (incoming) => {
      const { statusCode: status } = incoming;
      const got = [];
      incoming.on("data", (piece) => {
        got.push(piece);
        if (leaves) {
          outgoing.destroy();
          resolve({ status: 0, body: "" });
        }
      });
      incoming.on("end", () => resolve({ status, headers: incoming.headers, body: Buffer.concat(got).toString() }));
      incoming.on("error", () => resolve({ status: 0, body: "" }));
    });
    for (const piece of pieces) outgoing.write(piece);
    outgoing.end();
  });
}

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of the shop. */
export function tokenOf(sub, role) {
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", sub, ...(role && { role }) })}`;
  return `${signed}.${createHmac("sha256", secrets.JWT).update(signed).digest("base64url")}`;
}

/** Requests without an end. */
export class Requests {
  #random;
  #canary = 0;
  /** Values that no recording may have. */
  canaries = new Set(Object.values(secrets));
  #cursors = [];

  constructor(seed) {
    this.#random = randomOf(seed);
  }

  #whole(below) {
    return Math.floor(this.#random() * below);
  }

  #one(list) {
    return list[this.#whole(list.length)];
  }

  #chance(share) {
    return this.#random() < share;
  }

  /** A value that must not be written. */
  #secret(make = (n, letters) => `canary-${n}-${letters}`) {
    const letters = this.#whole(2 ** 30)
      .toString(36)
      .padStart(6, "x");
    const value = make(this.#canary++, letters);
    this.canaries.add(value);
    return value;
  }

  #as(customer, role) {
    const token = tokenOf(customer, role);
    this.canaries.add(token.split(".")[2]);
    return { authorization: `Bearer ${token}` };
  }

  /** The requests that fill a shop. */
  *products(count) {
    for (let n = 0; n < count; n++) {
      const body = {
        name: `${this.#one(["pen", "cup", "hat", "Buch", "ключ"])} ${n}`,
        price: 99 + n * 7,
        note: n % 3 === 0 ? null : `note ${n}`,
      };
      yield this.#json("shop", "POST", "/api/v1/products", body, this.#as("Grace", "admin"));
    }
  }

  #json(module, method, path, body, headers = {}) {
    return {
      module,
      method,
      path,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    };
  }

  /** Keeps the cursors of a page, for later requests. */
  saw({ body }) {
    const cursor = /"next_cursor":"([^"]+)"/.exec(body)?.[1];
    if (cursor === undefined) return;
    this.#cursors.push(cursor);
    if (this.#cursors.length > 50) this.#cursors.shift();
  }

  shop() {
    const customer = this.#one(["Ada", "Bob", "Cleo", "Дмитрий"].map(encodeURIComponent));
    const base = "/api/v1";
    const id = 1 + this.#whole(40);
    const makers = [
      () => ({ path: base }),
      () => ({ path: `${base}/products?limit=${this.#one([1, 2, 3, 5, 10, 20, 100, 0, "x"])}` }),
      () => ({
        path: `${base}/products?limit=${this.#one([1, 3, 5])}&after=${encodeURIComponent(this.#one(this.#cursors) ?? "")}`,
      }),
      () => ({
        path: `${base}/products`,
        headers: { origin: this.#one(["https://shop.example", "https://else.example"]) },
      }),
      () => ({ path: `${base}/products?after=${this.#one(["x", "", "bm90aGluZw"])}` }),
      () => ({ path: `${base}/products/${id}` }),
      () => ({ path: `${base}/products/${id}/picture` }),
      () => ({
        method: "OPTIONS",
        path: `${base}/orders`,
        headers: { origin: "https://shop.example", "access-control-request-method": "POST" },
      }),
      () => ({ path: `${base}/nothing/${id}` }),
      () => this.#json("shop", "POST", `${base}/orders`, this.#order(id), { ...this.#as(customer), ...this.#key() }),
      () => this.#json("shop", "POST", `${base}/orders`, this.#order(id), { ...this.#as(customer), ...this.#key() }),
      () => this.#json("shop", "POST", `${base}/orders`, this.#order(id), this.#as(customer)),
      () => this.#json("shop", "POST", `${base}/orders`, this.#order(id)),
      () => ({ path: `${base}/orders`, headers: this.#as(customer) }),
      () => ({ path: `${base}/orders/${1 + this.#whole(60)}`, headers: this.#as(customer) }),
      () =>
        this.#json(
          "shop",
          "PATCH",
          `${base}/products/${id}`,
          this.#changes(),
          this.#as("Grace", this.#one(["admin", "admin", "clerk"])),
        ),
      () => this.#picture(id),
      () => this.#stripe(),
    ];
    return { module: "shop", ...this.#one(makers)() };
  }

  #order(product_id) {
    return { product_id, quantity: this.#one([1, 2, 3, 7, 100, 101, 0, "2"]) };
  }

  #key() {
    return { "idempotency-key": `key-${this.#whole(200)}` };
  }

  #changes() {
    return this.#one([
      {},
      { price: 1 + this.#whole(5_000) },
      { note: null },
      { name: `renamed ${this.#whole(9)}` },
      { price: -1 },
      { price: "1" },
    ]);
  }

  #picture(id) {
    const form = "----traffic";
    const bytes = String.fromCharCode(...Array.from({ length: 40 }, () => this.#whole(128)));
    const type = this.#one(["image/png", "image/png", "image/jpeg", "text/plain"]);
    const body = `--${form}\r\ncontent-disposition: form-data; name="picture"; filename="a"\r\ncontent-type: ${type}\r\n\r\n${bytes}\r\n--${form}--\r\n`;
    const headers = { "content-type": `multipart/form-data; boundary=${form}`, ...this.#as("Grace", "admin") };
    return { method: "PUT", path: `/api/v1/products/${id}/picture`, headers, body };
  }

  #stripe() {
    const type = this.#one(["payment_intent.succeeded", "payment_intent.succeeded", "payment_intent.created"]);
    const metadata = this.#one([{ order: String(1 + this.#whole(60)) }, { order: "none" }, {}]);
    const body = JSON.stringify({ type, data: { object: { metadata } } });
    const at = Math.floor(Date.now() / 1_000);
    const mac = createHmac("sha256", secrets.STRIPE).update(`${at}.${body}`).digest("hex");
    this.canaries.add(mac);
    return {
      method: "POST",
      path: "/api/v1/payments/stripe",
      headers: { "content-type": "application/json", "stripe-signature": `t=${at},v1=${mac}` },
      body,
    };
  }

  hono() {
    const makers = [
      () => ({ path: "/" }),
      () => ({ path: "/users", headers: { origin: "https://app.example" } }),
      () => ({ path: `/users/${this.#whole(60)}` }),
      () => ({ path: `/users/${this.#whole(60)}`, headers: { "if-none-match": '"x"' } }),
      () => this.#json("hono-app", "POST", "/users", { name: this.#one(["Ann", "Böb", "\u{1f600}"]) }),
      () => ({ method: "POST", path: "/users", headers: { "content-type": "application/json" }, body: "{" }),
      () => ({
        path: "/none",
        headers: { authorization: `Basic ${Buffer.from(`ann:${this.#secret()}`).toString("base64")}` },
      }),
    ];
    return { module: "hono-app", ...this.#one(makers)() };
  }

  jobs() {
    const id = this.#whole(30);
    const makers = [
      () => ({
        method: "POST",
        path: "/upload",
        headers: { "content-type": "application/octet-stream" },
        body: this.#pieces(70_000),
      }),
      () => ({
        method: "POST",
        path: `/keep/${id}`,
        headers: { "content-type": "application/octet-stream" },
        body: this.#pieces(5_000),
      }),
      () => ({ path: `/pieces?n=${this.#whole(20)}` }),
      () => ({ path: `/pieces?n=${20 + this.#whole(20)}`, leaves: this.#chance(0.5) }),
      () => ({ path: `/events?n=${this.#whole(9)}` }),
      () => ({ path: "/breaks" }),
      () => ({ path: `/together/${id}` }),
      () => ({ path: `/together/${id}` }),
      () => ({ method: "POST", path: `/visit/${id}` }),
      () => ({ method: "POST", path: `/visit/${id}` }),
      () => this.#json("jobs", "POST", "/pay", this.#payment()),
      () => this.#credentials(),
      () => ({ path: "/numbers" }),
      () => ({ path: "/exact" }),
      () => ({ method: "POST", path: `/session/${id}` }),
      () => ({ path: `/throws/${id}` }),
      () => ({ path: this.#chance(0.05) ? "/spins" : "/numbers" }),
      () => ({ path: this.#chance(0.2) ? "/deep" : "/numbers" }),
    ];
    return { module: "jobs", ...this.#one(makers)() };
  }

  #pieces(most) {
    return Array.from({ length: 1 + this.#whole(4) }, () => Buffer.alloc(1 + this.#whole(most), this.#whole(256)));
  }

  #payment() {
    const digits = (n) => `4111${String(n).padStart(5, "0")}${String(this.#whole(10 ** 7)).padStart(7, "0")}`;
    return {
      password: this.#secret(),
      card: { number: this.#secret(digits), holder: "Ann" },
      amount: this.#whole(10_000) / 100,
    };
  }

  /** One value in headers, and in the query as well. */
  #credentials() {
    const key = this.#secret();
    const headers = {
      authorization: `Bearer ${this.#secret()}`,
      cookie: `a=1; session=${this.#secret()}`,
      "x-api-key": key,
    };
    return { path: `/credentials?token=${encodeURIComponent(key)}`, headers };
  }

  /** The next request of any app. */
  next() {
    return this.#one([() => this.shop(), () => this.shop(), () => this.hono(), () => this.jobs()])();
  }
}
