/** Redis behind sentinels, and Redis as a cluster: real ones, each with its servers in folders of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "../../../testing/free-port.ts";
import { findProgram } from "../../../testing/programs.ts";
import { folder, type RedisStore, redisCommand, runRedis, type Store } from "./stores.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await pause(20);
}

/** A master and its replica, and a sentinel that makes the replica the master when the master is gone. */
export interface SentinelStore extends Store {
  readonly master: RedisStore;
  readonly replica: RedisStore;
}

/** Starts them. The URL names first a sentinel that does not answer. */
export async function startSentinel(): Promise<SentinelStore> {
  const port = await freePort();
  const master = await runRedis(folder(), ["--port", String(port)]);
  const replicaPort = String(await freePort());
  const replica = await runRedis(folder(), ["--port", replicaPort, "--replicaof", "127.0.0.1", String(port)]);
  await until(async () => (await redisCommand(replica.socket, "INFO replication")).includes("master_link_status:up"));
  const directory = folder();
  const [sentinelPort, nobody] = [await freePort(), await freePort()];
  const file = join(directory, "sentinel.conf");
  const settings = [
    `port ${sentinelPort}`,
    `dir ${directory}`,
    `sentinel monitor mymaster 127.0.0.1 ${port} 1`,
    // On a busy machine a master that is up may not answer for a part of a second, and must stay the master.
    "sentinel down-after-milliseconds mymaster 2000",
    "sentinel failover-timeout mymaster 2000",
  ];
  writeFileSync(file, `${settings.join("\n")}\n`);
  const sentinel = spawn(findProgram("redis-server") as string, [file, "--sentinel"], { stdio: "ignore" });
  // It has found the replica when it can promote it.
  await until(async () => /slaves=1/.test(await line(sentinelPort, "INFO sentinel")));
  return {
    url: `redis+sentinel://127.0.0.1:${nobody},127.0.0.1:${sentinelPort}/mymaster/0`,
    master,
    replica,
    stop: async () => {
      const exited = once(sentinel, "exit");
      sentinel.kill("SIGKILL");
      await exited;
      await Promise.all([master.stop(), replica.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The answer at a port to a command in one line. */
function line(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = connect(port, "127.0.0.1", () => connection.write(`${command}\r\n`));
    connection.once("error", reject);
    connection.once("data", (data) => {
      connection.destroy();
      resolve(data.toString());
    });
  });
}

/** A master of a cluster. */
interface Node extends RedisStore {
  readonly port: number;
  readonly id: string;
}

/** A cluster of three masters. */
export interface ClusterStore extends Store {
  readonly nodes: readonly Node[];
  /** The master that has a slot. */
  ownerOf(slot: number): Node;
  /** Moves a slot to another master, with its entries. */
  move(slot: number, to: Node, halfway?: () => Promise<void>): Promise<void>;
}

const SLOTS = 16_384;

/** Starts a cluster; the URL names two of its nodes. */
export async function startCluster(): Promise<ClusterStore> {
  const nodes = await Promise.all([startNode(), startNode(), startNode()]);
  const owners: Node[] = Array.from({ length: SLOTS }, (_, slot) => nodes[Math.floor((slot * 3) / SLOTS)] as Node);
  for (const [n, node] of nodes.entries()) {
    const [first, last] = [owners.indexOf(node), owners.lastIndexOf(node)];
    await command(node, `CLUSTER ADDSLOTSRANGE ${first} ${last}`);
    await command(node, `CLUSTER SET-CONFIG-EPOCH ${n + 1}`);
  }
  const [one] = nodes;
  for (const node of nodes.slice(1)) await command(node, `CLUSTER MEET 127.0.0.1 ${one.port} ${one.bus}`);
  const isWhole = async (node: Node) => {
    const info = await command(node, "CLUSTER INFO");
    return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3");
  };
  for (const node of nodes) await until(() => isWhole(node));
  return {
    url: `redis+cluster://127.0.0.1:${nodes[1]?.port},127.0.0.1:${nodes[0]?.port}`,
    nodes,
    ownerOf: (slot) => owners[slot] as Node,
    move: async (slot, to, halfway) => {
      const from = owners[slot] as Node;
      await command(to, `CLUSTER SETSLOT ${slot} IMPORTING ${from.id}`);
      await command(from, `CLUSTER SETSLOT ${slot} MIGRATING ${to.id}`);
      const found = await command(from, `CLUSTER GETKEYSINSLOT ${slot} 1000`);
      const keys = found.split("\r\n").filter((part) => !/^[*$]/.test(part));
      const migrate = (some: readonly string[]) =>
        some.length === 0 || command(from, `MIGRATE 127.0.0.1 ${to.port} "" 0 5000 KEYS ${some.join(" ")}`);
      const half = Math.ceil(keys.length / 2);
      await migrate(keys.slice(0, half));
      await halfway?.();
      await migrate(keys.slice(half));
      owners[slot] = to;
      for (const node of [to, from]) await command(node, `CLUSTER SETSLOT ${slot} NODE ${to.id}`);
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function startNode(): Promise<Node & { readonly bus: number }> {
  const [port, bus] = [await freePort(), await freePort()];
  const more = ["--cluster-enabled", "yes", "--port", String(port), "--cluster-port", String(bus)];
  const store = await runRedis(folder(), [...more, "--cluster-node-timeout", "5000"]);
  const id = (await redisCommand(store.socket, "CLUSTER MYID")).split("\r\n")[1] as string;
  return { ...store, port, bus, id };
}

async function command(node: RedisStore, text: string): Promise<string> {
  const answer = await redisCommand(node.socket, text);
  if (answer.startsWith("-")) throw new Error(`${text}: ${answer}`);
  return answer;
}
