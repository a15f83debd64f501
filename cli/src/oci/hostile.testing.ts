/** A fake registry with programmable answers, which records requests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { digestOf, mediaTypes } from "./artifact.ts";

/** The answer at a path: bytes, or a function that writes the response. */
export type Route = Uint8Array | string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A received request. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A server on a free port of 127.0.0.1. */
export interface FakeRegistry {
  readonly host: string;
  readonly port: number;
  readonly seen: Seen[];
  /**
   * Answers by method and path without the query, such as `GET /v2/team/shop/manifests/1.0`; a path alone means GET.
   */
  readonly routes: Map<string, Route>;
  close(): Promise<void>;
}

export async function fakeRegistry(): Promise<FakeRegistry> {
  const routes = new Map<string, Route>();
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { method = "", url = "" } = request;
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      seen.push({ method, url, authorization: request.headers.authorization, body });
      const path = url.replace(/\?.*$/, "");
      const route = routes.get(`${method} ${path}`) ?? (method === "GET" ? routes.get(path) : undefined);
      if (route === undefined) response.writeHead(404).end('{"errors":[{"code":"UNKNOWN","message":"secret words"}]}');
      else if (typeof route === "function") route(request, response);
      else response.end(route);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    port,
    seen,
    routes,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends an endless answer, as fast as the client reads. */
export const endless: Route = (_, response) => {
  const piece = Buffer.alloc(64 * 1024, " ");
  const write = () => {
    while (!response.destroyed && response.write(piece)) {}
  };
  response.on("drain", write);
  write();
};

/** Answers with a redirect. */
export function redirect(location: string): Route {
  return (_, response) => response.writeHead(307, { location }).end();
}

/** Asks for credentials until `authorization` has this value. */
export function guarded(challenge: string, authorization: string, inner: Uint8Array | string): Route {
  return (request, response) => {
    if (request.headers.authorization === authorization) response.end(inner);
    else response.writeHead(401, { "www-authenticate": challenge }).end();
  };
}

/** Makes an artifact whose component is these bytes, with extra fields in its manifest. */
export function artifact(component: string, other: object = {}) {
  const layer = { mediaType: mediaTypes.component, digest: digestOf(Buffer.from(component)), size: component.length };
  const config = JSON.stringify({ architecture: "wasm", os: "wasip2", layerDigests: [layer.digest] });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, digest: digestOf(Buffer.from(config)), size: config.length },
    layers: [layer],
    ...other,
  });
  return { component, layer, config, manifest, digest: digestOf(Buffer.from(manifest)) };
}

/** Serves an artifact at `team/shop:1.0`. */
export function serve({ routes }: FakeRegistry, parts: ReturnType<typeof artifact>): void {
  routes.set("/v2/team/shop/manifests/1.0", parts.manifest);
  routes.set(`/v2/team/shop/manifests/${parts.digest}`, parts.manifest);
  routes.set(`/v2/team/shop/blobs/${digestOf(Buffer.from(parts.config))}`, parts.config);
  routes.set(`/v2/team/shop/blobs/${parts.layer.digest}`, parts.component);
}

/** Adds a module with this code to a component, and data that are no code. With 2 MB of noise it is worth a slim artifact. */
export function withModule(component: Uint8Array, code: Uint8Array, data: string): Buffer {
  const section = (id: number, content: Uint8Array) =>
    Buffer.concat([Buffer.from([id]), leb128(content.length), content]);
  const named = section(0, Buffer.concat([Buffer.from([1, 0x78]), Buffer.from(data)]));
  // The contents of functions are not looked at.
  const module = Buffer.concat([Buffer.from("0061736d01000000", "hex"), section(10, code), named]);
  return Buffer.concat([component, section(1, module)]);
}

/** The unsigned encoding of WebAssembly. */
function leb128(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
}
