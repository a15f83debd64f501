/** Checks the files of `server.tls_certificate` and `server.tls_key`, and reports a wrong one with its line. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { systemReason } from "../errors.ts";
import { variableOf } from "./config/key.ts";
import type { Environment } from "./config/parse.ts";
import { Report } from "./config/report.ts";
import { readToml } from "./config/toml.ts";
import type { Config } from "./config.ts";
import { configFile } from "./project.ts";

/** Maximum size of a certificate or key file in bytes. A long chain fits many times. */
const MAX_BYTES = 1_048_576;

/** A certificate in PEM. The runtime skips other text, such as the descriptions that OpenSSL writes. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

type TlsKey = "tls_certificate" | "tls_key";

/** A problem of one of the two keys. */
interface Problem {
  readonly key: TlsKey;
  readonly message: string;
}

/**
 * Refuses TLS files that the runtime cannot serve with.
 *
 * @param folder the base of relative paths, with the `tenon.toml`
 * @throws TenonError `CONFIG`, with the line in `tenon.toml`, or the environment variable that names the file
 */
export async function requireTls({ server }: Config, folder: string, environment: Environment): Promise<void> {
  const { tlsCertificate, tlsKey } = server;
  if (tlsCertificate === undefined && tlsKey === undefined) return;
  const problems = await problemsOf(tlsCertificate, tlsKey, folder);
  if (problems.length > 0) throw await located(problems, folder, environment);
}

async function problemsOf(
  certificate: string | undefined,
  key: string | undefined,
  folder: string,
): Promise<readonly Problem[]> {
  if (certificate === undefined) return [{ key: "tls_key", message: "needs `server.tls_certificate`" }];
  if (key === undefined) return [{ key: "tls_certificate", message: "needs `server.tls_key`" }];
  const chain = await read(certificate, folder, readChain);
  const privateKey = await read(key, folder, readKey);
  const problems: Problem[] = [];
  if ("problem" in chain) problems.push({ key: "tls_certificate", message: chain.problem });
  if ("problem" in privateKey) problems.push({ key: "tls_key", message: privateKey.problem });
  if ("value" in chain && "value" in privateKey && !chain.value.checkPrivateKey(privateKey.value))
    problems.push({
      key: "tls_key",
      message: `names ${key}, which is not the key of the certificate in ${certificate}`,
    });
  return problems;
}

type Result<T> = { readonly value: T } | { readonly problem: string };

/** Reads a file; `parse` returns a problem to append to the file's name and "which". */
async function read<T>(file: string, folder: string, parse: (text: string) => Result<T>): Promise<Result<T>> {
  const path = resolve(folder, file);
  try {
    if ((await stat(path)).size > MAX_BYTES)
      return { problem: `names ${file}, which is larger than ${MAX_BYTES} bytes` };
    const parsed = parse(await readFile(path, "utf8"));
    return "problem" in parsed ? { problem: `names ${file}, which ${parsed.problem}` } : parsed;
  } catch (error) {
    return { problem: `names ${file}, which cannot be read: ${systemReason(error)}` };
  }
}

/** Parses every certificate of a chain, and returns the first one, which is the server's. */
function readChain(text: string): Result<X509Certificate> {
  try {
    const [first] = (text.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each));
    return first === undefined ? { problem: "has no certificate in PEM" } : { value: first };
  } catch {
    return { problem: "has a certificate that cannot be read" };
  }
}

function readKey(text: string): Result<KeyObject> {
  if (text.includes("ENCRYPTED")) return { problem: "has an encrypted key: write it without a password" };
  try {
    return { value: createPrivateKey(text) };
  } catch {
    return { problem: "has no private key in PEM" };
  }
}

/** Reads `tenon.toml` again, because a parsed configuration has no places. */
async function located(problems: readonly Problem[], folder: string, environment: Environment): Promise<Error> {
  const file = join(folder, configFile);
  const text = await readFile(file, "utf8").catch(() => "");
  const report = new Report(relative(process.cwd(), file) || configFile, text.replace(/^\ufeff/, ""));
  const server = readToml(report.text).get("server")?.entries;
  for (const { key, message } of problems) {
    const variable = variableOf("server", key);
    if (environment[variable] === undefined) report.add(`\`server.${key}\` ${message}`, server?.get(key)?.at);
    else report.addElsewhere(`the environment variable ${variable} ${message}`);
  }
  return report.error();
}
