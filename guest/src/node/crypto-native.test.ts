/** `node:crypto` by the functions of the engine, compared with Node's. */
import * as nodeCrypto from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { describe, expect, test } from "vitest";
import { startEngine } from "../../testing/engine.ts";
import { seeded } from "../platform/crypto/modules.testing.ts";

/** A handler that evaluates the text of a request. Its files are those that the build takes. */
const source = `
  import "../platform/encoding/install-encoder.ts";
  import "../platform/encoding/install-all.ts";
  import "../platform/crypto/install.ts";
  import * as crypto from "./crypto.ts";
  import { Buffer } from "./buffer.ts";
  import { utf8Decode, utf8Encode } from "tenon:engine";
  export const handler = { async handle({ body }) {
    let text;
    try { text = JSON.stringify({ value: await (0, eval)(utf8Decode(body))(crypto, Buffer) ?? null }); }
    catch (error) { text = JSON.stringify({ error: error.code ?? String(error) }); }
    return { status: 200, headers: [], body: utf8Encode(text) };
  } };`;
/** Takes the same files as the build (`cli/src/build/node-modules.ts`). */
const native: Plugin = {
  name: "native",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/(hashes|symmetric)\.ts$/ }, ({ path, importer, resolveDir }) =>
      importer.endsWith("-native.ts") ? undefined : { path: join(resolveDir, path.replace(".ts", "-native.ts")) },
    );
  },
};
const { outputFiles } = await build({
  stdin: { contents: source, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
  bundle: true,
  write: false,
  format: "esm",
  target: "es2023",
  external: ["tenon:engine"],
  plugins: [native],
});

const file = fileURLToPath(new URL("../../../crates/engine/engine-full.wasm", import.meta.url));
const engine = startEngine(file, outputFiles[0]?.text ?? "");

/** Calls a function with other arguments in the engine and in Node. It may use its parameters only. */
function outcomes<Args extends unknown[]>(
  call: (crypto: typeof nodeCrypto, buffer: typeof Buffer, ...args: Args) => unknown,
  ...args: Args
): [own: unknown, expected: unknown] {
  const text = `(crypto, Buffer) => (${call})(crypto, Buffer, ...${JSON.stringify(args)})`;
  const { body } = engine.handle({ body: Buffer.from(text) });
  if (body === undefined) throw new Error(engine.printed());
  let expected: object;
  try {
    expected = { value: call(nodeCrypto, Buffer, ...args) ?? null };
  } catch (error) {
    expected = { error: (error as { code?: string }).code ?? String(error) };
  }
  return [JSON.parse(Buffer.from(body).toString()), expected];
}

const random = seeded(3);
const hex = (length: number) => Buffer.from(random.bytes(length)).toString("hex");

describe.each(["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-256", "sha3-256", "ripemd160"])(
  "%s",
  (name) => {
    test("hashes data in pieces, and goes on from a copy", () => {
      for (let round = 0; round < 30; round++) {
        const [own, expected] = outcomes(
          (crypto, _, name, ...pieces) => {
            const hash = crypto.createHash(name);
            for (const piece of pieces) hash.update(piece, "hex");
            const copy = hash.copy().update("é");
            return [hash.digest("hex"), copy.digest("base64url"), crypto.createHash(name).digest("latin1" as "hex")];
          },
          name,
          ...Array.from({ length: random.number(4) }, () => hex(random.number(300))),
        );
        expect(own).toEqual(expected);
      }
    });

    test("keyed, with keys of any length", () => {
      for (const length of [0, 1, 63, 64, 65, 127, 128, 129, 300]) {
        const [own, expected] = outcomes(
          (crypto, buffer, name, key, data) => {
            const keyed = crypto.createHmac(name, buffer.from(key, "hex"));
            return keyed.update(data, "hex").update("text").digest("hex");
          },
          name,
          hex(length),
          hex(random.number(200)),
        );
        expect(own).toEqual(expected);
      }
    });
  },
);

test("a hash that is done, or not known, is refused", () => {
  for (const call of [
    (crypto: typeof nodeCrypto) => {
      const hash = crypto.createHash("sha256");
      hash.digest();
      hash.update("x");
    },
    (crypto: typeof nodeCrypto) => void crypto.createHmac("none", "key"),
  ]) {
    const [own, expected] = outcomes(call);
    expect(own).toHaveProperty("error");
    if (!JSON.stringify(expected).includes("Invalid digest")) expect(own).toEqual(expected);
  }
});

test("timingSafeEqual", () => {
  for (const other of ["0102", "0103", "01"]) {
    const [own, expected] = outcomes(
      (crypto, buffer, other) => crypto.timingSafeEqual(buffer.from("0102", "hex"), buffer.from(other, "hex")),
      other,
    );
    expect(own).toEqual(expected);
  }
});

test("keys are derived, with any hash", () => {
  for (const digest of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]) {
    const [own, expected] = outcomes(
      (crypto, buffer, digest) => [
        crypto.pbkdf2Sync("secret", "salt", 7, 70, digest).toString("hex"),
        buffer.from(crypto.hkdfSync(digest, "secret", "salt", "info", 100)).toString("hex"),
      ],
      digest,
    );
    expect(own).toEqual(expected);
  }
});

