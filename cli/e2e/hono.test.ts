/** Apps of Hono's documentation, unchanged, on the servers that people use; server-sent events in curl and in a browser. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach, describeWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { develop, developing, project, served } from "./develop.ts";
import { type Kind, startTenon, startWasmtime, tenon } from "./servers.ts";

developing();

/** "Getting started" and "Streaming Helper" of Hono's documentation, in one file. */
const handler = `
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

const app = new Hono();

app.get("/", (c) => c.text("Hello Hono!"));

let id = 0;

app.get("/sse", async (c) => {
  return streamSSE(c, async (stream) => {
    while (true) {
      const message = \`It is \${new Date().toISOString()}\`;
      await stream.writeSSE({
        data: message,
        event: "time-update",
        id: String(id++),
      });
      await stream.sleep(1000);
    }
  });
});

// Goes on where the client has stopped, and ends after three events.
app.get("/again", (c) => {
  const last = Number(c.req.header("last-event-id") ?? "-1");
  return streamSSE(c, async (stream) => {
    for (let next = last + 1; next <= last + 3; next++) {
      await stream.writeSSE({ data: \`event \${next}\`, id: String(next), retry: 50 });
      await stream.sleep(10);
    }
  });
});

export default app;
`;

interface Serving {
  readonly base: string;
  stop(): Promise<void> | void;
}

let at: string;
beforeAll(async () => {
  at = await project("hono", handler, "[composition]\nhttp_handler = true\n");
  const build = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: at, encoding: "utf8" });
  expect(build.status, build.stderr).toBe(0);
});

const servers: readonly (Pick<Kind, "name" | "needs"> & { start(): Promise<Serving> })[] = [
  {
    name: "tenon dev",
    start: async () => {
      const terminal = develop(await project("dev", handler), "--port 0");
      const { base } = await served(terminal, "dev");
      return { base, stop: () => terminal.kill() };
    },
  },
  { name: "tenon run", start: () => startTenon([join(at, "dist/hono.wasm")], "hono", at) },
  { name: "wasmtime serve", needs: "wasmtime", start: () => startWasmtime(join(at, "dist/hono-composed.wasm")) },
];

describeEach("a Hono app of the documentation on $name", servers, ({ start }) => {
  test("it answers, and curl -N sees its events one by one", async () => {
    const server = await start();
    try {
      expect(await (await fetch(`${server.base}/`)).text()).toBe("Hello Hono!");
      const curl = spawn("curl", ["-sN", `${server.base}/sse`]);
      const seen: string[] = [];
      let began = 0;
      for await (const piece of curl.stdout.setEncoding("utf8")) {
        began ||= Date.now();
        seen.push(piece as string);
        if (seen.join("").split("\n\n").length > 3) break;
      }
      curl.kill();
      expect(seen.join("")).toMatch(
        /^event: time-update\ndata: It is \d{4}-\S+Z\nid: 0\n\nevent: time-update\ndata: It is \S+\nid: 1\n\nevent: /,
      );
      // The first one came before the last one was written, two seconds after it.
      const last = [...seen.join("").matchAll(/It is (\S+Z)/g)].at(-1)?.[1] ?? "";
      expect(Date.parse(last)).toBeGreaterThan(began);
    } finally {
      await server.stop();
    }
  });
});

describeWith("chromium", "a browser's EventSource", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: findProgram("chromium") as string, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  test("gets events, and goes on after the last one when it connects again", async () => {
    const server = await startTenon([join(at, "dist/hono.wasm")], "hono", at);
    try {
      const page = await browser.newPage();
      await page.goto(`${server.base}/`);
      const collect = (path: string, type: string, count: number) =>
        page.evaluate(
          ([url, name, wanted]) =>
            new Promise<[ids: string[], data: string[], opened: number]>((resolve) => {
              const source = new EventSource(url);
              const [ids, data]: [string[], string[]] = [[], []];
              let opened = 0;
              source.addEventListener("open", () => opened++);
              source.addEventListener(name, (event) => {
                const message = event as MessageEvent;
                ids.push(message.lastEventId);
                data.push(message.data as string);
                if (ids.length < wanted) return;
                source.close();
                resolve([ids, data, opened]);
              });
            }),
          [`${server.base}${path}`, type, count] as const,
        );
      const [ids, data] = await collect("/sse", "time-update", 2);
      expect([ids, data[0]]).toEqual([["0", "1"], expect.stringMatching(/^It is \d{4}-/)]);
      const again = await collect("/again", "message", 8);
      expect(again[0]).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
      expect(again[1][7]).toBe("event 7");
      expect(again[2]).toBe(3);
    } finally {
      await server.stop();
    }
  });

  test("connects again when the server has gone and come back", async () => {
    const first = await startTenon([join(at, "dist/hono.wasm")], "hono", at);
    const port = new URL(first.base).port;
    const page = await browser.newPage();
    await page.goto(`${first.base}/`);
    const events: string[] = [];
    let isLost = false;
    await page.exposeFunction("seen", (id: string) => void events.push(id));
    await page.exposeFunction("lost", () => {
      isLost = true;
    });
    await page.evaluate((url) => {
      const source = new EventSource(url);
      const { seen, lost } = globalThis as unknown as { seen(id: string): void; lost(): void };
      source.addEventListener("message", (event) => seen(event.lastEventId));
      source.addEventListener("error", () => lost());
    }, `${first.base}/again`);
    await expect.poll(() => events.length).toBeGreaterThan(2);
    first.process.kill("SIGKILL");
    await once(first.process, "exit");
    await expect.poll(() => isLost).toBe(true);
    const before = events.length;
    const second = await startTenon(["--port", port, join(at, "dist/hono.wasm")], "hono", at);
    try {
      await expect.poll(() => events.length).toBeGreaterThan(before + 3);
      expect(events).toEqual(events.map((_, index) => String(index)));
    } finally {
      await page.close();
      await second.stop();
    }
  });
});
