// The `format` tests of JSON-Schema-Test-Suite (draft 2020-12), for the formats of fields. Each text is sent as a field
// of a body; 204 means that it is valid.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { prefix, start } from "../server.mjs";

const formats = ["email", "uuid", "date", "date-time", "uri", "ipv4", "ipv6"];

export async function* run(checkout, only) {
  const server = await start();
  try {
    for (const format of formats) {
      const file = join(checkout, "tests/draft2020-12/optional/format", `${format}.json`);
      for (const group of JSON.parse(readFileSync(file, "utf8"))) {
        for (const { description, data, valid } of group.tests) {
          const id = `${format}: ${description}`;
          if (!id.includes(only)) continue;
          // `format` does not apply to other types, and a field of Tenon's is a string.
          if (typeof data !== "string") {
            yield { id, verdict: "skip", note: "the value is not a string" };
            continue;
          }
          const response = await fetch(`http://${server.host}:${server.port}${prefix}/format/${format}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ value: data }),
          });
          await response.arrayBuffer();
          const isRight = response.status === (valid ? 204 : 400);
          yield { id, verdict: isRight ? "pass" : "fail", note: `${response.status} for ${JSON.stringify(data)}` };
        }
      }
    }
  } finally {
    await server.stop();
  }
}