test("scrypt has the published results (RFC 7914, section 12), and refuses wrong parameters", () => {
  for (const [password, salt, N, r, p] of [
    ["", "", 16, 1, 1],
    ["password", "NaCl", 1024, 8, 16],
    ["x", "y", 15, 1, 1],
  ] as const) {
    const [own, expected] = outcomes(
      (crypto, _, password, salt, N, r, p) => crypto.scryptSync(password, salt, 64, { N, r, p }).toString("hex"),
      password,
      salt,
      N,
      r,
      p,
    );
    if (N === 15) expect(own).toEqual({ error: "ERR_CRYPTO_INVALID_SCRYPT_PARAMS" });
    else expect(own).toEqual(expected);
  }
});

test.each(["gcm", "cbc", "ctr"])("AES in the mode %s seals in pieces and opens", (mode) => {
  for (let round = 0; round < 40; round++) {
    const bits = [128, 192, 256][round % 3] as number;
    const [own, expected] = outcomes(
      (crypto, buffer, name, key, iv, ...pieces) => {
        const given = [name as "aes-128-gcm", buffer.from(key, "hex"), buffer.from(iv, "hex")] as const;
        const cipher = crypto.createCipheriv(...given);
        let sealed = "";
        for (const piece of pieces) sealed += cipher.update(piece, "hex", "hex");
        sealed += cipher.final("hex");
        const decipher = crypto.createDecipheriv(...given);
        const tag = name.endsWith("gcm") ? cipher.getAuthTag() : undefined;
        if (tag) decipher.setAuthTag(tag);
        const opened = decipher.update(sealed, "hex", "hex") + decipher.final("hex");
        return [sealed, tag?.toString("hex") ?? "", opened === pieces.join("")];
      },
      `aes-${bits}-${mode}`,
      hex(bits / 8),
      hex(mode === "gcm" ? 12 : 16),
      ...Array.from({ length: random.number(4) }, () => hex(random.number(50))),
    );
    expect(own).toEqual(expected);
  }
});

test.each(["gcm", "cbc", "ctr"])("AES in the mode %s refuses what Node refuses", (mode) => {
  const name = `aes-128-${mode}`;
  for (const [each, key, iv] of [
    ["aes-100-xyz", 16, 16],
    [name, 15, 16],
    [name, 16, mode === "gcm" ? 0 : 12],
  ] as const) {
    const [own, expected] = outcomes(
      (crypto, buffer, name, key, iv) => void crypto.createCipheriv(name, buffer.alloc(key), buffer.alloc(iv)),
      each,
      key,
      iv,
    );
    expect(own).toEqual(expected);
    expect(own).toHaveProperty("error");
  }
  const [own, expected] = outcomes((crypto, buffer, name) => {
    const isSealed = name.endsWith("gcm");
    const decipher = crypto.createDecipheriv(name as "aes-128-gcm", buffer.alloc(16), buffer.alloc(isSealed ? 12 : 16));
    if (isSealed) decipher.setAuthTag(buffer.alloc(16));
    decipher.update("00112233445566778899aabbccddee", "hex");
    decipher.final("hex");
  }, name);
  expect(own).toEqual(expected);
});

