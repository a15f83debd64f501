import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { nativeOptions, wholeModules } from "./native-options.ts";
import { Runtime } from "./runtime.ts";
import type { ListenOptions, RuntimeOptions } from "./runtime-options.ts";

const create = (options?: unknown) => Runtime.create(options as RuntimeOptions);

/** Invalid options, and their errors. */
const wrong: [unknown, string][] = [
  [undefined, "the options of `Runtime.create` must be an object, with `modules` at least"],
  [null, "the options of `Runtime.create` must be an object, with `modules` at least"],
  [["a.wasm"], "the options of `Runtime.create` must be an object, with `modules` at least"],
  [{}, "`modules` is missing: it must be a list of component files, or an object of files by the names to call them"],
  [
    { modules: "dist/x.wasm" },
    "`modules` must be a list of component files, or an object of files by the names to call them",
  ],
  [
    { modules: new Map([["x", "x.wasm"]]) },
    "`modules` must be a list of component files, or an object of files by the names to call them",
  ],
  [
    { modules: new URL("file:///x.wasm") },
    "`modules` must be a list of component files, or an object of files by the names to call them",
  ],
  [{ modules: ["a.wasm", 1] }, "`modules[1]` must be a path or a file: URL"],
  [{ modules: { a: null } }, "`modules.a` must be a path, a file: URL, or bytes"],
  [{ modules: [new Uint8Array(1)] }, "`modules[0]` has no name: give bytes as `modules: { name: bytes }`"],
  [{ modules: [], onLog: "stdout" }, "`onLog` must be a function"],
  [{ modules: [], trustCompiled: "yes" }, "`trustCompiled` must be "],
  [{ modules: [new URL("http://host/x.wasm")] }, "`modules[0]` must be a path or a file: URL"],
  [{ modules: [new URL("file://host/x.wasm")] }, "`modules[0]` must be a path or a file: URL"],
  [{ modules: [], requestTimeoutMS: 5 }, "unknown option `requestTimeoutMS`; did you mean `requestTimeoutMs`?"],
  [{ modules: [], request_timeout_ms: 5 }, "unknown option `request_timeout_ms`; did you mean `requestTimeoutMs`?"],
  [{ modules: [], module: "a" }, "unknown option `module`; did you mean `modules`?"],
  [{ modules: [], port: 1 }, "unknown option `port`; it is an option of `listen`"],
  [{ modules: [], constructor: 1 }, "unknown option `constructor`; known are modules, sidecars, "],
  [{ modules: [], requestTimeoutMs: "100" }, "`requestTimeoutMs` must be a whole number from 1 to 3600000"],
  [{ modules: [], requestTimeoutMs: Number.NaN }, "`requestTimeoutMs` must be a whole number from 1 to 3600000"],
  [{ modules: [], maxQueued: -1 }, "`maxQueued` must be a whole number from 0 to 100000"],
  [{ modules: [], maxHeaders: 1.5 }, "`maxHeaders` must be a whole number from 1 to 1000"],
  [{ modules: [], env: { A: 1 } }, "`env.A` must be a string"],
  [{ modules: [], env: { A: undefined } }, "`env.A` must be a string"],
  [{ modules: [], env: { "A=B": "x" } }, "`A=B` is not a name for `env`: any text without ="],
  [{ modules: [], env: ["A=B"] }, "`env` must be an object of texts by the names of variables"],
  [{ modules: [], sidecars: { db: 1 } }, "`sidecars.db` must be an address, or {"],
  [{ modules: [], sidecars: "http://db" }, "`sidecars` must be an object of addresses by the names of sidecars"],
  [{ modules: [], sidecars: { db: "ftp://db" } }, "`sidecars.db` must be http://host:port or unix:///path/to.sock"],
  [{ modules: [], sidecars: { db: "postgres://u:pw@db/x" } }, 'write { run: "sql", url: "env:NAME" }'],
  [{ modules: [], sidecars: { "1db": "http://db" } }, "`1db` is not a name for `sidecars`: letters, digits, _ and -"],
  [{ modules: { a: { source: "a", sidecars: { db: "unix://x" } } } }, "`modules.a.sidecars.db` needs an absolute path"],
  [{ modules: [], outboundAllow: "x" }, "`outboundAllow` must be a list of strings"],
  [{ modules: [], isolation: "none" }, '`isolation` must be "request" or "shared"'],
  [{ modules: [], tls: { certificate: "c.pem" } }, "`tls` must be an object with the paths `certificate` and `key`"],
  [{ modules: [], tls: true }, "`tls` must be an object with the paths `certificate` and `key`"],
  [
    { modules: [], tls: { certificate: "c.pem", key: "k.pem", ca: "a.pem" } },
    "`tls` must be an object with the paths `certificate` and `key`",
  ],
  [{ modules: [], cacheFolder: true }, "`cacheFolder` must be a string or false"],
  [{ modules: [], logLevel: "loud" }, '`logLevel` must be "off" or "error" or "warn" or "info" or "debug"'],
  [{ modules: [], logFormat: 1 }, '`logFormat` must be "readable" or "json"'],
  [{ modules: [], accessLog: "yes" }, "`accessLog` must be true or false"],
  [{ modules: [], otlpEndpoint: 4318 }, "`otlpEndpoint` must be a string"],
  [{ modules: { a: {} } }, "`modules.a.source` is missing: it must be a path, a file: URL, or bytes"],
  [{ modules: { a: { source: 1 } } }, "`modules.a.source` must be a path, a file: URL, or bytes"],
  [{ modules: { a: { source: "a", mont: "/a" } } }, "modules.a: unknown option `mont`; did you mean `mount`?"],
  [{ modules: { a: { source: "a", mount: "a" } } }, "`modules.a.mount` must be / or a path such as /shop"],
  [{ modules: { a: { source: "a", host: "a:1" } } }, "`modules.a.host` must be a host name such as shop.example"],
  [{ modules: { a: { source: "a", env: { A: 1 } } } }, "`modules.a.env.A` must be a string"],
  [
    { modules: { a: { source: "a", outbound: ["x"] } } },
    "`modules.a.outbound` must be an object with the list `allow`",
  ],
  [
    { modules: { a: { source: "a", outbound: { allow: "x" } } } },
    "`modules.a.outbound.allow` must be a list of strings",
  ],
  [
    { modules: { a: { source: "a", outbound: { alow: [] } } } },
    "modules.a.outbound: unknown option `alow`; did you mean `allow`?",
  ],
  [
    { modules: { a: { source: "a", budget: { bytes_out: "1 B / day" } } } },
    "modules.a.budget: unknown option `bytes_out`; did you mean `bytesOut`?",
  ],
  [
    { modules: { a: { source: "a", limits: { maxBodyByte: 1 } } } },
    "modules.a.limits: unknown option `maxBodyByte`; did you mean `maxBodyBytes`?",
  ],
  [
    { modules: [], record: { folder: "a", max_bytes: 1 } },
    "record: unknown option `max_bytes`; did you mean `maxBytes`?",
  ],
  [{ modules: [], record: { folder: "" } }, "`record.folder` must not be empty"],
  [{ modules: [], record: { folder: 5 } }, "`record.folder` must be a string"],
  [{ modules: { a: { source: "a", weight: 2 } } }, "unknown option `weight`; it is a part of its `budget`"],
  [{ modules: { a: { source: "a", maxBodyBytes: 1 } } }, "unknown option `maxBodyBytes`; it is one of its `limits`"],
  [{ modules: { a: { source: "a", limits: { maxQueued: 1 } } } }, "it is an option of `Runtime.create`"],
  [
    { modules: { a: { source: "a", limits: { maxConcurrent: 0 } } } },
    "`modules.a.limits.maxConcurrent` must be a whole",
  ],
];

