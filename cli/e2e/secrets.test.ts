/** A canary in each secret, and where it must not be: everything that a build writes and that a server says. */
import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { develop, developing, project, served } from "./develop.ts";
import { type Answer, send } from "./http.ts";
import { startTenon, tenon } from "./servers.ts";

developing();

const CANARY = "canary-5b1d";
const inVariable = `${CANARY}-variable`;
const inFile = `${CANARY}-file`;

const handler = `
import { cache, db, env, error, get, jwt, ok, routes, secret, signature, use } from "@tenon/sdk";

const token = use(jwt({ key: () => secret("VARIABLE"), algorithms: ["HS256"] }));
const hook = use(signature({ scheme: "github", secret: () => secret("FILE") }));

export default routes({
  /** Shows that it has its secrets, without their values. */
  lengths: get("/", () => ok([secret("VARIABLE").length, secret("FILE").length])),
  surroundings: get("/surroundings", () => ok([env("TENON_SECRET_VARIABLE") ?? null, env("VARIABLE") ?? null])),
  missing: get("/missing", () => ok(secret("MISSING"))),
  thrown: get("/thrown", () => {
    throw new Error("it does not fit: " + secret("FILE"), { cause: new TypeError(secret("VARIABLE")) });
  }),
  logged: get("/logged", () => {
    console.log({ key: secret("FILE") }, "and " + secret("VARIABLE"));
    console.error(secret("VARIABLE"));
    // The host breaks a line of this length up, here inside the secret.
    console.log("-".repeat(16 * 1024 - ${CANARY.length + 2}) + secret("FILE"));
    return ok({});
  }),
  /** Sends its secret to sidecars, of which \`tenon run\` has none. */
  called: get("/called", async () => {
    await db.query(["SELECT ? AS known", [secret("FILE")]]).catch(() => {});
    await cache.set("known", secret("VARIABLE")).catch(() => {});
    return ok({});
  }),
  rejected: get("/rejected", async () => Promise.reject(new Error(secret("VARIABLE")))),
  signed: get("/signed", () => ok({}).cookie("a", "b", { sign: secret("FILE") })),
  token: token.get("/token", () => ok({})),
  hook: hook.post("/hook", () => ok({})),
  unsendable: get("/unsendable", () => error(500, "x", { big: 1n, key: secret("FILE").length })),
});
`;
const config = '[secrets]\nVARIABLE = "env:CANARY_VARIABLE"\nFILE = "file:key"\n';

const paths = [
  "/",
  "/surroundings",
  "/missing",
  "/thrown",
  "/logged",
  "/rejected",
  "/signed",
  "/token",
  "/unsendable",
  "/called",
  "/nowhere",
];
const said = ({ headers, body }: Answer) => `${headers.join("\n")}\n${body.toString("latin1")}`;

/** Asks for everything that may say something, with headers that fail. */
async function askAll(base: string): Promise<string> {
  const { pathname } = new URL(base);
  const answers: string[] = [];
  for (const path of paths) {
    for (const accept of ["application/json", "text/html"]) {
      const headers = [
        ["authorization", "Bearer a.b.c"],
        ["accept", accept],
      ] as const;
      answers.push(said(await send(base, { path: pathname + path, headers })));
    }
  }
  const signed = [["x-hub-signature-256", `sha256=${"0".repeat(64)}`]] as const;
  answers.push(said(await send(base, { method: "POST", path: `${pathname}/hook`, headers: signed, body: "{}" })));
  for (const path of ["/health", "/metrics", "/", "/run/nobody/"]) answers.push(said(await send(base, { path })));
  return answers.join("\n");
}

test("of tenon build, schema and run", async () => {
  const at = await project("canaries", handler, config);
  await writeFile(join(at, "key"), `${inFile}\n`);
  await writeFile(join(at, "package.json"), '{"name":"canaries","version":"1.0.0"}');
  const env = { ...process.env, CANARY_VARIABLE: inVariable };
  for (const args of [["build", "-rc"], ["schema"]]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [tenon, ...args], {
      cwd: at,
      env,
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    expect(stdout + stderr).not.toContain(CANARY);
  }
  const written = (await readdir(join(at, "dist"))).map((name) => join(at, "dist", name));
  expect(written.length).toBeGreaterThanOrEqual(3);
  for (const file of [...written, join(at, "openapi.json")]) {
    expect((await readFile(file)).includes(CANARY), file).toBe(false);
  }

  const running = await startTenon(["-v"], "canaries", at, env);
  try {
    expect((await send(running.base, { path: "/run/canaries/" })).json()).toEqual([inVariable.length, inFile.length]);
    expect((await send(running.base, { path: "/run/canaries/surroundings" })).json()).toEqual([null, null]);
    expect(await askAll(running.base)).not.toContain(CANARY);
    await expect.poll(() => running.errors()).toContain("it does not fit: ***");
    await expect.poll(() => running.errors()).toContain("and [secret VARIABLE]");
  } finally {
    await running.stop();
  }
  expect(running.errors()).not.toContain(CANARY);
});

test("of tenon dev, with .env", async () => {
  const at = await project("developed", handler, `[server]\nport = ${await freePort()}\n${config}`);
  await writeFile(join(at, "key"), inFile);
  await writeFile(join(at, ".env"), `CANARY_VARIABLE=${inVariable}\n`);
  const terminal = develop(at, "-v");
  const { base, services } = await served(terminal, "developed");
  expect((await send(base, { path: "/run/developed/" })).json()).toEqual([inVariable.length, inFile.length]);
  expect(await askAll(base)).not.toContain(CANARY);
  for (const path of ["/run/developed/openapi.json", "/docs"])
    expect(said(await send(base, { path }))).not.toContain(CANARY);
  for (const path of ["/", "/kv", "/storage", "/cron", "/metrics"]) {
    expect(said(await send(services, { path, headers: [["accept", "text/html"]] }))).not.toContain(CANARY);
  }
  // The recorder has a page for each request: headers, bodies, lines, calls, and the exception.
  const { requests } = (await send(services, { path: "/runtime" })).json() as {
    requests: { path: string; transcript: number | null }[];
  };
  const kept = requests.filter(({ transcript }) => transcript !== null);
  const pages = new Map<string, string>();
  for (const { path, transcript } of kept) {
    pages.set(path, said(await send(services, { path: `/runtime/requests/${transcript}` })));
  }
  for (const path of paths.slice(0, -1)) expect(pages.get(`/run/developed${path}`), path).not.toContain(CANARY);
  expect(pages.get("/run/developed/thrown")).toContain("it does not fit: ***");
  expect(pages.get("/run/developed/logged")).toContain("[secret VARIABLE]");
  expect(pages.get("/run/developed/called")).toContain("SELECT ? AS known");
  await terminal.sees(/it does not fit: \*\*\*/);
  await terminal.sees(/and \[secret VARIABLE\]/);
  // A mistake beside the secrets is reported without their lines.
  const from = terminal.mark;
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "developed"\n[secrets]\nVARIABLE = ${inVariable}\n`);
  await terminal.sees(/tenon\.toml:4:\d+: /, from);
  expect(terminal.screen()).not.toContain(CANARY);
});
