// h1spec (github.com/uNetworking/h1spec): a table of requests and allowed statuses.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { Connection } from "../raw.mjs";
import { prefix, start } from "../server.mjs";

/** Milliseconds after which the suite itself assumes that a server waits for more. */
const TIMEOUT = 500;

export async function* run(checkout, only) {
  const source = readFileSync(join(checkout, "http_test.ts"), "utf8");
  const [, table] = /const testCases: TestCase\[\] = (\[[\s\S]*?\n\]);/.exec(source) ?? [];
  if (table === undefined) throw new Error("http_test.ts has no table of cases");
  const cases = runInNewContext(table);
  const server = await start();
  try {
    for (const each of cases.filter(({ description }) => description.includes(only))) yield await check(server, each);
  } finally {
    await server.stop();
  }
}

async function check(server, { request, description, expectedStatus, expectedTimeout, expectedBody }) {
  const connection = await Connection.open(server.host, server.port);
  connection.send(Buffer.from(request.replace(/^([A-Z]+) \//, `$1 ${prefix}/`), "latin1"));
  await connection.until((text) => text.includes("\r\n\r\n"), TIMEOUT);
  const { received, closed } = connection;
  connection.close();
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(received)?.[1] ?? 0);
  const waits = received === "" && !closed;
  const body = received.slice(received.indexOf("\r\n\r\n") + 4);
  const isRight =
    expectedTimeout === true
      ? waits
      : expectedStatus.some(([from, to]) => status >= from && status <= to) &&
        (status !== 200 || expectedBody === undefined || body === expectedBody);
  return { id: description, verdict: isRight ? "pass" : "fail", note: received.slice(0, 60) };
}