test.each(wrong)("%o is refused", async (options, message) => {
  const created = create(options);
  await expect(created).rejects.toMatchObject({ name: "TenonError", code: "CONFIG" });
  await expect(created).rejects.toThrow(message);
});

test("all that is wrong is told at once, and no value", async () => {
  const sidecars = { db: "postgres://u:canary-4@db/x" };
  const created = create({ modules: [], foo: "canary-1", env: { A: ["canary-2"] }, accessLog: "canary-3", sidecars });
  await expect(created).rejects.toThrow(/`foo`.*\n.*`env\.A`.*\n.*`accessLog`.*\n.*`sidecars\.db`/);
  await expect(created).rejects.not.toThrow("canary");
});

test("what is undefined is left out, and what is null is not", async () => {
  const none = { sidecars: undefined, env: undefined, outboundAllow: undefined, tls: undefined, maxQueued: undefined };
  await (await create({ modules: [], cacheFolder: undefined, logLevel: "off", isolation: undefined, ...none })).close();
  await expect(create({ modules: [], isolation: null })).rejects.toThrow("`isolation` must be");
});

test("every limit is an option, and the addon is given it by its own name", () => {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const given = Object.fromEntries(Object.entries(limits).map(([name, { min }]) => [camel(name), min]));
  const expected = Object.fromEntries(Object.entries(limits).map(([name, { min }]) => [name, min]));
  expect(nativeOptions({ modules: [], ...given }).limits).toEqual(expected);
});

