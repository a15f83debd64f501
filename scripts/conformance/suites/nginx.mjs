// nginx's own tests (github.com/nginx/nginx-tests), as far as they are about requests and not about nginx's configuration:
// the Perl files of the checkout are run as they are, with a Test::Nginx that leads them to this server.
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

/** Tests that are about what nginx does with a request beyond HTTP. */
const untouched = "a module sees its path as it was sent: nothing is decoded, no dot segment resolved";
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
        const why = elsewhere.get(id) ?? (isTodo && !isOk ? "nginx does not do it yet" : undefined);
        if (why !== undefined) yield { id, verdict: "skip", note: why };
        else yield { id, verdict: isOk ? "pass" : "fail", note: "" };
      }
    }
  } finally {
    await server.stop();
  }
}

/** Runs a file, and reads its results. */
function tap(server, checkout, file) {
  const library = join(root, "scripts/conformance/nginx");
  // Loaded first, so that the checkout's own module of this name is not.
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
      // A test that is left out has no name.
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
