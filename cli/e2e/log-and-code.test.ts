/**
 * A runtime's inputs other than files: a function for the log, components in memory, and code compiled ahead of time.
 */
import { execFileSync } from "node:child_process";
import { chmod, copyFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LogRecord } from "../src/embed/log.ts";
import { Runtime } from "../src/embed/runtime.ts";
import { faultsProject, helloProject, tenon } from "./servers.ts";

const hello = join(helloProject, "dist/hello.wasm");
const faults = join(faultsProject, "dist/faults.wasm");
const get = (path: string) => new Request(`http://tenon.test${path}`, { headers: { "x-request-id": "mine" } });

let folder: string;
let compiled: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-code-"));
  compiled = join(folder, "hello.cwasm");
  command("compile", hello, "-o", compiled, "--target-cpu", oldest);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const oldest = process.arch === "arm64" ? "armv8-a" : "x86-64";

function command(...args: string[]): string {
  return execFileSync(process.execPath, [tenon, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TENON_CACHE_DIR: join(folder, "empty") },
  });
}

function failureOf(...args: string[]): string {
  try {
    command(...args);
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
  throw new Error("it succeeded");
}

test("onLog gets what modules write and each request, with the request's id", async () => {
  const records: LogRecord[] = [];
  const began = Date.now();
  const runtime = await Runtime.create({
    modules: [faults],
    maxConcurrent: 4,
    logLevel: "info",
    accessLog: true,
    onLog: (record) => records.push(record),
  });
  expect((await runtime.fetch(get("/run/faults/log/2"))).status).toBe(200);
  await runtime.close();
  const own = records.filter(({ requestId }) => requestId === "mine");
  const line = (text: string) => ({
    time: expect.any(Number),
    level: "info",
    target: "module",
    message: text.padEnd(99, "."),
    module: "faults",
    requestId: "mine",
    fields: {},
  });
  expect(own).toEqual([
    line("0"),
    line("1"),
    {
      ...line(""),
      target: "access",
      message: "request",
      fields: { method: "GET", path: "/run/faults/log/2", status: 200, duration_ms: expect.any(Number) },
    },
  ]);
  for (const { time } of own) expect(time).toBeGreaterThanOrEqual(began);
});

test("a program that is busy loses records and is told how many; nothing waits for it", async () => {
  const records: LogRecord[] = [];
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => thrown.push(error);
  process.prependListener("uncaughtException", onThrown);
  const others = process.listeners("uncaughtException").filter((listener) => listener !== onThrown);
  for (const other of others) process.removeListener("uncaughtException", other as () => void);
  try {
    const runtime = await Runtime.create({
      modules: [faults],
      maxConcurrent: 4,
      logLevel: "info",
      onLog: (record) => {
        records.push(record);
        if (records.length === 1) throw new Error("of the function");
      },
    });
    const { url } = await runtime.listen();
    const asked = `const answer = await fetch(${JSON.stringify(`${url}/run/faults/log/2500`)}); await answer.text();`;
    // Node's thread does nothing else meanwhile.
    execFileSync(process.execPath, ["--input-type=module", "-e", asked], { timeout: 60_000 });
    expect(records).toHaveLength(0);
    await runtime.close();
    const { length } = records;
    expect(length).toBe(2_001);
    expect(records.at(-1)).toMatchObject({ level: "warn", target: "log", fields: { dropped: 500 } });
    await expect.poll(() => thrown).toEqual([new Error("of the function")]);
  } finally {
    process.removeListener("uncaughtException", onThrown);
    for (const other of others) process.on("uncaughtException", other as () => void);
  }
});

test("a level bounds what onLog gets, and it is closed with its runtime", async () => {
  const [quiet, after]: [LogRecord[], LogRecord[]] = [[], []];
  const runtime = await Runtime.create({ modules: [faults], maxConcurrent: 4, onLog: (record) => quiet.push(record) });
  await runtime.fetch(get("/run/faults/log/2"));
  expect(quiet).toEqual([]);
  await runtime.close();
  const other = await Runtime.create({
    modules: [faults],
    maxConcurrent: 4,
    logLevel: "debug",
    onLog: (record) => after.push(record),
  });
  await other.fetch(get("/run/faults/log/1"));
  await expect.poll(() => after.filter(({ target }) => target === "module").length).toBe(1);
  await other.close();
  expect(quiet).toEqual([]);
});

test("modules are served from bytes, alone and with options, and are reloaded so", async () => {
  const bytes = new Uint8Array(await readFile(hello));
  const runtime = await Runtime.create({
    modules: { a: bytes, b: { source: bytes, mount: "/b" } },
    maxConcurrent: 4,
    logLevel: "off",
  });
  bytes.fill(0);
  for (const path of ["/run/a/hello/Ada", "/run/b/hello/Ada", "/b/hello/Ada"])
    expect(await (await runtime.fetch(get(path))).json()).toEqual({ greeting: "Hello, Ada!" });
  await runtime.reload("a");
  await runtime.reload("c", { source: await readFile(hello) });
  expect((await runtime.fetch(get("/run/c/hello/Ada"))).status).toBe(200);
  await expect(runtime.reload("a", { source: new Uint8Array([0, 97, 115, 109]) })).rejects.toMatchObject({
    code: "MODULE_COMPILE",
    message: expect.stringContaining("module a: the given data is not a component"),
  });
  await expect(runtime.reload("a", { source: Buffer.from("(component)") })).rejects.toThrow("it is not WebAssembly");
  expect((await runtime.fetch(get("/run/a/hello/Ada"))).status).toBe(200);
  await runtime.close();
  await expect(Runtime.create({ modules: [bytes as never] })).rejects.toThrow(
    "`modules[0]` has no name: give bytes as `modules: { name: bytes }`",
  );
});

test("compiled code is served where the operator vouches for it, and needs no cache", async () => {
  await expect(Runtime.create({ modules: [compiled], logLevel: "off" })).rejects.toMatchObject({
    code: "MODULE_COMPILE",
    message: expect.stringMatching(/it is machine code, which no sandbox bounds.*trust_compiled \(--trust-compiled\)$/),
  });
  const options = { modules: [compiled], trustCompiled: true, cacheFolder: false, logLevel: "off" } as const;
  const runtime = await Runtime.create(options);
  for (let i = 0; i < 3; i++)
    expect(await (await runtime.fetch(get("/run/hello/hello/Ada"))).json()).toEqual({ greeting: "Hello, Ada!" });
  await runtime.reload("hello");
  await runtime.close();
});

test("compiled code that is damaged or foreign is refused with what to do", async () => {
  const content = await readFile(compiled);
  content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
  const wrong = join(folder, "wrong.cwasm");
  const refused = () => Runtime.create({ modules: [wrong], trustCompiled: true, logLevel: "off" });
  await writeFile(wrong, content);
  await expect(refused()).rejects.toThrow("it is damaged");
  await copyFile(hello, wrong);
  await expect(refused()).rejects.toThrow("it is not a file that `tenon compile` wrote");
});

test("tenon compile says what it cannot do", async () => {
  expect(failureOf("compile", hello, "--target-cpu", "i386")).toMatch(
    /`i386` is not a known processor.*known are native, /,
  );
  expect(failureOf("compile", hello, "-o", join(folder, "a.wasm"))).toContain(
    "the name of compiled code must end in .cwasm",
  );
  expect(failureOf("compile", join(folder, "none.wasm"))).toContain("there is no such file");
  const text = join(folder, "text.wasm");
  await writeFile(text, "no component");
  expect(failureOf("compile", text)).toContain("error: ");
  if (process.getuid?.() !== 0) {
    await chmod(folder, 0o500);
    expect(failureOf("compile", hello, "-o", join(folder, "b.cwasm"))).toContain("permission denied");
    await chmod(folder, 0o700);
  }
  expect((await stat(compiled)).size).toBeGreaterThan(1_000_000);
});