test("a module has a policy of its own, completed by the runtime's variables or secrets", () => {
  const options: RuntimeOptions = {
    modules: {
      plain: "plain.wasm",
      shop: {
        source: pathToFileURL("/shop.wasm"),
        env: { MODE: "shop" },
        sidecars: {},
        outbound: { allow: ["api.example"] },
        limits: { maxConcurrent: 2 },
        mount: "/shop",
      },
    },
    env: { MODE: "server" },
    secrets: { KEY: "of the server" },
    sidecars: { db: "http://db" },
    requestTimeoutMs: 50,
  };
  const shop = {
    sidecars: {},
    outboundAllow: ["api.example"],
    env: { MODE: "shop", TENON_SECRET_KEY: "of the server" },
    mount: "/shop",
  };
  expect(nativeOptions(options).modules).toEqual([
    { name: "plain", path: "plain.wasm" },
    { name: "shop", path: "/shop.wasm", policy: { ...shop, limits: { max_concurrent: 2 } } },
  ]);
  const [plain, whole] = wholeModules(options);
  expect(plain?.policy).toMatchObject({
    sidecars: { db: "http://db" },
    outboundAllow: [],
    env: { MODE: "server", TENON_SECRET_KEY: "of the server" },
    isolation: "request",
    limits: { request_timeout_ms: 50, max_log_bytes: limits.max_log_bytes.default },
  });
  expect(plain?.policy?.limits).not.toHaveProperty("max_queued");
  expect(whole?.policy).toMatchObject({
    ...shop,
    isolation: "request",
    limits: { request_timeout_ms: 50, max_concurrent: 2 },
  });
});

test("files are paths or URLs", async () => {
  const url = pathToFileURL("/a b/x.wasm");
  expect(nativeOptions({ modules: ["y.wasm", url] }).modules).toEqual([{ path: "y.wasm" }, { path: "/a b/x.wasm" }]);
  expect(nativeOptions({ modules: { x: url } }).modules).toEqual([{ name: "x", path: "/a b/x.wasm" }]);
  // The process's environment has another prototype than a plain object.
  expect(nativeOptions({ modules: [], env: process.env as Record<string, string> }).env).toEqual({ ...process.env });
});

let runtime: Runtime;
beforeAll(async () => {
  runtime = await create({ modules: [], maxConcurrent: 4, cacheFolder: false, logLevel: "off" });
});
afterAll(() => runtime.close());

test.each<[unknown, string]>([
  [3000, "the argument of `listen` must be an object { host, port }, or left out"],
  ["127.0.0.1:3000", "the argument of `listen` must be an object { host, port }, or left out"],
  [null, "the argument of `listen` must be an object { host, port }, or left out"],
  [{ port: 99_999 }, "`port` must be a whole number from 0 to 65535"],
  [{ port: -1 }, "`port` must be a whole number from 0 to 65535"],
  [{ port: Number.NaN }, "`port` must be a whole number from 0 to 65535"],
  [{ port: "3000" }, "`port` must be a whole number from 0 to 65535"],
  [{ host: 1 }, "`host` must be a string"],
  [{ prot: 1 }, "unknown option `prot`; did you mean `port`?"],
  [{ maxQueued: 1 }, "unknown option `maxQueued`; it is an option of `Runtime.create`"],
])("listening at %o is refused", async (options, message) => {
  const listening = runtime.listen(options as ListenOptions);
  await expect(listening).rejects.toMatchObject({ name: "TenonError", code: "CONFIG" });
  await expect(listening).rejects.toThrow(message);
});

test("where to listen may be left out", async () => {
  for (const options of [undefined, {}, { host: undefined, port: undefined }]) {
    const { url, host, port } = await runtime.listen(options as ListenOptions);
    expect([url, host]).toEqual([`http://127.0.0.1:${port}`, "127.0.0.1"]);
  }
});

test("a file to reload is a path or a URL", async () => {
  await expect(runtime.reload("x", 5 as never)).rejects.toThrow(
    "`file` must be a path, a file: URL, or options such as { source: bytes }",
  );
  await expect(runtime.reload("x", new URL("http://host/x"))).rejects.toMatchObject({ code: "CONFIG" });
  await expect(runtime.reload("x", new URL("file:///none/x.wasm"))).rejects.toThrow(/\/none\/x\.wasm/);
});
