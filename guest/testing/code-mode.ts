/** An app with code mode in the engine, as a build makes it, and the same without one of its fences. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { moduleTools } from "@tenon/sdk/openapi";
import { build, type Plugin } from "esbuild";
import { programOptions, programText } from "../src/isolate/program-text.ts";
import { type Engine, startEngine } from "./engine.ts";

const guest = fileURLToPath(new URL("../src/", import.meta.url));
const sdk = fileURLToPath(new URL("../../ts-sdk/src/", import.meta.url));
const engine = new URL("../../crates/engine/engine.wasm", import.meta.url);

/** A change of a source that takes a fence out. */
export interface Removal {
  /** The end of the file's path. */
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/** Sources of the SDK, with changes. */
function sources(removals: readonly Removal[], used: Set<Removal>): Plugin {
  const entries: Readonly<Record<string, string>> = {
    "@tenon/sdk": "index.ts",
    "@tenon/sdk/abi": "abi.ts",
    "@tenon/sdk/code-mode": "mcp/code/index.ts",
    "@tenon/sdk/code-mode-program": "mcp/code/program.ts",
    "@tenon/sdk/web-idl": "web-idl/index.ts",
    "@tenon/sdk/kind-of": "kind-of.ts",
  };
  return {
    name: "sources",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^@tenon\/sdk/ }, ({ path }) => ({ path: `${sdk}${entries[path]}` }));
      onResolve({ filter: /^tenon-isolate:program$/ }, ({ path }) => ({ path, namespace: "program" }));
      onLoad({ filter: /./, namespace: "program" }, async () => ({
        contents: `export default ${JSON.stringify(await programOf(removals, used))};`,
      }));
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        const changed = removals.reduce((contents, removal) => {
          if (!path.endsWith(removal.file)) return contents;
          if (!contents.includes(removal.text)) throw new Error(`${path} has no ${removal.text}`);
          used.add(removal);
          return contents.replaceAll(removal.text, removal.instead);
        }, text);
        return { contents: changed, loader: "ts" };
      });
    },
  };
}

/** The program inside the isolate. */
async function programOf(removals: readonly Removal[], used: Set<Removal>): Promise<string> {
  const plugins = [sources(removals, used)];
  const { outputFiles } = await build({ ...programOptions, entryPoints: [`${guest}isolate/program.ts`], plugins });
  return programText(outputFiles);
}

/** A running app. */
export interface CodeModeApp {
  readonly engine: Engine;
  /** Calls a tool as a caller with these headers, and returns the JSON-RPC response and its status. */
  call(name: string, args: unknown, headers?: Readonly<Record<string, string>>): { status: number; body: Rpc };
  /** Asks a route. */
  get(path: string): unknown;
}

/** A response of JSON-RPC. */
export interface Rpc {
  readonly result?: { readonly structuredContent?: unknown; readonly content?: unknown; readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly message: string };
}

const texts = new Map<string, Promise<string>>();

/** Starts an app. @param file its module, below `guest/src` */
export async function startCodeMode(
  file: string,
  environment: Readonly<Record<string, string>> = {},
  removals: readonly Removal[] = [],
): Promise<CodeModeApp> {
  const key = JSON.stringify([file, removals]);
  const text = texts.get(key) ?? bundleApp(file, removals);
  texts.set(key, text);
  const started = startEngine(engine, await text, { environment, tick: 0.5 });
  const decode = (body: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(body) || "null");
  return {
    engine: started,
    call: (name, args, headers = {}) => {
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
      // A literal `__proto__` in JavaScript is no member.
      const body = new TextEncoder().encode(JSON.stringify(message).replaceAll("@proto@", "__proto__"));
      const all = Object.entries({ "content-type": "application/json", ...headers });
      const { status, body: answer } = started.handle({ method: "POST", path: "/mcp", headers: all, body });
      return { status, body: decode(answer) };
    },
    get: (path) => decode(started.handle({ method: "GET", path, headers: [] }).body),
  };
}

async function bundleApp(file: string, removals: readonly Removal[]): Promise<string> {
  const used = new Set<Removal>();
  const tools = moduleTools(`${guest}${file}`, { name: "app", version: "1.0.0" });
  const contents = `
import { getEnvironment } from "./platform/host.ts";
import "./platform/encoding/install-encoder.ts";
import "./platform/encoding/install-utf8.ts";
import "./platform/url/install.ts";
import { buildingKey, codeModeKey, environmentKey, toolsKey } from "@tenon/sdk/abi";
import { codeMode } from "@tenon/sdk/code-mode";
import "./isolate/install.ts";
import app from ${JSON.stringify(`./${file}`)};
globalThis[codeModeKey] = codeMode;
globalThis[environmentKey] = getEnvironment;
delete globalThis[buildingKey];
const tools = ${JSON.stringify(tools)};
globalThis[toolsKey] = () => tools;
export const handler = { handle: (request) => app.handle(request) };`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: guest, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: ["tenon:engine"],
    plugins: [sources(removals, used)],
  });
  for (const removal of removals) if (!used.has(removal)) throw new Error(`no file is ${removal.file}`);
  return outputFiles[0]?.text ?? "";
}
