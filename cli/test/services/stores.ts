/** The stores behind sidecars, real ones, each started for the tests in a folder of its own and gone at the end. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../testing/free-port.ts";
import { findProgram } from "../../../testing/programs.ts";
import { postgresProgram } from "../../../ts-sdk/test/sql/postgres.ts";

/** A store that runs. */
export interface Store {
  readonly url: string;
  stop(): Promise<void>;
}

/** A temporary folder. */
export function folder(): string {
  return mkdtempSync(join(tmpdir(), "tenon-services-"));
}

/** A PostgreSQL that runs. */
export interface PostgresStore extends Store {
  /**
   * Kills all of its processes at once, as a crash does, and restarts it, after `meanwhile` has changed its data
   * folder.
   */
  readonly crash: (meanwhile?: (folders: { readonly data: string }) => void) => void;
}

/** PostgreSQL, on a socket in a temporary folder. */
export async function startPostgres(): Promise<PostgresStore> {
  const directory = folder();
  // The server refuses to run as root; as root (in a container) it runs as the package's own user.
  const asRoot = userInfo().uid === 0;
  if (asRoot) chownSync(directory, Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })), -1);
  const run = (program: string, ...args: string[]) => {
    const command = [postgresProgram(program), ...args];
    const [file = "", ...rest] = asRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
    execFileSync(file, rest, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  };
  const data = join(directory, "data");
  run("initdb", "-D", data, "--username=tenon", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync");
  const settings = `-c listen_addresses='' -c fsync=off -k ${directory}`;
  const start = () => run("pg_ctl", "-D", data, "-l", join(directory, "log"), "-w", "-o", settings, "start");
  start();
  return {
    crash: (meanwhile) => {
      run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
      meanwhile?.({ data });
      start();
    },
    url: `postgres://tenon@localhost/postgres?host=${directory}`,
    stop: async () => {
      run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A Redis that runs with TLS. */
export interface RedisTlsStore extends Store {
  /** The file of its certificate. */
  readonly certificate: string;
}

/** Redis with TLS, on a port of this machine, with a certificate of its own. */
export async function startRedisTls(): Promise<RedisTlsStore> {
  const directory = folder();
  const [key, certificate] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const extensions = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"];
  const files = ["-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", "-x509", ...curve, ...extensions, ...files, "-days", "2", "-subj", "/CN=redis"], {
    stdio: "ignore",
  });
  const port = String(await freePort());
  const { stop } = await runRedis(directory, [
    ...["--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key],
    ...["--tls-ca-cert-file", certificate, "--tls-auth-clients", "no"],
  ]);
  return { url: `rediss://127.0.0.1:${port}`, certificate, stop };
}

/** Redis, on a socket in a temporary folder. */
export function startRedis(): Promise<RedisStore> {
  return runRedis(folder(), []);
}

/** The answer of a Redis to a command in one line, as its protocol has it. */
export function redisCommand(socket: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket, () => connection.write(`${command}\r\n`));
    connection.once("error", reject);
    connection.once("data", (data) => {
      connection.destroy();
      resolve(data.toString().trim());
    });
  });
}

/** A Redis that runs. */
export interface RedisStore extends Store {
  /** Its Unix socket. */
  readonly socket: string;
  /** Ends it at once, as a crash does. */
  crash(): Promise<void>;
}

/** Runs Redis on a socket in a folder, which is gone when it is stopped. */
export async function runRedis(directory: string, more: readonly string[]): Promise<RedisStore> {
  const socket = join(directory, "redis.sock");
  const server = spawn(
    findProgram("redis-server") as string,
    ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", directory, ...more],
    {
      stdio: "ignore",
    },
  );
  const failed = new Promise<never>((_, reject) => {
    server.once("error", reject).once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
  });
  await Promise.race([failed, answers(socket)]);
  return {
    url: `unix://${socket}`,
    socket,
    crash: () => ended(server, "SIGKILL"),
    stop: async () => {
      await ended(server);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Resolves when something listens on a socket. */
async function answers(socket: string): Promise<void> {
  for (;;) {
    const there = await new Promise<boolean>((resolve) => {
      if (!existsSync(socket)) return resolve(false);
      const connection = connect(socket, () => {
        connection.destroy();
        resolve(true);
      });
      connection.once("error", () => resolve(false));
    });
    if (there) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await exited;
}
