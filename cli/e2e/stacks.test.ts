/** Exceptions in the log: one record each, with the frames of the user's own code. */
import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { developing, project } from "./develop.ts";
import { startTenon, tenon } from "./servers.ts";

developing();

const handler = `import { get, ok, routes } from "@tenon/sdk";
import { connect } from "lost-map";

function deeper(n: number): number {
  return deeper(n + 1) + 1;
}

export default routes({
  throws: get("/throws", () => {
    throw new Error("broken\\u001b[31m red");
  }),
  recursion: get("/recursion", () => ok(deeper(0))),
  package: get("/package", () => ok(connect())),
  colors: get("/colors", () => {
    console.log("\\u001b[32m200\\u001b[0m GET /colors");
    console.log("two\\nlines");
    return ok(1);
  }),
});
`;

/** A package whose map names sources that it did not publish. */
const lostMap = {
  "package.json": '{ "name": "lost-map", "type": "module", "main": "driver/index.js" }',
  "driver/index.js":
    'export function connect() {\n  throw new Error("no connection");\n}\n//# sourceMappingURL=index.js.map\n',
  "driver/index.js.map": JSON.stringify({
    version: 3,
    sources: ["../../src/driver/index.ts"],
    names: [],
    mappings: "AAAO;AACL",
  }),
};

let at: string;
beforeAll(async () => {
  at = await project("stacks", handler);
  for (const [file, text] of Object.entries(lostMap)) {
    await mkdir(dirname(join(at, "node_modules/lost-map", file)), { recursive: true });
    await writeFile(join(at, "node_modules/lost-map", file), text);
  }
  const built = spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
});

/** The log of requests to these paths. */
async function logOf(
  paths: readonly string[],
  args: string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { base, errors, stop } = await startTenon(args, "stacks", at, environment);
  for (const path of paths) await (await fetch(`${base}${path}`)).text();
  await stop();
  return errors();
}

describe("as text", () => {
  test("an exception is one record, with its stack as an indented block", async () => {
    const log = await logOf(["/throws"]);
    const [record = "", ...others] = log.split("\n").slice(log.split("\n").findIndex((line) => line.includes("ERROR")));
    expect(record).toMatch(
      /ERROR Uncaught exception in handler "throws": Error: broken\\u\{1b\}\[31m red module="stacks" request_id=/,
    );
    expect(others[0]).toMatch(/^ {8}at .*\(src\/handler\.ts:10:\d+\)$/);
    // Nothing of the SDK.
    expect(others.filter((line) => /^ +at /.test(line))).toHaveLength(1);
    expect(log).not.toContain("\u001b[31m");
  });

  test("-v shows the frames of Tenon as well", async () => {
    const log = await logOf(["/throws"], ["-v"]);
    expect(log.split("\n").filter((line) => /^ +at /.test(line)).length).toBeGreaterThan(1);
  });

  test("a recursion is one record", async () => {
    const log = await logOf(["/recursion"]);
    expect(log.match(/ERROR/g)).toHaveLength(1);
    expect(log).toMatch(/\n {8}at deeper\d* \(src\/handler\.ts:5:\d+\)/);
  });

  test("a stack cites files that exist", async () => {
    const log = await logOf(["/package"]);
    expect(log).toContain("(node_modules/lost-map/driver/index.js:2:");
    expect(log).not.toContain("node_modules/src");
  });

  test("control characters are escaped, and lines stay lines", async () => {
    const log = await logOf(["/colors"]);
    expect(log).toContain("\\u{1b}[32m200\\u{1b}[0m GET /colors");
    expect(log.match(/INFO (?:two|lines) /g)).toHaveLength(2);
  });
});

test("as JSON, the stack is a field", async () => {
  const log = await logOf(["/throws", "/colors"], [], { TENON_SERVER_LOG_FORMAT: "json" });
  const records = log.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const errors = records.filter(({ level }) => level === "ERROR");
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({
    message: 'Uncaught exception in handler "throws": Error: broken\\u{1b}[31m red',
    module: "stacks",
    stack: expect.stringMatching(/^ {4}at .*\(src\/handler\.ts:10:\d+\)$/),
  });
});
