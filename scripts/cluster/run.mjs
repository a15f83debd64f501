// Runs the Helm chart with the image of `tenon-server` on a real Kubernetes node, and counts the requests that fail under constant load
// while pods are replaced. Needs root and Go; see tools.sh.
//
//   npm run test:cluster -- [--program target/…/dist/tenon-server] [--requests 100000] [--rate 400] [--keep]
//
// It prints one line of JSON a case, and ends with 1 when a request failed that must not, or when something is left of the node.
import { execFile, execFileSync, fork, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { root, run, say } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    program: { type: "string", default: join(root, "target/x86_64-unknown-linux-gnu/dist/tenon-server") },
    requests: { type: "string", default: "100000" },
    rate: { type: "string", default: "400" },
    keep: { type: "boolean", default: false },
  },
});
const [requests, rate] = [Number(values.requests), Number(values.rate)];
const here = join(root, "scripts/cluster");
const project = join(root, "examples/users-sql");
const chart = join(root, "deploy/charts/tenon");
const variables = ["TOOLS", "STATE", "REGISTRY", "KUBECONFIG", "CONTAINERS_STORAGE_CONF", "PATH", "NODE_NAME"];
const printed = execFileSync("bash", ["-c", `. ${here}/env.sh && printenv -0 ${variables.join(" ")}`], {
  encoding: "utf8",
});
const env = {
  ...process.env,
  ...Object.fromEntries(variables.map((name, index) => [name, printed.split("\0")[index]])),
};

