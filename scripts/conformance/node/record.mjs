// Runs one of Node's tests with stand-ins for `http`, `net` and its assertions, and prints its clients' bytes as JSON:
// one latin1 string for each connection. It is a separate process, because a test may do anything.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { compileFunction } from "node:vm";

/** Milliseconds in which a test sends everything that does not wait for an answer. */
const TIMEOUT = 100;

const file = process.argv[2];
const sent = [];
const ignored = new Set(["fs", "path", "url", "util", "events", "stream", "stream/promises", "os", "timers", "buffer"]);

/** A value that can be called, constructed or read. */
const nothing = new Proxy(function nothing() {}, {
  get: (_, name) => (name === "then" || name === Symbol.toPrimitive ? undefined : nothing),
  apply: () => nothing,
  construct: () => nothing,
});

const common = new Proxy(
  {
    mustCall: (callback) => (typeof callback === "function" ? callback : () => {}),
    mustCallAtLeast: (callback) => callback ?? (() => {}),
    mustNotCall: () => () => {},
    mustSucceed: (callback) => callback ?? (() => {}),
    platformTimeout: (ms) => ms,
    PORT: 1,
    hasCrypto: false,
  },
  { get: (known, name) => known[name] ?? nothing },
);

class Server extends EventEmitter {
  listen(...args) {
    setImmediate(() => {
      args.find((arg) => typeof arg === "function")?.call(this);
      this.emit("listening");
    });
    return this;
  }

  address() {
    return { port: 1, address: "127.0.0.1" };
  }
}
for (const name of ["close", "setTimeout", "unref", "ref", "closeAllConnections"]) Server.prototype[name] = () => {};

class Socket extends EventEmitter {
  constructor() {
    super();
    this.pieces = [];
    sent.push(this.pieces);
  }

  write(data, encoding) {
    const known = typeof encoding === "string" ? encoding : "utf8";
    this.pieces.push(typeof data === "string" ? Buffer.from(data, known) : Buffer.from(data));
    return true;
  }

  end(data, encoding) {
    if (data !== undefined && typeof data !== "function") this.write(data, encoding);
  }

  connect(...args) {
    setImmediate(() => {
      args.find((arg) => typeof arg === "function")?.call(this);
      this.emit("connect");
      this.emit("ready");
    });
    return this;
  }
}
for (const name of ["setEncoding", "resume", "pause", "destroy", "setTimeout", "setNoDelay", "unref", "pipe"]) {
  Socket.prototype[name] = function chain() {
    return this;
  };
}

const connect = (...args) => new Socket().connect(...args);
const createServer = () => new Server();
const stands = {
  http: { ...http, createServer, Server: createServer, request: () => nothing, get: () => nothing },
  net: { connect, createConnection: connect, Socket, createServer },
  assert: nothing,
  "../common": common,
};
const real = createRequire(import.meta.url);
const load = (name) => {
  const plain = name.replace(/^node:/, "");
  return stands[plain] ?? (ignored.has(plain) ? real(plain) : nothing);
};
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
const quiet = { log() {}, error() {}, warn() {} };
try {
  const names = ["require", "module", "exports", "console", "setTimeout", "setInterval", "process"];
  const test = compileFunction(readFileSync(file, "utf8"), names);
  const own = {
    on() {},
    once() {},
    nextTick: process.nextTick,
    argv: [],
    env: {},
    execArgv: [],
    version: process.version,
  };
  test(
    load,
    { exports: {} },
    {},
    quiet,
    () => nothing,
    () => nothing,
    own,
  );
  await delay(TIMEOUT);
} catch {
  // Bytes sent before a failure count.
}
process.stdout.write(JSON.stringify(sent.map((pieces) => Buffer.concat(pieces).toString("latin1"))), () =>
  process.exit(0),
);