test("CBC without padding takes whole blocks, and bad padding is refused", () => {
  const [own, expected] = outcomes((crypto, buffer) => {
    const [key, iv] = [buffer.alloc(32), buffer.alloc(16)];
    const codeOf = (call: () => unknown) => {
      try {
        return call();
      } catch (error) {
        return (error as { code?: string }).code ?? "no code";
      }
    };
    const open = crypto.createCipheriv("aes-256-cbc", key, iv).setAutoPadding(false);
    const whole = open.update("00".repeat(32), "hex", "hex") + open.final("hex");
    const decipher = crypto.createDecipheriv("aes-256-cbc", key, iv);
    decipher.update(whole, "hex");
    const short = crypto.createCipheriv("aes-256-cbc", key, iv).setAutoPadding(false);
    short.update("00", "hex");
    return [whole, codeOf(() => decipher.final()), codeOf(() => short.final())];
  });
  expect(own).toEqual(expected);
});

test("a cipher that has ended, or lacks its tag, is refused", () => {
  const failures = [
    (crypto: typeof nodeCrypto, buffer: typeof Buffer) => {
      crypto.createCipheriv("aes-128-gcm", buffer.alloc(16), buffer.alloc(12)).getAuthTag();
    },
    (crypto: typeof nodeCrypto, buffer: typeof Buffer) => {
      const cipher = crypto.createCipheriv("aes-128-gcm", buffer.alloc(16), buffer.alloc(12));
      cipher.final();
      cipher.update("x");
    },
  ];
  for (const call of failures) expect(outcomes(call)[0]).toEqual({ error: "ERR_CRYPTO_INVALID_STATE" });
  const [own] = outcomes((crypto, buffer) => {
    crypto.createDecipheriv("aes-128-gcm", buffer.alloc(16), buffer.alloc(12)).final();
  });
  expect(JSON.stringify(own)).toContain("unable to authenticate");
});

test("Argon2 has the published results (RFC 9106, section 5), and refuses wrong parameters", () => {
  const tags = {
    argon2d: "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
    argon2i: "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
    argon2id: "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
  };
  for (const [algorithm, tag] of Object.entries(tags)) {
    const [own] = outcomes(
      (crypto, buffer, algorithm) =>
        (crypto as unknown as { argon2Sync: (algorithm: string, options: object) => Buffer })
          .argon2Sync(algorithm, {
            message: buffer.alloc(32, 1),
            nonce: buffer.alloc(16, 2),
            secret: buffer.alloc(8, 3),
            associatedData: buffer.alloc(12, 4),
            ...{ memory: 32, passes: 3, parallelism: 4, tagLength: 32 },
          })
          .toString("hex"),
      algorithm,
    );
    expect(own).toEqual({ value: tag });
  }
  for (const wrong of [{ memory: 7 }, { passes: 0 }, { nonce: "short" }, { memory: 2 ** 31 }]) {
    const [refused] = outcomes(
      (crypto, _, wrong) =>
        void (crypto as unknown as { argon2Sync: (algorithm: string, options: object) => Buffer }).argon2Sync(
          "argon2id",
          {
            ...{ message: "p", nonce: "12345678", memory: 8, passes: 1, parallelism: 1, tagLength: 32 },
            ...wrong,
          },
        ),
      wrong,
    );
    expect(refused).toEqual({ error: "ERR_OUT_OF_RANGE" });
  }
});

test("scrypt without enough memory is refused, and the engine goes on", () => {
  const [refused] = outcomes((crypto) => void crypto.scryptSync("p", "s", 33, { N: 2 ** 30, maxmem: 2 ** 50 }));
  expect(refused).toEqual({ error: "ERR_CRYPTO_INVALID_SCRYPT_PARAMS" });
  const [own] = outcomes((crypto) => crypto.scryptSync("p", "s", 33).length);
  expect(own).toEqual({ value: 33 });
});

test("random bytes are drawn in requests", () => {
  const [own] = outcomes((crypto) => [
    crypto.randomBytes(100_000).length,
    new Set(crypto.randomBytes(10_000)).size,
    crypto.randomUUID().length,
    crypto.randomInt(5, 6),
  ]);
  expect(own).toEqual({ value: [100_000, 256, 36, 5] });
});
