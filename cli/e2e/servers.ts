import { type ChildProcess, spawn } from "node:child_process";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../testing/free-port.ts";
import { findProgram, type ProgramName } from "../../testing/programs.ts";
import { send } from "./http.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const tenon = join(root, "cli/bin/tenon.js");

/** A server that answers, and how to end it. */
export interface Running {
  /** The prefix of declared paths. */
  readonly base: string;
  readonly process: ChildProcess;
  /** All that has come of its standard error; lines may come later than the answer that they are about. */
  errors(): string;
  stop(): Promise<void>;
}

/** A server for the component of a project that was built with `-rc`, and its own limitations. */
export interface Kind {
  readonly name: string;
  /** It keeps only the last of repeated response headers, and only ASCII in values. */
  readonly losesHeaders?: boolean;
  /** Requests share an instance. */
  readonly sharesInstances?: boolean;
  /** Components see the environment of the server's process. */
  readonly leaksEnvironment?: boolean;
  /** It does not pass the client's address to components. */
  readonly hidesClient?: boolean;
  /** The engine's `random_get` traps, which OpenSSL asks when a public key is imported. */
  readonly lacksPublicKeys?: boolean;
  /** A body takes it time by the square of its size: 10 MiB take 20 s. */
  readonly copiesBodies?: boolean;
  readonly needs?: ProgramName;
  start(project: string, module: string): Promise<Running>;
}

/** All ways. */
export const kinds: readonly Kind[] = [
  {
    name: "tenon run, bare",
    start: (project, module) => startTenon([join(project, "dist", `${module}.wasm`)], module),
  },
  {
    name: "tenon run, composed",
    start: (project, module) => startTenon([join(project, "dist", `${module}-composed.wasm`)], module),
  },
  {
    name: "tenon run, made by componentize-js",
    lacksPublicKeys: true,
    start: (project, module) => startTenon([join(referenceOf(project), "dist", `${module}.wasm`)], module),
  },
  {
    // preview2-shim 0.26 makes an object of a response's headers, and decodes their values as UTF-8.
    name: "jco serve",
    losesHeaders: true,
    copiesBodies: true,
    sharesInstances: true,
    hidesClient: true,
    leaksEnvironment: true,
    start: (project, module) => startJco(join(project, "dist", `${module}-composed.wasm`)),
  },
  {
    name: "wasmtime serve",
    hidesClient: true,
    needs: "wasmtime",
    start: (project, module) => startWasmtime(join(project, "dist", `${module}-composed.wasm`)),
  },
];

/** Starts `tenon run` with the given arguments on a free port; the base is that of `module`. */
export async function startTenon(
  args: readonly string[],
  module: string,
  cwd: string = root,
  environment: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [tenon, "run", "--port", "0", "--json", ...args], { cwd, env });
  let output = "";
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (data) => {
      output += data;
      if (output.includes("\n")) resolve((JSON.parse(output) as { url: string }).url);
    });
    child.once("close", (code) => reject(new Error(`tenon run ended with ${code}`)));
  });
  const running = track(child);
  return { ...running, base: `${await withErrors(url, running.errors)}/run/${module}` };
}

/** Starts `wasmtime serve` on a free port, with variables that the component sees. */
export async function startWasmtime(
  component: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const port = await freePort();
  // A name alone takes its value from the server's environment.
  const variables = Object.keys(environment).flatMap((name) => ["--env", name]);
  const args = ["serve", "-S", "cli=y", "--addr", `127.0.0.1:${port}`, ...variables, component];
  const env = { ...process.env, ...environment };
  return started(spawn(findProgram("wasmtime") as string, args, { env }), `http://127.0.0.1:${port}`);
}

/** Starts `jco serve` on a free port, with variables that the component sees. */
export async function startJco(
  component: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const port = await freePort();
  const jco = join(root, "node_modules/.bin/jco");
  const env = { ...process.env, ...environment };
  // It serves from a child of its own, which a signal to it alone would leave behind.
  const child = spawn(jco, ["serve", "--port", String(port), component], { cwd: root, detached: true, env });
  const stop = () => process.kill(-(child.pid ?? 0), "SIGTERM");
  return started(child, `http://127.0.0.1:${port}`, stop);
}

async function started(child: ChildProcess, base: string, stop?: () => void): Promise<Running> {
  const running = track(child, stop);
  const gone = new Promise<never>((_, reject) =>
    child.once("close", (code) => reject(new Error(`it ended with ${code}`))),
  );
  await withErrors(Promise.race([gone, answers(base)]), running.errors);
  return { ...running, base };
}

/** Resolves when the server answers anything at all. */
async function answers(base: string): Promise<void> {
  for (;;) {
    try {
      await send(base, { path: "/" });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function track(child: ChildProcess, stop: () => void = () => child.kill("SIGTERM")): Omit<Running, "base"> {
  let errors = "";
  child.stderr?.on("data", (data) => {
    errors += data;
  });
  // Not "exit", because all output has to be read first.
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    process: child,
    errors: () => errors,
    stop: async () => {
      stop();
      await exited;
    },
  };
}

async function withErrors<T>(promise: Promise<T>, errors: () => string): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw new Error(`${(error as Error).message}; it said:\n${errors()}`);
  }
}

/** The projects that tests serve. */
export const echoProject = join(root, "cli/e2e/fixtures/echo");
export const helloProject = join(root, "examples/hello");
/** An app that speaks `fetch`. */
export const fetchProject = join(root, "cli/e2e/fixtures/fetch");
export const streamsProject = join(root, "cli/e2e/fixtures/streams");
/** An app of calls and timers. */
export const callsProject = join(root, "cli/e2e/fixtures/calls");
export const faultsProject = join(root, "cli/e2e/fixtures/faults");
/** An app with every feature that an OpenAPI document can show. */
export const everyProject = join(root, "ts-sdk/test/openapi/every");
/** The copy of a project that is built with `--reference`. */
export const referenceOf = (project: string): string => join(root, "cli/e2e/.tenon/reference", basename(project));
export const foreignComponent = join(root, "cli/e2e/fixtures/foreign/dist/foreign.wasm");
