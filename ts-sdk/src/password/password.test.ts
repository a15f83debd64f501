import { scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hash, needsRehash, verify } from "./index.ts";

const unpadded = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replace(/=+$/, "");

describe.each(["scrypt", "argon2id"] as const)("%s", (algorithm) => {
  it("verifies the password alone, with another salt each time", async () => {
    const [one, two] = await Promise.all([hash("correct horse", { algorithm }), hash("correct horse", { algorithm })]);
    expect(one).not.toBe(two);
    expect(one).toMatch(
      algorithm === "scrypt"
        ? /^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/
        : /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/,
    );
    expect(await verify("correct horse", one)).toBe(true);
    expect(await verify("correct horsf", one)).toBe(false);
    expect(needsRehash(one, { algorithm })).toBe(false);
    expect(needsRehash(one, { algorithm: algorithm === "scrypt" ? "argon2id" : "scrypt" })).toBe(true);
  });
});

it("verifies hashes of other programs", async () => {
  // The example of argon2-cffi's documentation, and one of libsodium's parameters.
  const salt = Buffer.from("0123456789abcdef");
  const known = `$scrypt$ln=12,r=8,p=1$${unpadded(salt)}$${unpadded(scryptSync("pw", salt, 32, { N: 4096, r: 8, p: 1 }))}`;
  expect(await verify("pw", known)).toBe(true);
  expect(needsRehash(known)).toBe(true);
  // RFC-style vector of the reference implementation: argon2id, t=2, m=64 MiB, p=1 is slow in JavaScript; m=256 KiB here.
  const argon2 = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
  expect(await verify("password", argon2)).toBe(true);
  expect(await verify("Password", argon2)).toBe(false);
});

it.each([
  "",
  "plain",
  "$2b$12$abcdefghijklmnopqrstuuVZ9r1Zxk0Qw1Hq5GqCkQ4m1o0m4e7C2",
  "$scrypt$ln=24,r=8,p=1$c29tZXNhbHRzb21l$c29tZXNhbHRzb21lc29tZXNhbHRzb21l",
  "$scrypt$ln=17,r=32,p=64$c29tZXNhbHRzb21l$c29tZXNhbHRzb21lc29tZXNhbHRzb21l",
  "$scrypt$ln=14,r=8$c29tZXNhbHRzb21l$c29tZXNhbHRzb21lc29tZXNhbHRzb21l",
  "$scrypt$ln=14,r=8,p=5,p=5$c29tZXNhbHRzb21l$c29tZXNhbHRzb21lc29tZXNhbHRzb21l",
  "$scrypt$ln=14,r=8,p=5$c29t$c29tZXNhbHRzb21lc29tZXNhbHRzb21l",
  "$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
  "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
  "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
])("is no hash of a password, and takes no time: %s", async (text) => {
  const start = process.cpuUsage();
  expect(await verify("password", text)).toBe(false);
  // Processor time of this process, which the load of the machine is no part of.
  const { user, system } = process.cpuUsage(start);
  expect(user + system).toBeLessThan(500_000);
  expect(needsRehash(text)).toBe(true);
});

it("refuses what is no password", async () => {
  await expect(hash("x".repeat(4097))).rejects.toThrow("at most 4096 bytes");
  await expect(hash(1 as never)).rejects.toThrow("must be a text");
  await expect(hash("x", { algorithm: "md5" as never })).rejects.toThrow("must be one of scrypt, argon2id");
  await expect(hash("x", { algoritm: "argon2id" } as never)).rejects.toThrow('hash: unknown "algoritm"');
  expect(() => needsRehash("x", { algoritm: "argon2id" } as never)).toThrow('needsRehash: unknown "algoritm"');
  expect(await verify("x".repeat(5000), await hash("x"))).toBe(false);
});
