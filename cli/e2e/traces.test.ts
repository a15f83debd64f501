/** Trace context from the client to the module's calls, and to a collector; the real `tenon run`. */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testWith } from "../../testing/needs.ts";
import { send } from "./http.ts";
import { faultsProject, startTenon } from "./servers.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = `00-${trace}-b7ad6b7169203331-01`;

/** A server that stores its requests. */
interface Keeper {
  readonly url: string;
  readonly kept: { readonly head: IncomingMessage; readonly body: Buffer }[];
}

let folder: string;
const servers: Server[] = [];
let sidecar: Keeper;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-traces-"));
  sidecar = await keeper("http", (listener) => createServer(listener));
});
afterAll(async () => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  await rm(folder, { recursive: true, force: true });
});

async function keeper(scheme: string, create: (listener: RequestListener) => Server): Promise<Keeper> {
  const kept: Keeper["kept"] = [];
  const server = create(async (head, outgoing) => {
    const pieces: Buffer[] = [];
    for await (const piece of head) pieces.push(piece as Buffer);
    kept.push({ head, body: Buffer.concat(pieces) });
    outgoing.end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`, kept };
}

/** Asks a module that asks its sidecar; gives the `traceparent` that the sidecar was sent. */
async function ask(id: string, collector?: string, environment?: NodeJS.ProcessEnv): Promise<string> {
  const project = await mkdtemp(join(folder, "project-"));
  const endpoint = collector === undefined ? "" : `[server]\notlp_endpoint = "${collector}"\n`;
  await writeFile(
    join(project, "tenon.toml"),
    `[project]\nname = "faults"\n${endpoint}[sidecars]\ngood = "${sidecar.url}"\n`,
  );
  const server = await startTenon([join(faultsProject, "dist/faults.wasm")], "faults", project, environment);
  try {
    const headers = [["traceparent", parent] as const, ["x-request-id", id] as const];
    expect((await send(server.base, { path: "/run/faults/call/1", headers })).json()).toMatchObject({ status: 200 });
  } finally {
    // Stopping sends the remaining spans.
    await server.stop();
  }
  const call = sidecar.kept.find(({ head }) => head.headers["x-request-id"] === id);
  return String(call?.head.headers["traceparent"]);
}

/** Expects a collector's span to be the parent that the sidecar got, in the client's trace. */
function expectSpan({ kept }: Keeper, told: string): void {
  const [, traceId = "", spanId = ""] = told.split("-");
  expect(traceId).toBe(trace);
  expect(told).not.toBe(parent);
  expect(kept).toHaveLength(1);
  const { head, body } = kept[0] as Keeper["kept"][0];
  expect([head.method, head.url, head.headers["content-type"]]).toEqual([
    "POST",
    "/v1/traces",
    "application/x-protobuf",
  ]);
  // ExportTraceServiceRequest in protobuf, whose byte fields stand in it as they are.
  for (const bytes of [traceId, spanId, parent.split("-")[2] ?? ""]) {
    expect(body.includes(Buffer.from(bytes, "hex")), bytes).toBe(true);
  }
  expect(body.includes("GET /run/faults/*")).toBe(true);
}

test("without a collector the client's own place is passed on to sidecars", async () => {
  expect(await ask("untraced")).toBe(parent);
});

test("a collector is sent a span, and sidecars are told to be below it", async () => {
  const collector = await keeper("http", (listener) => createServer(listener));
  expectSpan(collector, await ask("traced", collector.url));
});

testWith("openssl", "over HTTPS, when its certificate is trusted", async () => {
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=collector";
  const extensions = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"];
  const made = spawnSync("openssl", [...args.split(" "), ...extensions, "-keyout", "key.pem", "-out", "cert.pem"], {
    cwd: folder,
  });
  expect(made.status, String(made.stderr)).toBe(0);
  const [cert, key] = await Promise.all(["cert.pem", "key.pem"].map((file) => readFile(join(folder, file))));
  const collector = await keeper("https", (listener) => createSecureServer({ cert, key }, listener) as Server);
  expectSpan(collector, await ask("secure", collector.url, { SSL_CERT_FILE: join(folder, "cert.pem") }));

  // Whoever is not trusted gets nothing, and the request is answered all the same.
  await ask("distrusted", collector.url);
  expect(collector.kept).toHaveLength(1);
});
