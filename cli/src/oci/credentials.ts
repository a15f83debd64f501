/** Credentials for registries, from the configuration that `docker login` writes. */
import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemReason, TenonError } from "../errors.ts";
import { ociLimits } from "./limits.ts";
import { isDockerHub } from "./reference.ts";

/** Credentials of one registry. */
export type Credential =
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  /** A refresh token of OAuth 2. */
  | { readonly kind: "identity"; readonly token: string }
  /** A token for the registry itself. */
  | { readonly kind: "bearer"; readonly token: string };

/** A credential and its source: a file or a helper program. */
export interface FoundCredential {
  readonly credential: Credential | undefined;
  readonly source: string;
}

/** User name that marks identity tokens in helpers' answers. */
const IDENTITY = "<token>";
/** Key of Docker Hub in Docker configurations. */
const DOCKER_HUB = "https://index.docker.io/v1/";
const HELPER_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;
const NOT_FOUND = "credentials not found";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Finds the credentials of a registry in `config.json` of `DOCKER_CONFIG`, by default `~/.docker`: its helper in
 * `credHelpers`, then `credsStore`, then `auths`. Returns none when the file or the entry is missing.
 *
 * @throws TenonError `REGISTRY` when the configuration is invalid or a helper fails; no message contains their secrets
 */
export async function findCredential(
  registry: string,
  environment: NodeJS.ProcessEnv = process.env,
  helperMs: number = ociLimits.helperMs,
): Promise<FoundCredential> {
  const file = join(environment["DOCKER_CONFIG"] || join(environment["HOME"] || homedir(), ".docker"), "config.json");
  const config = await readConfig(file);
  const key = isDockerHub(registry) ? DOCKER_HUB : registry;
  for (const helper of helpersFor(config, key, file)) {
    const credential = await askHelper(helper, key, environment, helperMs);
    if (credential !== undefined) return { credential, source: `docker-credential-${helper}` };
  }
  return { credential: credentialIn(config, key, file), source: file };
}

