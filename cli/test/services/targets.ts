/** All that keeps to the contract: the development services, and sidecars over each store and each transport. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { ProgramName } from "../../../testing/programs.ts";
import { Services } from "../../src/embed/services.ts";
import { Sidecar, type SidecarOptions } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { startCluster, startSentinel } from "./redis-stores.ts";
import { folder, type Store, startPostgres, startRedis } from "./stores.ts";

/** Something to ask, and how to end it. */
export interface Started {
  readonly ask: Ask;
  readonly address: string;
  stop(): Promise<void>;
}

/** A way to have a service. */
export interface Target {
  readonly name: string;
  /** The SQL dialect for making tables. */
  readonly dialect?: "sqlite" | "postgres";
  /** The programs of its store. */
  readonly needs?: ProgramName;
  start(): Promise<Started>;
}

/** Starts a target before the tests of a suite, and stops it after them. The result can be used from then on. */
export function startForTests(target: Target): Omit<Started, "stop"> {
  let started: Started;
  beforeAll(async () => {
    started = await target.start();
  });
  afterAll(() => started.stop());
  return {
    ask: (...args) => started.ask(...args),
    get address() {
      return started.address;
    },
  };
}

/** The development services. */
export const development: Target = {
  name: "development services, TCP",
  dialect: "sqlite",
  start: async () => {
    const directory = folder();
    const services = await Services.start({ folder: directory });
    return {
      ask: askAt(services.url),
      address: services.url,
      stop: async () => {
        await services.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  },
};

/** The stores that are programs of their own. */
const stores: Readonly<Record<string, ProgramName>> = {
  PostgreSQL: "postgresql",
  Redis: "redis-server",
  "Redis Sentinel": "redis-server",
  "Redis Cluster": "redis-server",
};

/** A sidecar over a store, listening on TCP or on a Unix socket. */
export function sidecar(
  kind: SidecarOptions["kind"],
  storeName: string,
  transport: "TCP" | "Unix",
  start: (directory: string) => Promise<Store | string>,
  options: Partial<SidecarOptions> = {},
): Target {
  return {
    name: `sidecar on ${storeName}, ${transport}`,
    dialect: storeName === "PostgreSQL" ? "postgres" : "sqlite",
    ...(storeName in stores ? { needs: stores[storeName] as ProgramName } : {}),
    start: async () => {
      const directory = folder();
      const store = await start(directory);
      const listen = transport === "TCP" ? "127.0.0.1:0" : `unix://${join(directory, "service.sock")}`;
      const url = typeof store === "string" ? store : store.url;
      const running = await Sidecar.start({ kind, url, listen, logLevel: "off", ...options });
      return {
        ask: askAt(running.address),
        address: running.address,
        stop: async () => {
          await running.close();
          if (typeof store !== "string") await store.stop();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  };
}

export const sqliteFile = async (directory: string) => `sqlite:${join(directory, "store.db")}`;
const objects = async (directory: string) => `file:${join(directory, "objects")}`;

export const kvTargets: readonly Target[] = [
  development,
  sidecar("kv", "Redis", "TCP", startRedis),
  sidecar("kv", "Redis", "Unix", startRedis),
  sidecar("kv", "Redis Sentinel", "TCP", startSentinel),
  sidecar("kv", "Redis Cluster", "TCP", startCluster),
];

export const queueTargets: readonly Target[] = [
  development,
  sidecar("queue", "SQLite", "Unix", sqliteFile),
  sidecar("queue", "PostgreSQL", "TCP", startPostgres),
  sidecar("queue", "Redis", "TCP", startRedis),
  sidecar("queue", "Redis Sentinel", "Unix", startSentinel),
  sidecar("queue", "Redis Cluster", "TCP", startCluster),
];

/** A trigger of the development services waits for the end of the run; these leave it to consumers. */
export const cronTargets: readonly Target[] = [
  sidecar("cron", "SQLite", "Unix", sqliteFile),
  sidecar("cron", "PostgreSQL", "TCP", startPostgres),
];

export const sqlTargets: readonly Target[] = [
  development,
  sidecar("sql", "SQLite", "Unix", sqliteFile),
  sidecar("sql", "PostgreSQL", "TCP", startPostgres),
  sidecar("sql", "PostgreSQL", "Unix", startPostgres),
];

export const storageTargets: readonly Target[] = [
  development,
  sidecar("storage", "a folder", "TCP", objects),
  sidecar("storage", "a folder", "Unix", objects),
];
