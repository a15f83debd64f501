// JSONTestSuite (github.com/nst/JSONTestSuite): texts that a JSON parser must accept (y_), must refuse (n_), or may
// treat either way (i_). Each is sent as a body that the handler reads with `req.json()`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { prefix, start } from "../server.mjs";

export async function* run(checkout, only) {
  const folder = join(checkout, "test_parsing");
  const server = await start();
  try {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json") && name.includes(only))) {
      const response = await fetch(`http://${server.host}:${server.port}${prefix}/json`, {
        method: "POST",
        body: readFileSync(join(folder, file)),
      });
      await response.arrayBuffer();
      const allowed = { y: [200], n: [400], i: [200, 400] }[file[0]];
      yield {
        id: file,
        verdict: allowed.includes(response.status) ? "pass" : "fail",
        note: `${response.status} instead of ${allowed.join(" or ")}`,
      };
    }
  } finally {
    await server.stop();
  }
}