async function readConfig(file: string): Promise<Fields> {
  const broken = (problem: string) =>
    new TenonError("REGISTRY", `${file}: ${problem}`, "fix the file, or write it again with `docker login`");
  let text: string;
  try {
    const handle = await open(file, "r");
    try {
      const buffer = Buffer.alloc(ociLimits.dockerConfigBytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (bytesRead === 0 || length === buffer.length) break;
      }
      if (length > ociLimits.dockerConfigBytes) throw broken("it is too large for a Docker configuration");
      text = buffer.toString("utf8", 0, length);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof TenonError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new TenonError("REGISTRY", `cannot read ${file}: ${systemReason(error)}`, "set DOCKER_CONFIG to its folder");
  }
  let config: unknown;
  try {
    config = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // Node's message quotes a part of the text.
    throw broken("it is not JSON");
  }
  if (!isFields(config)) throw broken("it is not a JSON object");
  for (const name of ["auths", "credHelpers"]) {
    if (config[name] !== undefined && !isFields(config[name])) throw broken(`\`${name}\` is not an object`);
  }
  return config;
}

function helpersFor(config: Fields, key: string, file: string): string[] {
  const helpers = (config["credHelpers"] ?? {}) as Fields;
  const own = Object.entries(helpers).find(([name]) => sameRegistry(name, key));
  const named = [own?.[1], config["credsStore"]].filter((name) => name !== undefined && name !== "");
  for (const name of named) {
    if (typeof name === "string" && HELPER_NAME.test(name)) continue;
    throw new TenonError(
      "REGISTRY",
      `${file}: the name of a credential helper has characters other than letters, digits and . _ -`,
      "mend `credsStore` or `credHelpers`",
    );
  }
  return [...new Set(named as string[])];
}

function credentialIn(config: Fields, key: string, file: string): Credential | undefined {
  const auths = Object.entries((config["auths"] ?? {}) as Fields);
  const found = auths.find(([name]) => name === key) ?? auths.find(([name]) => sameRegistry(name, key));
  if (found === undefined) return undefined;
  const [name, entry] = found;
  const broken = (problem: string) =>
    new TenonError(
      "REGISTRY",
      `${file}: the entry for ${hostIn(name)} ${problem}`,
      `run \`docker login ${hostIn(name)}\``,
    );
  if (!isFields(entry)) throw broken("is not an object");
  const text = (field: string) => {
    const value = entry[field];
    if (value === undefined || value === "") return undefined;
    if (typeof value !== "string") throw broken(`has a \`${field}\` that is not a text`);
    return value;
  };
  const identity = text("identitytoken");
  if (identity !== undefined) return { kind: "identity", token: identity };
  const bearer = text("registrytoken");
  if (bearer !== undefined)
    return bearerOf(bearer, () => broken("has a `registrytoken` that is not valid in a header"));
  const auth = text("auth");
  if (auth === undefined) {
    const [username, password] = [text("username"), text("password")];
    return username === undefined || password === undefined ? undefined : { kind: "basic", username, password };
  }
  const plain = /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(auth) ? Buffer.from(auth, "base64").toString("utf8") : "";
  const colon = plain.indexOf(":");
  if (colon < 1) throw broken("has an `auth` that is not a user name and password in Base64");
  // Docker pads this text with zeros.
  const password = plain.slice(colon + 1).replace(/\0+$/, "");
  return { kind: "basic", username: plain.slice(0, colon), password };
}

function bearerOf(token: string, broken: () => TenonError): Credential {
  if (!/^[!-~]+$/.test(token)) throw broken();
  return { kind: "bearer", token };
}

/** Returns whether a key of the configuration, which may be a URL, is for a registry. */
function sameRegistry(key: string, registry: string): boolean {
  return hostIn(key) === hostIn(registry);
}

function hostIn(key: string): string {
  const host = key
    .replace(/^https?:\/\//i, "")
    .replace(/\/.*$/s, "")
    .toLowerCase();
  // The text will be printed, and a configuration is untrusted input.
  return host.replace(/[^a-z0-9.:[\]_-]/g, "?").slice(0, 255);
}

/** Runs `docker-credential-<helper> get`. Returns undefined when the helper has no credentials for the registry. */
async function askHelper(
  helper: string,
  key: string,
  environment: NodeJS.ProcessEnv,
  helperMs: number,
): Promise<Credential | undefined> {
  const program = `docker-credential-${helper}`;
  const failed = (problem: string) =>
    new TenonError(
      "REGISTRY",
      `${program} ${problem}`,
      `run \`${program} get\` by hand, or take it out of the Docker configuration`,
    );
  const { code, output } = await runHelper(program, key, environment, helperMs, failed);
  const text = output.toString("utf8");
  if (code !== 0) {
    if (text.trim().toLowerCase().startsWith(NOT_FOUND)) return undefined;
    throw failed(code === null ? "was ended by a signal" : `failed with code ${code}`);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw failed("printed something that is not JSON");
  }
  const { Username: username, Secret: secret } = isFields(answer) ? answer : {};
  if (typeof username !== "string" || typeof secret !== "string") throw failed("printed no `Username` and `Secret`");
  if (secret === "") return undefined;
  return username === IDENTITY ? { kind: "identity", token: secret } : { kind: "basic", username, password: secret };
}

function runHelper(
  program: string,
  input: string,
  environment: NodeJS.ProcessEnv,
  helperMs: number,
  failed: (problem: string) => TenonError,
): Promise<{ readonly code: number | null; readonly output: Buffer }> {
  return new Promise((resolve, reject) => {
    // Standard error is ignored, because it may contain the secret.
    const child = spawn(program, ["get"], { env: environment, stdio: ["pipe", "pipe", "ignore"] });
    const pieces: Buffer[] = [];
    let length = 0;
    const end = (error: TenonError) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      // Child processes of the helper may hold its output open.
      child.stdout.destroy();
      child.unref();
      reject(error);
    };
    const timer = setTimeout(() => end(failed(`did not answer within ${helperMs / 1000} s`)), helperMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(failed(`cannot be run: ${systemReason(error)}`));
    });
    child.stdout.on("data", (piece: Buffer) => {
      length += piece.length;
      if (length > ociLimits.helperBytes) end(failed("printed more than credentials take"));
      else pieces.push(piece);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(pieces) });
    });
    // A helper that ends without reading reports the reason with its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
