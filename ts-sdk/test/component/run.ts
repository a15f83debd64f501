import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { transpile } from "@bytecodealliance/jco";
import { cli } from "@bytecodealliance/preview2-shim";
import type { RawRequest, RawResponse } from "../../src/index.ts";

/** The interface that a handler component exports. */
export interface HandlerComponent {
  handle(request: RawRequest): Promise<RawResponse> | RawResponse;
}

/** Runs a component in this process, through jco, with the given environment. */
export async function run(file: string, env: Readonly<Record<string, string>>): Promise<HandlerComponent> {
  (cli as unknown as { _setEnv(env: object): void })._setEnv(env);
  const folder = file.replace(/\.wasm$/, ".jco");
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}`;
    const { files } = await transpile(await readFile(file), { name: "component", nodejsCompat: true, tracing: false });
    for (const [name, content] of Object.entries(files as Record<string, Uint8Array>)) {
      const path = join(unfinished, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
    await rename(unfinished, folder);
  }
  const component = await import(/* @vite-ignore */ pathToFileURL(join(folder, "component.js")).href);
  return component.handler as HandlerComponent;
}
