// A newcomer's way with packages that are installed beside this file: new, build, run, one request. It runs on the target's machine.
//
//   node newcomer.mjs <folder>
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { publishedName } from "../names.mjs";

const folder = process.argv[2];
const tenon = join(folder, "node_modules", publishedName("tenon"), "bin/tenon.js");
const command = (args, cwd) => execFileSync(process.execPath, [tenon, ...args], { cwd, stdio: "inherit" });

command(["--version"], folder);
command(["new", "demo"], folder);
const project = join(folder, "demo");
const began = Date.now();
command(["build", "-rc"], project);
console.log(`built after ${Date.now() - began} ms`);

const started = Date.now();
const server = spawn(process.execPath, [tenon, "run", "--port", "0", "--json", "dist/demo.wasm"], {
  cwd: project,
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  for await (const line of createInterface(server.stdout)) {
    const { url } = JSON.parse(line);
    const answer = await fetch(new URL("run/demo/hello/Ada", url));
    const { greeting } = await answer.json();
    if (greeting !== "Hello, Ada!") throw new Error(`the answer must greet Ada: ${greeting}`);
    console.log(`${process.platform} ${process.arch}: ${greeting} after ${Date.now() - started} ms`);
    break;
  }
} finally {
  server.kill();
}
