import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { testWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { Runtime } from "../embed/runtime.ts";
import { type Environment, parseConfig } from "./config.ts";
import { requireTls } from "./tls.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-tls-"));
});
afterAll(() => rm(folder, { recursive: true }));

const minimal = '[project]\nname = "demo"\n[server]\n';
const pair = 'tls_certificate = "cert.pem"\ntls_key = "key.pem"\n';

/** The error about a `tenon.toml`; undefined when its TLS files are valid. */
async function refusal(toml: string, environment: Environment = {}): Promise<string | undefined> {
  const text = `${minimal}${toml}`;
  await writeFile(join(folder, "tenon.toml"), text);
  const config = parseConfig(text, "tenon.toml", environment);
  return requireTls(config, folder, environment).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** The certificate and key of files, as the runtime takes them. */
const create = (certificate: string, key: string) => {
  const tls = { certificate: join(folder, certificate), key: join(folder, key) };
  return Runtime.create({ modules: [], tls, maxConcurrent: 4, cacheFolder: false });
};

testWith("openssl", "wrong TLS files are reported with their line, and the runtime refuses them too", async () => {
  const make = (...args: string[]) =>
    execFileSync(findProgram("openssl") as string, args, { cwd: folder, stdio: "pipe" });
  const self = ["req", "-x509", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-newkey", "rsa:2048"];
  make(...self, "-keyout", "key.pem", "-out", "cert.pem");
  make("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "other.pem");
  make("rsa", "-in", "key.pem", "-aes128", "-passout", "pass:secret", "-out", "encrypted.pem");
  const der = make("x509", "-in", "cert.pem", "-outform", "der");
  await writeFile(join(folder, "cert.der"), der);
  const pem = await readFile(join(folder, "cert.pem"), "utf8");
  await writeFile(join(folder, "cut.pem"), pem.replace(/\n[^\n]+\n-----END/, "\n-----END"));
  await writeFile(join(folder, "empty.pem"), "");
  await writeFile(join(folder, "chain.pem"), `subject=CN=localhost\n${pem}\nissuer=CN=localhost\n${pem}`);
  await writeFile(join(folder, "large.pem"), " ".repeat(1_048_577));

  expect(await refusal("")).toBeUndefined();
  expect(await refusal(pair)).toBeUndefined();
  expect(await refusal(pair.replace("cert.pem", "chain.pem"))).toBeUndefined();
  await (await create("chain.pem", "key.pem")).close();

  const [certificate, key] = ["tenon.toml:4:19: `server.tls_certificate`", "tenon.toml:5:11: `server.tls_key`"];
  for (const [name, problem] of [
    ["missing.pem", "which cannot be read: there is no such file or folder"],
    ["empty.pem", "which has no certificate in PEM"],
    ["key.pem", "which has no certificate in PEM"],
    ["cert.der", "which has no certificate in PEM"],
    ["cut.pem", "which has a certificate that cannot be read"],
    ["large.pem", "which is larger than 1048576 bytes"],
  ] as const) {
    expect(await refusal(pair.replace("cert.pem", name)), name).toContain(`${certificate} names ${name}, ${problem}\n`);
    await expect(create(name, "key.pem"), name).rejects.toMatchObject({ code: "CONFIG" });
  }
  for (const [name, problem] of [
    ["missing.pem", "which cannot be read: there is no such file or folder"],
    ["empty.pem", "which has no private key in PEM"],
    ["cert.pem", "which has no private key in PEM"],
    ["encrypted.pem", "which has an encrypted key: write it without a password"],
    ["other.pem", "which is not the key of the certificate in cert.pem"],
  ] as const) {
    expect(await refusal(pair.replace("key.pem", name)), name).toContain(`${key} names ${name}, ${problem}\n`);
    await expect(create("cert.pem", name), name).rejects.toMatchObject({ code: "CONFIG" });
  }

  // Both at once, one alone, and files that the environment names.
  const both = await refusal(pair.replaceAll(".pem", ".none"));
  expect(both).toContain(certificate);
  expect(both).toContain(key);
  expect(await refusal('tls_key = "key.pem"\n')).toContain(
    "tenon.toml:4:11: `server.tls_key` needs `server.tls_certificate`",
  );
  expect(await refusal(pair, { TENON_SERVER_TLS_KEY: "other.pem" })).toBe(
    "the environment variable TENON_SERVER_TLS_KEY names other.pem, which is not the key of the certificate in cert.pem",
  );
});
