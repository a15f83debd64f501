/**
 * `globalThis.process.getBuiltinModule`, by which packages find `AsyncLocalStorage` without an import that other bundlers
 * would refuse. `hono/jsx` keeps its contexts with it. The rest of `process` stays away from this global, because packages
 * take it for a sign of Node.
 */
import * as asyncHooks from "../node/async-hooks.ts";
import { isBuilding } from "../node/building.ts";
import { env } from "../node/process.ts";

/** The environment; empty at the top level, where packages that look for `process` by chance must not fail. */
const lenient = new Proxy(env, {
  get: (target, name) => (isBuilding() ? undefined : Reflect.get(target, name)),
  has: (target, name) => !isBuilding() && Reflect.has(target, name),
  ownKeys: (target) => (isBuilding() ? [] : Reflect.ownKeys(target)),
});

const getBuiltinModule = (name: string) => (/^(?:node:)?async_hooks$/.test(name) ? asyncHooks : undefined);

Object.defineProperty(globalThis, "process", {
  value: { env: lenient, getBuiltinModule },
  configurable: true,
  writable: true,
});
