// Other sandboxes, each with an instance of its own for an evaluation. One that cannot be loaded from the folder is undefined.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Returns a function that loads packages from a folder. */
export function loaderOf(folder) {
  const require = createRequire(`${resolve(folder)}/package.json`);
  return (name) => {
    try {
      return require(name);
    } catch {
      console.error(`${name} is left out: it cannot be loaded from ${folder}`);
      return undefined;
    }
  };
}

/** isolated-vm: an isolate for each evaluation. */
export function isolatedVm(load) {
  const ivm = load("isolated-vm");
  if (ivm === undefined) return undefined;
  return {
    evaluate: async (source) => {
      const isolate = new ivm.Isolate({ memoryLimit: 64 });
      const context = await isolate.createContext();
      await context.eval(source, { timeout: 1_000 });
      isolate.dispose();
    },
    /** Calls a function of the program one call after another. `called` is called in each. */
    calls: async (count, called) => {
      const isolate = new ivm.Isolate({ memoryLimit: 64 });
      const context = await isolate.createContext();
      const ping = async (x) => {
        called();
        return x;
      };
      await context.global.set("ping", new ivm.Reference(ping));
      const source = `(async () => { for (let i = 0; i < ${count}; i++) await ping.apply(undefined, [i], { result: { promise: true } }) })()`;
      await context.eval(source, { promise: true });
      isolate.dispose();
    },
    /** Makes isolates that wait, and returns a function that ends them. */
    wait: async (count) => {
      const all = [];
      for (let each = 0; each < count; each++) {
        const isolate = new ivm.Isolate({ memoryLimit: 64 });
        const context = await isolate.createContext();
        await context.eval("globalThis.p = new Promise(() => {}); 1");
        all.push(isolate);
      }
      return () => {
        for (const isolate of all) isolate.dispose();
      };
    },
  };
}

/** QuickJS in Emscripten: a runtime for each evaluation, in one memory for all of them. */
export async function quickjs(load) {
  const package_ = load("quickjs-emscripten");
  if (package_ === undefined) return undefined;
  const engine = await package_.getQuickJS();
  return {
    evaluate: (source) => engine.evalCode(source, { memoryLimitBytes: 64 << 20 }),
    calls: async (count, called) => {
      const runtime = engine.newRuntime();
      const context = runtime.newContext();
      const ping = context.newFunction("ping", (x) => {
        called();
        const promise = context.newPromise();
        const value = context.newNumber(context.getNumber(x));
        // The host answers in a later turn, as one that does anything has to.
        setImmediate(() => {
          promise.resolve(value);
          value.dispose();
          runtime.executePendingJobs();
        });
        return promise.handle;
      });
      context.setProp(context.global, "ping", ping);
      const source = `(async () => { for (let i = 0; i < ${count}; i++) await ping(i) })()`;
      await context.resolvePromise(context.unwrapResult(context.evalCode(source)));
    },
  };
}

const config = (port) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "main.js", esModule = embed "main.js")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "LOADER", workerLoader = ())],
);`;

const main = `let last = 0;
export default { async fetch(request, env) {
  const source = await request.text();
  const module = "export default { async fetch() { " + source + " } }";
  const worker = env.LOADER.get("w" + last++, () => ({
    compatibilityDate: "2026-01-01", mainModule: "m.js", modules: { "m.js": module }, globalOutbound: null,
  }));
  return worker.getEntrypoint().fetch("http://worker/");
} };`;

/** workerd: its dynamic loader makes an isolate for each evaluation, which is asked for over HTTP. */
export async function workerd(load) {
  const program = load("workerd")?.default;
  if (program === undefined) return undefined;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "tenon-workerd-"));
  writeFileSync(join(folder, "config.capnp"), config(port));
  writeFileSync(join(folder, "main.js"), main);
  const server = spawn(program, ["serve", "config.capnp", "--experimental"], { cwd: folder, stdio: "ignore" });
  // The last expression of the source is the answer.
  const evaluate = async (source) => {
    const at = source.lastIndexOf(";") + 1;
    const body = `${source.slice(0, at)} return Response.json(${source.slice(at)});`;
    const signal = AbortSignal.timeout(30_000);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, signal });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
  };
  for (let attempt = 0; ; attempt++) {
    try {
      await evaluate("1");
      break;
    } catch (error) {
      if (attempt > 100) throw error;
      await sleep(100);
    }
  }
  const close = () => {
    server.kill();
    rmSync(folder, { recursive: true });
  };
  return { evaluate, close };
}

function freePort() {
  return new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}
