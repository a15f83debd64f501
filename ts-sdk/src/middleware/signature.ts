/** `signature`: verifies the signatures of webhooks. */
import { decodeBase64, encodeBase64 } from "../encoding/base64.ts";
import { encodeHex } from "../encoding/hex.ts";
import { type Request, rawBody } from "../http/request.ts";
import { error } from "../http/response.ts";
import { encodeUtf8 } from "../platform.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { hmac } from "./hmac.ts";
import { middleware } from "./middleware.ts";
import { safeEqual } from "./safe-equal.ts";
import type { Middleware } from "./types.ts";

/** The scheme of a sender's signatures. */
export type SignatureScheme = "github" | "stripe" | "standard-webhooks";

/** Options of {@link signature}. */
export interface SignatureOptions {
  readonly scheme: SignatureScheme;
  /** The secret shared with the sender, or a function that returns it: `() => secret("WEBHOOK_SECRET")`. */
  readonly secret: string | ((req: Request) => string | Promise<string>);
  /** Seconds by which a signature's time may differ from now; 300 by default. GitHub signs no time. */
  readonly tolerance?: number;
}

/** The limit of signatures that are checked for a request. */
const MAX_SIGNATURES = 10;

/** The signed parts of a request: a time, in seconds, and signatures of which one has to match. */
interface Signed {
  readonly at?: number;
  readonly signatures: readonly string[];
  /** The signed text before the body, and the key's bytes. */
  readonly before: string;
}

interface Scheme {
  readonly read: (req: Request) => Signed | undefined;
  readonly key: (secret: string) => string | Uint8Array;
  readonly encode: (digest: Uint8Array) => string;
}

const SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  /** `X-Hub-Signature-256: sha256=<hex>` of the body. */
  github: {
    read: (req) => {
      const hex = /^sha256=([0-9a-f]{64})$/.exec(req.headers.get("x-hub-signature-256") ?? "")?.[1];
      return hex === undefined ? undefined : { signatures: [hex], before: "" };
    },
    key: (secret) => secret,
    encode: encodeHex,
  },
  /** `Stripe-Signature: t=<seconds>,v1=<hex>,…` of `<seconds>.<body>`. */
  stripe: {
    read: (req) => {
      const pairs = (req.headers.get("stripe-signature") ?? "").split(",").map((pair) => pair.trim().split("="));
      const time = pairs.find(([key]) => key === "t")?.[1];
      const signatures = pairs.flatMap(([key, value]) => (key === "v1" && value !== undefined ? [value] : []));
      if (time === undefined || !SECONDS.test(time)) return undefined;
      return { at: Number(time), signatures, before: `${time}.` };
    },
    key: (secret) => secret,
    encode: encodeHex,
  },
  /** `Webhook-Signature: v1,<base64> …` of `<id>.<seconds>.<body>` (Standard Webhooks). */
  "standard-webhooks": {
    read: (req) => {
      const id = req.headers.get("webhook-id");
      const time = req.headers.get("webhook-timestamp");
      const all = (req.headers.get("webhook-signature") ?? "").split(" ");
      const signatures = all.flatMap((each) => (each.startsWith("v1,") ? [each.slice(3)] : []));
      if (id === undefined || id === "" || time === undefined || !SECONDS.test(time)) return undefined;
      return { at: Number(time), signatures, before: `${id}.${time}.` };
    },
    key: (secret) => {
      const bytes = decodeBase64(secret.replace(/^whsec_/, ""));
      if (!bytes?.length) throw new TypeError('signature: the secret of standard-webhooks must be base64, "whsec_…"');
      return bytes;
    },
    encode: encodeBase64,
  },
};

const SECONDS = /^\d{1,12}$/;

/**
 * Passes requests that a sender of webhooks has signed. It compares the raw body's signature in constant time. It
 * answers 401 to any other request, and to one whose time is more than `tolerance` away.
 *
 * @throws TypeError at definition, naming the invalid option.
 * @example
 * const hook = use(signature({ scheme: "github", secret: () => secret("WEBHOOK") })).post("/hook", (_in, req) => ok(req.json()));
 */
export function signature(options: SignatureOptions): Middleware {
  check(options);
  const { secret, tolerance = 300 } = options;
  const scheme = SCHEMES[options.scheme];
  return middleware(async (req, next) => {
    const signed = scheme.read(req);
    if (signed === undefined) return error(401, "The request is not signed.");
    const { at, before, signatures } = signed;
    // In whole seconds, like the sender: a tolerance of 0 means this very second.
    if (at !== undefined && Math.abs(Math.floor(Date.now() / 1000) - at) > tolerance) {
      return error(401, "The signature's time is too far away.");
    }
    const given = typeof secret === "function" ? await secret(req) : secret;
    if (typeof given !== "string" || given === "") throw new TypeError("signature: there is no secret");
    const expected = scheme.encode(await hmac(scheme.key(given), joined(before, rawBody(req))));
    const matches = signatures.slice(0, MAX_SIGNATURES).filter((each) => safeEqual(each, expected));
    return matches.length > 0 ? next() : error(401, "The signature does not match.");
  });
}

function joined(before: string, body: Uint8Array | undefined): Uint8Array {
  const head = encodeUtf8(before);
  const all = new Uint8Array(head.length + (body?.length ?? 0));
  all.set(head);
  if (body !== undefined) all.set(body, head.length);
  return all;
}

function check(options: SignatureOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("signature: expects { scheme, secret }");
  refuseUnknown("signature", options, ["scheme", "secret", "tolerance"]);
  const { scheme, secret, tolerance = 0 } = options;
  if (!Object.hasOwn(SCHEMES, scheme)) {
    throw new TypeError(`signature: "scheme" must be one of ${Object.keys(SCHEMES).join(", ")}`);
  }
  if (typeof secret !== "function" && (typeof secret !== "string" || secret === "")) {
    throw new TypeError('signature: "secret" must be a text, or a function that gives it');
  }
  // A known secret is checked now, instead of at the first request.
  if (typeof secret === "string") SCHEMES[scheme].key(secret);
  if (!(tolerance >= 0)) throw new RangeError('signature: "tolerance" must be a number of seconds, 0 or more');
}
