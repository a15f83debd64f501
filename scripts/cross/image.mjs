// The image of deploy/Containerfile.static without its base: a root with the program and the folder that it serves, and nothing else.
// It runs on the target's machine, and prints figures of a server there.
//
//   node image.mjs <program> <folder with server.json> <root to make> <path of a request>
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [program, server, image, path] = process.argv.slice(2);
rmSync(image, { recursive: true, force: true });
mkdirSync(join(image, "usr/bin"), { recursive: true });
copyFileSync(program, join(image, "usr/bin/tenon-server"));
symlinkSync("tenon-server", join(image, "usr/bin/tenon"));
cpSync(server, join(image, "srv/server"), { recursive: true });

const inImage = ["chroot", image, "/usr/bin/tenon"];
const level = process.arch === "arm64" ? "armv8-a" : "x86-64-v2";
const compile = ["compile", "--in-place", "--target-cpu", level, "/srv/server/server.json"];
execFileSync("busybox", [...inImage, ...compile], { stdio: "inherit" });
const files = readdirSync(join(image, "srv/server"));
if (files.some((file) => file.endsWith(".wasm"))) throw new Error("code must take the place of the components");

// As in a container, /proc is there.
mkdirSync(join(image, "proc"));
execFileSync("busybox", ["mount", "--rbind", "/proc", join(image, "proc")]);
const began = performance.now();
const child = spawn("busybox", [...inImage, "run", "--host", "127.0.0.1", "--port", "0", "--json"], {
  env: {},
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  for await (const line of createInterface(child.stdout)) {
    const answer = await fetch(new URL(path, JSON.parse(line).url));
    if (answer.status !== 200) throw new Error(`the answer must have the status 200: ${answer.status}`);
    await answer.arrayBuffer();
    const answered = Math.round(performance.now() - began);
    const resident = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    const megabytes = (statSync(program).size / 1e6).toFixed(1);
    console.log(`the program has ${megabytes} MB; first answer after ${answered} ms, ${resident} KiB resident`);
    break;
  }
} finally {
  child.kill();
  await new Promise((done) => child.once("exit", done));
  execFileSync("busybox", ["umount", "-l", join(image, "proc")]);
}
