/** Sidecars that hold work for this process: queues and cron. Here are their places, and the requests that they get. */
import { ask, detailOf, type Reply } from "./ask.ts";
import { TenonError } from "./errors.ts";
import { sidecarVariable } from "./project/config/addresses.ts";
import type { InProcessSidecar, Runtime, RuntimeOptions } from "./runtime.ts";

/** A sidecar: an address as in `[sidecars]`, and the bearer token of its requests, if it has one; or one in this process. */
export type SidecarService =
  | { readonly address: string; readonly token?: string }
  | { readonly inProcess: InProcessSidecar };

/** Sends JSON to a sidecar; resolves with the answer, whatever its status is. */
export type AskSidecar = (method: "POST" | "PUT", path: string, json: object) => Promise<Reply>;

/** The time after which a request is given up. */
const TIMEOUT_MS = 30_000;

/** Bytes of an answer; a lease of queues has 100 messages at most. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Finds a sidecar by its name; `undefined` when there is none.
 *
 * @param options the runtime's options
 */
export function findService(
  name: string,
  { sidecars = {}, secrets = {}, env = {} }: Pick<RuntimeOptions, "sidecars" | "secrets" | "env">,
): SidecarService | undefined {
  const variable = sidecarVariable(name);
  const sidecar = Object.entries(sidecars).find(([each]) => sidecarVariable(each) === variable)?.[1];
  if (sidecar === undefined) return undefined;
  if (typeof sidecar !== "string") return { inProcess: sidecar };
  const tokenVariable = variable.replace(/_URL$/, "_TOKEN");
  const token = secrets[tokenVariable] ?? env[tokenVariable];
  return { address: sidecar, ...(token === undefined ? {} : { token }) };
}

/** Makes the error of a section of `tenon.toml` whose sidecar is not named. */
export function missingService(section: string, name: string): TenonError {
  return new TenonError(
    "CONFIG",
    `there is [${section}] in tenon.toml, and no sidecar \`${name}\``,
    `write ${name} = { run = "${name}", url = "env:DATABASE_URL" } under [sidecars]; or run \`tenon sidecar ${name}\`, and write ` +
      `${name} = "unix:///run/${name}.sock"`,
  );
}

/** The way to a sidecar. A runtime has those in this process. */
export function asking(service: SidecarService, runtime: Runtime): AskSidecar {
  return "inProcess" in service
    ? (method, path, json) => runtime.askSidecar(service.inProcess, method, path, json)
    : askAt(service.address, service.token);
}

/** The way to a sidecar at an address. */
export function askAt(address: string, token?: string): AskSidecar {
  return (method, path, json) =>
    ask({ address, method, path, json, token, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES });
}

/**
 * Sends JSON, and returns the JSON of the answer; `undefined` for 204, and for 409, which means that a lease has ended.
 *
 * @throws Error when there is no answer, or another one
 */
export async function askService(
  ask: AskSidecar,
  method: "POST" | "PUT",
  path: string,
  json: object,
): Promise<unknown> {
  const reply = await ask(method, path, json);
  if (reply.status === 409 || reply.status === 204) return undefined;
  if (reply.status !== 200) throw new Error(detailOf(reply));
  try {
    return JSON.parse(reply.text);
  } catch {
    throw new Error("its answer is no JSON");
  }
}
