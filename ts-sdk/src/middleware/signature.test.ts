import { createHmac } from "node:crypto";
import Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ok, routes, type SignatureOptions, signature, use } from "../index.ts";
import { testApp } from "../testing/index.ts";

const ask = async (options: SignatureOptions, headers: Record<string, string>, body: string | Uint8Array) => {
  const app = routes({
    hook: use(signature(options)).post("/hook", (_in, req) => ok({ length: req.body?.length ?? 0 })),
  });
  return (await testApp(app).post("/hook", { headers, body })).status;
};
const mac = (key: string | Buffer, text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", key).update(text).digest(encoding);

const NOW = 1_700_000_000;
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOW * 1000 }));
afterEach(() => vi.useRealTimers());

describe("github", () => {
  // The example of GitHub's documentation, "Validating webhook deliveries".
  const options = { scheme: "github", secret: "It's a Secret to Everybody" } as const;
  const right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  it.each<[number, string, Record<string, string>]>([
    [200, "Hello, World!", { "x-hub-signature-256": right }],
    [401, "Hello, World?", { "x-hub-signature-256": right }],
    [401, "Hello, World!", { "x-hub-signature-256": right.replace("7", "8") }],
    [401, "Hello, World!", { "x-hub-signature-256": right.toUpperCase() }],
    [401, "Hello, World!", { "x-hub-signature-256": right.slice(7) }],
    [401, "Hello, World!", { "x-hub-signature-256": "sha256=" }],
    [401, "Hello, World!", { "x-hub-signature": "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59" }],
    [401, "Hello, World!", {}],
  ])("%d: %j %j", async (status, body, headers) => {
    expect(await ask(options, headers, body)).toBe(status);
  });

  it("is of the bytes as they came, and of none", async () => {
    const bytes = new Uint8Array([0xff, 0, 0xfe]);
    const of = (data: Uint8Array) => `sha256=${createHmac("sha256", options.secret).update(data).digest("hex")}`;
    expect(await ask(options, { "x-hub-signature-256": of(bytes) }, bytes)).toBe(200);
    expect(await ask(options, { "x-hub-signature-256": of(new Uint8Array()) }, "")).toBe(200);
  });
});

describe("stripe", () => {
  const options = { scheme: "stripe", secret: "whsec_test" } as const;
  const body = '{"id":"evt_1"}';
  const v1 = (at: number | string, key = options.secret as string) => mac(key, `${at}.${body}`);
  it.each<[string, number, string]>([
    ["a signature", 200, `t=${NOW},v1=${v1(NOW)}`],
    ["one of two, as when a secret is rolled", 200, `t=${NOW},v1=${v1(NOW, "old")},v1=${v1(NOW)}`],
    ["another scheme beside it", 200, `t=${NOW},v0=x,v1=${v1(NOW)}`],
    ["a time 300 s ago", 200, `t=${NOW - 300},v1=${v1(NOW - 300)}`],
    ["a time 301 s ago", 401, `t=${NOW - 301},v1=${v1(NOW - 301)}`],
    ["a time 301 s ahead", 401, `t=${NOW + 301},v1=${v1(NOW + 301)}`],
    ["another time than was signed", 401, `t=${NOW - 1},v1=${v1(NOW)}`],
    ["v0 alone", 401, `t=${NOW},v0=${v1(NOW)}`],
    ["no time", 401, `v1=${v1(NOW)}`],
    ["a time that is no number", 401, `t=x,v1=${v1("x")}`],
    ["another secret", 401, `t=${NOW},v1=${v1(NOW, "other")}`],
    ["more signatures than are looked at", 401, `t=${NOW}${",v1=x".repeat(10)},v1=${v1(NOW)}`],
    ["nothing", 401, ""],
  ])("%s: %d", async (_what, status, header) => {
    expect(await ask(options, { "stripe-signature": header }, body)).toBe(status);
  });

  // Stripe's own library signs and checks the same headers.
  const { webhooks } = new Stripe("sk_test_x");
  it.each([
    [200, { payload: body, secret: options.secret, timestamp: NOW }],
    [200, { payload: body, secret: options.secret, timestamp: NOW - 300 }],
    [401, { payload: body, secret: options.secret, timestamp: NOW - 301 }],
    [401, { payload: body, secret: "whsec_other", timestamp: NOW }],
    [401, { payload: `${body} `, secret: options.secret, timestamp: NOW }],
    [401, { payload: body, secret: options.secret, timestamp: NOW, scheme: "v0" }],
    [200, { payload: '{"text":"Grüße 👋"}', secret: options.secret, timestamp: NOW }],
  ])("%d, as Stripe's library, for %j", async (status, signed) => {
    const header = webhooks.generateTestHeaderString(signed as never);
    const sent = signed.payload.startsWith('{"text"') ? signed.payload : body;
    const theirs = () => webhooks.constructEvent(sent, header, options.secret, 300);
    if (status === 200) expect(theirs()).toEqual(JSON.parse(sent));
    else expect(theirs).toThrow(Stripe.errors.StripeSignatureVerificationError);
    expect(await ask(options, { "stripe-signature": header }, sent)).toBe(status);
  });

  it("takes the tolerance that it is given", async () => {
    const header = { "stripe-signature": `t=${NOW - 400},v1=${v1(NOW - 400)}` };
    expect(await ask({ ...options, tolerance: 400 }, header, body)).toBe(200);
  });
});