const command = (program, ...args) =>
  execFileSync(program, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const kubectl = (...args) => command("kubectl", ...args);
/** Runs a command while the load goes on. Its exit code is its result. */
const meanwhile = (program, ...args) =>
  new Promise((resolve) => spawn(program, args, { env, stdio: ["ignore", "ignore", "inherit"] }).once("exit", resolve));

/** Makes an image and pushes it. Returns its digest. `change` changes what is served. */
function image(tag, change) {
  const folder = join(env.STATE, `served-${tag}`);
  cpSync(join(project, "dist/server"), folder, { recursive: true });
  change(folder);
  const layout = join(env.STATE, `image-${tag}`);
  command("sh", join(root, "deploy/image.sh"), values.program, folder, `oci:${layout}:${tag}`);
  const target = `docker://${env.REGISTRY}/shop:${tag}`;
  command("skopeo", "copy", "-q", "--dest-tls-verify=false", `oci:${layout}:${tag}`, target);
  return command("skopeo", "inspect", "--tls-verify=false", "--format", "{{.Digest}}", target).trim();
}

/** Makes an image whose code is no code. */
function brokenImage(good) {
  const container = command("buildah", "from", "--tls-verify=false", `${env.REGISTRY}/shop@${good}`).trim();
  const file = join(env.STATE, "broken.wasm");
  writeFileSync(file, "no component");
  command("buildah", "copy", "-q", container, file, "/srv/server/users-sql.cwasm");
  command("buildah", "commit", "-q", container, `${env.REGISTRY}/shop:broken`);
  command("buildah", "push", "-q", "--tls-verify=false", `${env.REGISTRY}/shop:broken`);
  command("buildah", "rm", container);
  const target = `docker://${env.REGISTRY}/shop:broken`;
  return command("skopeo", "inspect", "--tls-verify=false", "--format", "{{.Digest}}", target).trim();
}

function chartValues(digest) {
  const shared = [{ name: "data", mountPath: "/data" }];
  const repository = `${env.REGISTRY}/shop`;
  return {
    image: { repository, digest },
    replicaCount: 2,
    sidecars: { db: { kind: "sql", secretName: "shop-database", urlKey: "url", volumeMounts: shared } },
    initContainers: [
      {
        name: "migrate",
        image: `${repository}@${digest}`,
        args: ["migrate", "unix:///run/tenon/db.sock"],
        volumeMounts: [{ name: "sockets", mountPath: "/run/tenon" }],
      },
    ],
    volumes: [{ name: "data", emptyDir: {} }],
    resources: { requests: { cpu: "20m", memory: "32Mi" }, limits: { memory: "256Mi" } },
  };
}

/** Arguments of helm that install or change the release. */
function release(digest) {
  const file = join(env.STATE, "values.json");
  writeFileSync(file, JSON.stringify(chartValues(digest)));
  return ["upgrade", "--install", "shop", chart, "--values", file];
}

const pods = () => JSON.parse(kubectl("get", "pods", "-l", "app.kubernetes.io/instance=shop", "-o", "json")).items;
const isReady = (pod) => pod.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
const rolledOut = () => meanwhile("kubectl", "rollout", "status", "deployment", "--timeout=120s");

/** Notes when each pod is ready, and when its server said that it listens. The clock is this machine's. */
function watchReady() {
  const ready = new Map();
  const listening = new Map();
  const columns = '{.metadata.uid} {.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}';
  const watching = spawn("kubectl", ["get", "pods", "-w", "-o", `jsonpath=${columns}`], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  createInterface({ input: watching.stdout }).on("line", (line) => {
    const [uid, name, status] = line.split(" ");
    if (status !== "True" || ready.has(uid)) return;
    ready.set(uid, Date.now());
    execFile("kubectl", ["logs", name, "-c", "server", "--timestamps"], { env }, (_, logged) => {
      const first = /^(\S+) .*\/run\/users-sql\//m.exec(logged ?? "");
      if (first !== null) listening.set(uid, Date.parse(first[1]));
    });
  });
  return { ready, listening, stop: () => watching.kill() };
}

/** The processes of pods that run `tenon-server`, with the pod's UID, the command, and the time of the start in ms since 1970. */
function processes() {
  // `btime` of /proc/stat has whole seconds only.
  const boot = Date.now() - Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000;
  const found = [];
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
      const pod = /pod([0-9a-f-]{36})/.exec(readFileSync(`/proc/${id}/cgroup`, "utf8"))?.[1];
      if (pod === undefined || !/tenon/.test(text[0])) continue;
      const stat = readFileSync(`/proc/${id}/stat`, "utf8");
      const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
      const memory = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1024;
      found.push({ id: Number(id), pod, command: text[1], started: boot + ticks * 10, memory });
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

const failures = [];
let load;
/** Ends a phase of the load, and returns its counts. */
function counts() {
  return new Promise((resolve) => {
    load.once("message", resolve);
    load.send("next");
  });
}

let total = 0;
let failedInAll = 0;
/** Runs a case under load, and prints its counts. */
async function underLoad(name, steps, { mayFail = false } = {}) {
  const began = Date.now();
  await steps();
  // Those that were sent last meet what is left of the change.
  await sleep(2000);
  const { sent, failed, reasons, p50, p99, max } = await counts();
  if (!mayFail) total += sent;
  if (!mayFail) failedInAll += failed;
  if (failed > 0 && !mayFail) failures.push(`${name}: ${failed} of ${sent} requests failed`);
  const seconds = Math.round((Date.now() - began) / 100) / 10;
  process.stdout.write(
    `${JSON.stringify({ case: name, seconds, sent, failed, ...(failed ? { reasons } : {}), ms: { p50, p99, max } })}\n`,
  );
}

async function cases() {
  say("Images");
  const first = image("one", () => {});
  const second = image("two", (folder) => {
    const file = join(folder, "server.json");
    writeFileSync(
      file,
      JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), env: { DIALECT: "sqlite", VERSION: "2" } }),
    );
  });
  const broken = brokenImage(first);
  kubectl("create", "secret", "generic", "shop-database", "--from-literal=url=sqlite:/data/shop.db");

  say("Install");
  const watching = watchReady();
  command("helm", ...release(first), "--wait", "--timeout", "120s");
  const address = kubectl(
    "get",
    "service",
    "-l",
    "app.kubernetes.io/instance=shop",
    "-o",
    "jsonpath={.items[0].spec.clusterIP}",
  );
  const url = `http://${address}/run/users-sql/users`;
  const answer = await fetch(url);
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  const starts = new Map();
  const noting = setInterval(() => {
    for (const one of processes()) if (one.command === "run") starts.set(one.pod, one);
  }, 250);

  load = fork(join(here, "load.mjs"), [url, String(rate)]);
  const only = (index) => pods().filter(isReady)[index].metadata.name;
  await underLoad("nothing changes", () => sleep(10_000));
  await underLoad("rolling update to a new digest", async () => {
    await meanwhile("helm", ...release(second));
    await rolledOut();
    await sleep(8000);
  });
  await underLoad("a pod is deleted", async () => {
    await meanwhile("kubectl", "delete", "pod", only(0));
    await rolledOut();
  });
  await underLoad("drain of the node, which the disruption budget holds up at one pod", async () => {
    await meanwhile(
      "kubectl",
      "drain",
      env.NODE_NAME,
      "--ignore-daemonsets",
      "--delete-emptydir-data",
      "--timeout=15s",
    );
    await meanwhile("kubectl", "uncordon", env.NODE_NAME);
    await rolledOut();
  });
  await underLoad("scale from 1 to 6 and to 2", async () => {
    await meanwhile("kubectl", "scale", "deployment", "--all", "--replicas=1");
    await sleep(8000);
    await meanwhile("kubectl", "scale", "deployment", "--all", "--replicas=6");
    await rolledOut();
    await meanwhile("kubectl", "scale", "deployment", "--all", "--replicas=2");
    await sleep(10_000);
  });
  await underLoad("the registry is away, and a pod is deleted", async () => {
    await meanwhile(join(here, "registry.sh"), "stop");
    await meanwhile("kubectl", "delete", "pod", only(0));
    await rolledOut();
    await meanwhile(join(here, "registry.sh"));
  });
  await underLoad("rolling update to a module that does not compile, and back", async () => {
    await meanwhile("helm", ...release(broken));
    await sleep(15_000);
    if (pods().filter(isReady).length !== 2)
      failures.push("a pod with a broken module has taken the place of a good one");
    await meanwhile("helm", "rollback", "shop");
    await rolledOut();
  });
  await underLoad(
    "a sidecar is killed",
    async () => {
      const pod = pods().find(isReady).metadata.uid;
      process.kill(processes().find((one) => one.pod === pod && one.command === "sidecar").id, "SIGKILL");
      await sleep(10_000);
      await rolledOut();
    },
    { mayFail: true },
  );
  let update = 0;
  while (total < requests) {
    update += 1;
    await underLoad(`rolling update ${update + 1}, and a pod is deleted`, async () => {
      await meanwhile("helm", ...release(update % 2 === 0 ? second : first));
      await rolledOut();
      await meanwhile("kubectl", "delete", "pod", only(0));
      await rolledOut();
    });
  }
  clearInterval(noting);
  const sinceStart = (moments) => {
    const known = [...starts].filter(([pod]) => moments.has(pod));
    const times = known.map(([pod, { started }]) => Math.round(moments.get(pod) - started)).sort((a, b) => a - b);
    return { pods: times.length, median: times[times.length >> 1], max: times.at(-1) };
  };
  const [readyAfter, listensAfter] = [sinceStart(watching.ready), sinceStart(watching.listening)];
  const memory = processes().map(({ command: name, memory: mib }) => `${name} ${mib.toFixed(0)} MiB`);
  watching.stop();
  const summary = {
    requests: total,
    failed: failedInAll,
    listensAfterStartMs: listensAfter,
    readyAfterStartMs: readyAfter,
  };
  process.stdout.write(`${JSON.stringify({ ...summary, memory })}\n`);
  // Kubernetes looks at containers, and probes them, once a second each, so single pods take longer.
  if (!(readyAfter.median <= 1000))
    failures.push(`pods were ready ${readyAfter.median} ms after they started (median)`);
}

if (!existsSync(values.program))
  throw new Error(`${values.program} is missing: cargo build --profile dist --workspace --bin tenon-server`);
mkdirSync(env.TOOLS, { recursive: true });
say("Tools");
run(join(here, "tools.sh"), [], { env });
run(process.execPath, [join(root, "cli/bin/tenon.js"), "build", "-r", "--server"], { cwd: project });
say("Node");
try {
  execFileSync(join(here, "up.sh"), { env, stdio: "inherit" });
  await cases();
} catch (error) {
  failures.push(String(error));
} finally {
  load?.kill();
  if (!values.keep) {
    say("Down");
    if (spawnSync(join(here, "down.sh"), { env, stdio: "inherit" }).status !== 0)
      failures.push("something is left of the node");
    rmSync(join(env.TOOLS, "kubernetes"), { recursive: true, force: true });
  }
}
for (const failure of failures) say(failure);
process.exitCode = failures.length === 0 ? 0 : 1;
