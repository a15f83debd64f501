import { HttpRequest } from "./http-client.ts";
import type { HttpResponse } from "./response.ts";
import { connectionOf } from "./sidecar.ts";

/** Requests to one sidecar, whose URLs are paths: `sidecar("stripe").request().post("/v1/charges")`. */
class SidecarRequest extends HttpRequest {
  readonly #name: string;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  override method(method: string, path: string): this {
    if (typeof path !== "string" || !path.startsWith("/") || path.startsWith("//")) {
      throw new TypeError(`sidecar: expects a path that begins with one "/", such as "/v1/charges"`);
    }
    const { base, token } = connectionOf(this.#name);
    if (token !== undefined) this.header("authorization", `Bearer ${token}`);
    return super.method(method, base + path);
  }
}

/** A client that {@link sidecar} returns. */
export interface SidecarClient {
  /** Fetches a path: `(await sidecar("stripe").get("/v1/balance")).json()`. @throws HttpClientError when there is no answer. */
  get(path: string): Promise<HttpResponse>;
  /** A request builder like `httpClient`'s, with paths instead of URLs. */
  request(): HttpRequest;
}

/**
 * An `httpClient` bound to a sidecar: `await sidecar("stripe").request().post("/v1/charges").json(value).send()`. The
 * sidecar adds the credential, outside the module.
 *
 * @param name as under `[sidecars]` in `tenon.toml`
 * @throws TypeError when the name is invalid; a request throws SidecarError when there is no such sidecar.
 */
export function sidecar(name: string): SidecarClient {
  if (typeof name !== "string" || !/^[A-Za-z][\w-]*$/.test(name)) {
    throw new TypeError("sidecar: expects the name of a sidecar: letters, digits, _ and -, a letter first");
  }
  return Object.freeze({
    get: async (path: string) => new SidecarRequest(name).get(path).send(),
    request: () => new SidecarRequest(name),
  });
}
