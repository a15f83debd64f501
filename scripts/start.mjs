// `npm start`: sets up a fresh clone and serves `examples/hello`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { isStale, root, run, say, setUp } from "./setup.mjs";

const hello = join(root, "examples/hello");
const tenon = join(root, "cli/bin/tenon.js");

await setUp();
if (
  isStale("examples/hello/dist/hello-composed.wasm", [
    "examples/hello/src",
    "examples/hello/tenon.toml",
    "ts-sdk/dist",
    "cli/dist",
    "guest/dist",
    "wit",
  ])
) {
  say("Building examples/hello");
  run(process.execPath, [tenon, "build", "-rc"], { cwd: hello });
}
say("Serving examples/hello");
console.error(`
Try, in another terminal:
  curl -i http://127.0.0.1:3000/run/hello/hello/Ada
  curl -i 'http://127.0.0.1:3000/run/hello/users?page=2&limit=3'
  curl -i http://127.0.0.1:3000/run/hello/users -H 'content-type: application/json' -d '{"name":"Ada"}'
  curl -i http://127.0.0.1:3000/run/hello/users -H 'content-type: application/json' -d '{"name":""}'
  curl -i http://127.0.0.1:3000/health
`);
const server = spawn(process.execPath, [tenon, "run", ...process.argv.slice(2)], { cwd: hello, stdio: "inherit" });
// Ctrl-C reaches the server directly, because it is in the same process group. A kill of npm does not.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => server.kill("SIGTERM"));
server.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" ? 0 : 130)));
