/** The engine's globals, used member by member in a component. Node's own are the measure, except where Node 20 is behind. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { root, tenon } from "./servers.ts";

type Checks = Record<string, Record<string, () => unknown>>;
/** By a path that TypeScript does not follow, because the checks have the engine's types and not Node's. */
const file = join(root, "cli/e2e/fixtures/standards/src/checks.ts");
const { checks } = (await import(file)) as { checks: Checks };

/** The same checks in an app that speaks `fetch`. */
const fetchApp = `import { checks } from "./checks.ts";
export default {
  async fetch(request) {
    const [group, name] = new URL(request.url).pathname.split("/").map(decodeURIComponent).slice(-2);
    return Response.json({ outcome: await checks[group]?.[name]?.() });
  },
};
`;

const whole = "38 bytes 356870";
const thrice = <T>(value: T) => [value, value, value];
const wrong = "threw TypeError";

/** Outcomes by the standards where Node 20 has others: its `DecompressionStream` throws an `Error`, and takes more data after the end. */
const standard: Readonly<Record<string, unknown>> = {
  "abort: any of any": [
    ["source true true", "inner", "outer"],
    [true, "why"],
    [true, "why"],
  ],
  "abort: any takes iterables of signals alone": [false, wrong, wrong, wrong, wrong],
  "abort: listeners: once, signal, passive, objects, removal": [
    ...["once", "signal", "passive false", "object 2"],
    ...["passive false", "object 2"],
  ],
  // One mark is removed, and not each.
  "bodies: byte order marks": ["a", {}, 1, 1, {}, [239, 187, 191], 1, 1, 65533],
  "compression: whole": thrice(whole),
  "compression: in single bytes": thrice(whole),
  "compression: large, and cut": thrice(["60000 bytes 796790", wrong, wrong]),
  "compression: large, and changed": [thrice(wrong), thrice(wrong), []],
  "compression: empty data": thrice("0 bytes 7"),
  "compression: no data": thrice(wrong),
  "compression: cut at each byte": thrice([wrong]),
  "compression: each byte of the trailer changed": [[wrong], [wrong], []],
  "compression: more after the end": thrice([wrong, wrong, whole]),
  "compression: another format": thrice(wrong),
  "compression: chunks": thrice([wrong, wrong, whole]),
  "compression: formats": [wrong, wrong, wrong, "[object DecompressionStream]"],
};

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "standards-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(["routes", "fetch"])("in a module with %s", (kind) => {
  let runtime: Runtime;
  beforeAll(async () => {
    const at = join(folder, kind);
    await cp(join(root, "cli/e2e/fixtures/standards"), at, { recursive: true });
    if (kind === "fetch") await writeFile(join(at, "src/handler.ts"), fetchApp);
    const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: at, encoding: "utf8" });
    expect(stderr).not.toMatch(/warning|error/);
    expect(status).toBe(0);
    // One instance for all, where something could be left over.
    runtime = await Runtime.create({ modules: { standards: join(at, "dist/standards.wasm") }, isolation: "shared" });
  });
  afterAll(() => runtime?.close());

  const all = Object.entries(checks).flatMap(([group, each]) =>
    Object.entries(each).map(([name, check]) => [group, name, check] as const),
  );
  test.each(all)("%s: %s", async (group, name, check) => {
    const path = `/check/${encodeURIComponent(group)}/${encodeURIComponent(name)}`;
    const answer = await runtime.fetch(`http://tenon.test/run/standards${path}`);
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    const expected = standard[`${group}: ${name}`] ?? (await check());
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ outcome: expected })));
  });
});