describe("standard-webhooks", () => {
  // The example of the specification's reference implementations.
  const options = { scheme: "standard-webhooks", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" } as const;
  const body = '{"test": 2432232314}';
  const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  const at = 1_614_265_330;
  const headers = (more: Record<string, string> = {}) => ({
    "webhook-id": id,
    "webhook-timestamp": String(at),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ...more,
  });
  beforeEach(() => void vi.setSystemTime(at * 1000));

  it.each<[string, number, Record<string, string>]>([
    ["the example", 200, headers()],
    ["one of several", 200, headers({ "webhook-signature": `v1,x v1a,y ${headers()["webhook-signature"]}` })],
    ["another id", 401, headers({ "webhook-id": "x" })],
    ["another time", 401, headers({ "webhook-timestamp": String(at + 1) })],
    ["no version", 401, headers({ "webhook-signature": "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" })],
    ["no id", 401, headers({ "webhook-id": "" })],
  ])("%s: %d", async (_what, status, given) => {
    expect(await ask(options, given, body)).toBe(status);
  });

  it("a time too far away is refused", async () => {
    vi.setSystemTime((at + 301) * 1000);
    expect(await ask(options, headers(), body)).toBe(401);
  });

  it("a secret may come without its prefix, and from a function", async () => {
    const secret = async () => options.secret.slice(6);
    expect(await ask({ scheme: "standard-webhooks", secret }, headers(), body)).toBe(200);
  });

  it("a secret that is no base64 is the author's mistake", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await ask({ scheme: "standard-webhooks", secret: () => "whsec_!" }, headers(), body)).toBe(500);
    expect(errors.mock.calls[0]?.[0]).toMatch(/the secret of standard-webhooks must be base64/);
    errors.mockRestore();
  });
});

it.each([
  ["an unknown scheme", { scheme: "gitlab", secret: "x" }, /"scheme" must be one of github, stripe, standard-webhooks/],
  ["a name that objects inherit", { scheme: "constructor", secret: "x" }, /"scheme" must be one of/],
  ["no secret", { scheme: "github" }, /"secret" must be a text/],
  ["an empty secret", { scheme: "github", secret: "" }, /"secret" must be a text/],
  ["a secret that is no base64", { scheme: "standard-webhooks", secret: "whsec_!" }, /must be base64, "whsec_…"/],
  ["a secret of no bytes", { scheme: "standard-webhooks", secret: "whsec_" }, /must be base64, "whsec_…"/],
  ["an unknown option", { scheme: "github", secret: "x", key: 1 }, /signature: unknown "key"/],
  ["a tolerance below 0", { scheme: "github", secret: "x", tolerance: -1 }, /"tolerance"/],
])("refuses %s", (_what, options, message) => {
  expect(() => signature(options as never)).toThrow(message);
});
