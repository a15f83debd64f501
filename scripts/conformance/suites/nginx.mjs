// nginx's own tests (github.com/nginx/nginx-tests) of requests, without those of nginx's configuration. The Perl files
// of the checkout run unchanged, with a Test::Nginx that directs them to this server.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "../../setup.mjs";
import { prefix, start } from "../server.mjs";

const files = [
  "http_host.t",
  "http_method.t",
  "http_uri.t",
  "http_expect_100_continue.t",
  "http_header_buffers.t",
  "body_chunked.t",
];

/** Tests of nginx features beyond HTTP. */
const untouched = "a module gets its path unchanged, without decoding or resolving dot segments";
const elsewhere = new Map(
  [
    ["body in file", "nginx keeps large bodies in files"],
    ["body in file only", "nginx keeps large bodies in files"],
    ["body too large", "the limit is set by nginx's configuration"],
  ]
    .map(([name, why]) => [`body_chunked: ${name}`, why])
    .concat(
      ["dot args", "dot dot args", "trailing dot", "trailing dot dot", "control escaped"].map((name) => [
        `http_uri: ${name}`,
        untouched,
      ]),
    ),
);

export async function* run(checkout, only) {
  const server = await start();
  try {
    for (const file of files) {
      const path = join(checkout, file);
      if (!existsSync(path)) fail(`${path} is not there`);
      for (const { name, isOk, isTodo } of await tap(server, checkout, file)) {
        const id = `${file.slice(0, -2)}: ${name}`;
        if (!id.includes(only)) continue;
        const why = elsewhere.get(id) ?? (isTodo && !isOk ? "nginx does not support it yet" : undefined);
        if (why !== undefined) yield { id, verdict: "skip", note: why };
        else yield { id, verdict: isOk ? "pass" : "fail", note: "" };
      }
    }
  } finally {
    await server.stop();
  }
}

/** Runs a file, and parses its results. */
function tap(server, checkout, file) {
  const library = join(root, "scripts/conformance/nginx");
  // Loaded first, so that the checkout's own module of this name is not loaded.
  const child = spawn("perl", ["-I", library, "-MTest::Nginx", file], {
    cwd: checkout,
    env: { ...process.env, TENON_PORT: String(server.port), TENON_PREFIX: `${prefix}/nginx` },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    child.once("error", reject);
    child.once("close", () => {
      const results = [];
      // A skipped test has no name.
      for (const [, not, name, todo] of output.matchAll(/^(not )?ok \d+(?: - (.*?))?(?: # (TODO.*))?$/gm)) {
        results.push({
          name: name ?? `without a name ${results.length + 1}`,
          isOk: not === undefined,
          isTodo: todo !== undefined,
        });
      }
      const planned = Number(/^1\.\.(\d+)/m.exec(output)?.[1] ?? Number.NaN);
      if (results.length === planned) resolve(results);
      else reject(new Error(`${file}: ${results.length} results instead of ${planned}`));
    });
  });
}
