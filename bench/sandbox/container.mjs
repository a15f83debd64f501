// A container of runc for each evaluation, with Node and its libraries in it. Linux only, as root; without runc it is undefined.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** Runs the first line that it reads, and prints the value of its last expression. The function `ping` asks the program. */
const program = `
const lines = require("readline").createInterface({ input: process.stdin });
const waiting = [];
globalThis.ping = (x) => new Promise((answered) => { waiting.push(answered); console.log(JSON.stringify({ call: x })); });
lines.once("line", async (line) => {
  lines.on("line", (answer) => waiting.shift()(JSON.parse(answer)));
  console.log(JSON.stringify({ value: await (0, eval)(JSON.parse(line)) }));
  lines.close();
});`;

/** Makes the file system that all containers share. */
function rootfs(folder) {
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" }).match(/\/[^ ]*/g) ?? [];
  for (const path of ["proc", "dev", "sys"]) mkdirSync(join(folder, path), { recursive: true });
  for (const path of libraries) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(path, join(folder, path), { dereference: true });
  }
  cpSync(process.execPath, join(folder, "node"), { dereference: true });
}

export function container() {
  const folder = mkdtempSync(join(tmpdir(), "tenon-container-"));
  try {
    execFileSync("runc", ["spec"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    rootfs(join(folder, "rootfs"));
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    config.process.terminal = false;
    config.process.args = ["/node", "-e", program];
    config.linux.resources.memory = { limit: 256 << 20 };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  } catch (error) {
    rmSync(folder, { recursive: true });
    console.error(`containers are left out: ${error.message.split("\n")[0]}`);
    return undefined;
  }
  let last = 0;
  const start = (source) => {
    const name = `tenon-${process.pid}-${last++}`;
    const child = spawn("runc", ["run", name], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.write(`${JSON.stringify(source)}\n`);
    return { name, child };
  };
  const evaluate = (source, called = () => {}) =>
    new Promise((resolve, reject) => {
      const { child } = start(source);
      let value;
      createInterface({ input: child.stdout }).on("line", (line) => {
        const said = JSON.parse(line);
        if ("call" in said) {
          called();
          child.stdin.write(`${JSON.stringify(said.call)}\n`);
        } else ({ value } = said);
      });
      child.once("close", (code) => (code === 0 ? resolve(value) : reject(new Error(`runc ended with ${code}`))));
    });
  return {
    evaluate,
    calls: (count, called) => evaluate(`(async () => { for (let i = 0; i < ${count}; i++) await ping(i) })()`, called),
    /** MiB of a container that waits: its own memory, and its part of the pages that several share. */
    waitingMib: async () => {
      const { name, child } = start("console.log('{}'); new Promise((r) => setTimeout(r, 600_000))");
      await new Promise((resolve) => child.stdout.once("data", resolve));
      const { pid } = JSON.parse(execFileSync("runc", ["state", name], { encoding: "utf8" }));
      const pss = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
      const ended = new Promise((resolve) => child.once("close", resolve));
      execFileSync("runc", ["kill", name, "KILL"]);
      await ended;
      return Number(pss) / 1024;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
