// A newcomer's way with packages that are installed beside this file: new, build, run, one request. It runs on the target's machine.
//
//   node newcomer.mjs <folder> <name of the command's package>
import { execFileSync, spawn } from "node:child_process";
import { get } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder, name] = process.argv.slice(2);
const tenon = join(folder, "node_modules", name, "bin/tenon.js");
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
  const { value: line } = await createInterface(server.stdout)[Symbol.asyncIterator]().next();
  if (line === undefined) throw new Error("the server must print its address, and has ended");
  const { url } = JSON.parse(line);
  const { greeting } = JSON.parse(await answerOf(new URL("run/demo/hello/Ada", url)));
  if (greeting !== "Hello, Ada!") throw new Error(`the answer must greet Ada: ${greeting}`);
  console.log(`${process.platform} ${process.arch}: ${greeting} after ${Date.now() - started} ms`);
} finally {
  server.kill();
}

/** The body of an answer. `fetch` keeps connections alive, which wine cannot. */
async function answerOf(url) {
  const answer = await new Promise((resolve, reject) => get(url, { agent: false }, resolve).on("error", reject));
  let body = "";
  for await (const piece of answer.setEncoding("utf8")) body += piece;
  return body;
}
