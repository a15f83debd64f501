/**
 * `process` inside a component. `env` has the SDK's `env()` values, and at top level those of `[env]` in `tenon.toml` that the build put
 * in. `versions` has no `node`, because packages test it to detect Node.
 */
import { env as find } from "@tenon/sdk";
import { environmentKey } from "@tenon/sdk/abi";
import { isBuilding } from "./building.ts";

/** `NODE_ENV`, and the variables that the top level reads, as JSON text; the build defines it. */
declare const TENON_ENVIRONMENT: string;

type Listener = (...args: unknown[]) => void;

const ofBuild: Readonly<Record<string, string>> = JSON.parse(
  typeof TENON_ENVIRONMENT === "string" ? TENON_ENVIRONMENT : "{}",
);
const told = new Set<string>();

/** Reads a variable at top level. The build looks for these lines: it adds the variables of `[env]` that they name. */
function readWhileBuilding(name: string): string | undefined {
  if (!told.has(name) && name !== "NODE_ENV") {
    told.add(name);
    console.log(`tenon-environment ${JSON.stringify(name)} ${String(new Error().stack).replaceAll("\n", " ")}`);
  }
  return Object.hasOwn(ofBuild, name) ? ofBuild[name] : undefined;
}

function read(name: string): string | undefined {
  if (isBuilding()) return readWhileBuilding(name);
  return find(name) ?? (name === "NODE_ENV" ? ofBuild["NODE_ENV"] : undefined);
}

function names(): string[] {
  if (isBuilding()) {
    // All of them: `{ ...process.env }` depends on every one.
    readWhileBuilding("*");
    return Object.keys(ofBuild);
  }
  const { [environmentKey]: entries } = globalThis as unknown as {
    [environmentKey]: undefined | (() => Iterable<readonly [name: string, value: string]>);
  };
  // The SDK decides which of them a handler may see.
  return [...(entries?.() ?? [])].map(([name]) => name).filter((name) => find(name) !== undefined);
}

/** Values that a handler assigned, which last as long as the instance's other state. */
const assigned: Record<string, string> = Object.create(null);

export const env: Record<string, string | undefined> = new Proxy(assigned, {
  get(_, name) {
    if (typeof name === "symbol") return undefined;
    return name in assigned ? assigned[name] : read(name);
  },
  has: (_, name) => typeof name === "string" && env[name] !== undefined,
  set(_, name, value) {
    assigned[String(name)] = String(value);
    return true;
  },
  deleteProperty(_, name) {
    delete assigned[String(name)];
    return true;
  },
  ownKeys: () => [...new Set([...names(), ...Object.keys(assigned)])],
  getOwnPropertyDescriptor(_, name) {
    const value = typeof name === "string" ? env[name] : undefined;
    return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
  },
});

export const version = "v20.19.0";
export const versions: Record<string, string> = {};
export const argv: string[] = [];
export const argv0 = "";
export const execArgv: string[] = [];
export const platform_ = "linux";
export const arch = "wasm32";
export const pid = 1;
export const title = "tenon";
export const browser = true;
export const features = {};
export const config = {};
export const release = {};

export const cwd = (): string => "/";
export const umask = (): number => 0o22;
export const uptime = (): number => performance.now() / 1000;

/** Runs a callback before everything that waits for a timer or I/O, like `queueMicrotask`. */
export function nextTick(callback: Listener, ...args: unknown[]): void {
  queueMicrotask(() => callback(...args));
}

/** Returns a time from some starting point, as seconds and nanoseconds. */
export function hrtime(since?: readonly [number, number]): [number, number] {
  const now = performance.now();
  const seconds = Math.floor(now / 1000);
  const nanoseconds = Math.floor((now % 1000) * 1e6);
  if (since === undefined) return [seconds, nanoseconds];
  const less = nanoseconds < since[1] ? 1 : 0;
  return [seconds - since[0] - less, nanoseconds - since[1] + less * 1e9];
}
hrtime.bigint = (): bigint => BigInt(Math.floor(performance.now() * 1e6));

/** Prints a warning in Node's form. */
export function emitWarning(warning: string | Error, type?: string | { type?: string }): void {
  const name = typeof type === "string" ? type : (type?.type ?? "Warning");
  console.warn(warning instanceof Error ? `${warning.name}: ${warning.message}` : `${name}: ${warning}`);
}

/** Ignores the listener, because a component does not end and gets no signals. */
export const on = (_event: string, _listener: Listener) => process;

/** A component cannot end itself. */
export function exit(): never {
  throw new Error("process.exit() does not exist in a component: return an answer instead");
}

const output = (print: (text: string) => void) => ({
  isTTY: false,
  fd: 1,
  writable: true,
  write(text: unknown): boolean {
    print(String(text).replace(/\n$/, ""));
    return true;
  },
  on: () => undefined,
  once: () => undefined,
  end: () => undefined,
});
export const stdout = output((text) => console.log(text));
export const stderr = output((text) => console.error(text));

const process = {
  env,
  version,
  versions,
  argv,
  argv0,
  execArgv,
  platform: platform_,
  arch,
  pid,
  title,
  browser,
  features,
  config,
  release,
  cwd,
  umask,
  uptime,
  nextTick,
  hrtime,
  emitWarning,
  on,
  once: on,
  off: on,
  addListener: on,
  removeListener: on,
  removeAllListeners: on,
  prependListener: on,
  listeners: () => [],
  listenerCount: () => 0,
  emit: () => false,
  exit,
  stdout,
  stderr,
};

export { platform_ as platform };
export default process;
