/** Sidecars that hold work for this process: queues and cron. Here are their addresses, and the requests that they get. */
import { request } from "node:http";
import { TenonError } from "./errors.ts";
import { sidecarVariable } from "./project/config/addresses.ts";
import type { RuntimeOptions } from "./runtime.ts";

/** A sidecar: an address as in `[sidecars]`, and the bearer token of its requests, if it has one. */
export interface SidecarService {
  readonly address: string;
  readonly token?: string;
}

/** The time after which a request is given up. */
const TIMEOUT_MS = 30_000;

/** Bytes of an answer; a lease of queues has 100 messages at most. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Finds a sidecar by its name; `undefined` when there is none.
 *
 * @param options what the runtime is started with
 */
export function findService(
  name: string,
  { sidecars = {}, secrets = {}, env = {} }: Pick<RuntimeOptions, "sidecars" | "secrets" | "env">,
): SidecarService | undefined {
  const variable = sidecarVariable(name);
  const address = Object.entries(sidecars).find(([each]) => sidecarVariable(each) === variable)?.[1];
  if (address === undefined) return undefined;
  const tokenVariable = variable.replace(/_URL$/, "_TOKEN");
  const token = secrets[tokenVariable] ?? env[tokenVariable];
  return { address, ...(token === undefined ? {} : { token }) };
}

/** Makes the error of a section of `tenon.toml` whose sidecar is not named. */
export function missingService(section: string, name: string): TenonError {
  return new TenonError(
    "CONFIG",
    `there is [${section}] in tenon.toml, and no sidecar \`${name}\``,
    `run \`tenon sidecar ${name}\`, and name it under [sidecars]: ${name} = "unix:///run/${name}.sock"`,
  );
}

/**
 * Sends JSON, and returns the JSON of the answer; `undefined` for 204, and for 409, which says that a lease has ended.
 *
 * @throws Error when there is no answer, or another one
 */
export function askService(
  { address, token }: SidecarService,
  method: "POST" | "PUT",
  path: string,
  json: object,
): Promise<unknown> {
  const where = address.startsWith("unix://")
    ? { socketPath: address.slice("unix://".length), host: "service.sidecar.internal" }
    : { host: new URL(address).hostname.replace(/^\[(.*)\]$/, "$1"), port: new URL(address).port };
  const body = JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...where,
      method,
      path,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      timeout: TIMEOUT_MS,
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) outgoing.destroy(new Error("its answer is too large"));
        else chunks.push(chunk);
      });
      incoming.once("error", reject);
      incoming.once("end", () => {
        const { statusCode = 0 } = incoming;
        if (statusCode === 409 || statusCode === 204) return resolve(undefined);
        const answer = parse(Buffer.concat(chunks).toString("utf8"));
        if (statusCode !== 200) return reject(new Error(`it answered ${statusCode}${detailOf(answer)}`));
        if (answer === undefined) return reject(new Error("its answer is no JSON"));
        resolve(answer);
      });
    });
    outgoing.end(body);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The sentence of a problem document. */
function detailOf(answer: unknown): string {
  const { detail } = (answer ?? {}) as { detail?: unknown };
  return typeof detail === "string" ? `: ${detail}` : "";
}
