/** Apps of others, as their authors have them, through `tenon init`, a build and a server: from the documentation alone. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type Exchange, send as sendTo } from "./http.ts";
import { root, startTenon, tenon } from "./servers.ts";

let scratch: string;
beforeAll(async () => {
  // Inside the clone, where the packages are installed.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  scratch = await mkdtemp(join(root, "cli/e2e/.tenon/init-"));
});
afterAll(() => rm(scratch, { recursive: true }));

async function files(name: string, all: Readonly<Record<string, string>>): Promise<string> {
  for (const [file, text] of Object.entries(all)) {
    await mkdir(dirname(join(scratch, name, file)), { recursive: true });
    await writeFile(join(scratch, name, file), text);
  }
  return join(scratch, name);
}

/** Sends a request to a path below the base of a module. */
const send = (base: string, { path, ...exchange }: Exchange): Promise<Answer> =>
  sendTo(base, { ...exchange, path: `${new URL(base).pathname}${path}` });

function run(at: string, ...args: string[]): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tenon, ...args], { cwd: at, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  return { stdout, stderr };
}

test("a Worker with zod and JWT, whose secret is in c.env", async () => {
  const at = await files("worker", {
    "package.json": JSON.stringify({
      name: "notes-worker",
      scripts: { dev: "wrangler dev", deploy: "wrangler deploy --minify" },
    }),
    "wrangler.jsonc": '{ "name": "notes", "main": "src/index.ts", /* ours */ "vars": { "ISSUER": "notes" }, }',
    ".dev.vars": 'JWT_SECRET="a secret of forty characters, more or less"\n',
    "tsconfig.json": '{ "compilerOptions": { "module": "ESNext", "moduleResolution": "Bundler", "jsx": "react-jsx" } }',
    "src/index.ts": `import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { jwt, sign } from "hono/jwt";
import { z } from "zod";

type Bindings = { JWT_SECRET: string; ISSUER: string };
const app = new Hono<{ Bindings: Bindings }>();

app.post("/login", zValidator("json", z.object({ name: z.string().min(1) })), async (c) => {
  const { name } = c.req.valid("json");
  return c.json({ token: await sign({ sub: name, iss: c.env.ISSUER }, c.env.JWT_SECRET, "HS256") });
});
app.use("/me", (c, next) => jwt({ secret: c.env.JWT_SECRET, alg: "HS256" })(c, next));
app.get("/me", (c) => c.json(c.get("jwtPayload")));
app.get("/fails", (c) => {
  throw new Error(\`the secret is \${c.env.JWT_SECRET}\`);
});

export default app;
`,
  });
  expect(run(at, "init").stderr).toMatch(/Create tenon\.toml\n.*Create src\/handler\.ts/);
  run(at, "build", "-r");
  const secret = "a secret of forty characters, more or less";
  const { base, stop, errors } = await startTenon([], "notes-worker", at, { JWT_SECRET: secret });
  try {
    const headers = [["content-type", "application/json"]] as const;
    const login = { method: "POST", path: "/login", headers };
    const { token } = (await send(base, { ...login, body: '{"name":"Ada"}' })).json() as { token: string };
    const me = await send(base, { path: "/me", headers: [["authorization", `Bearer ${token}`]] });
    expect([me.status, me.json()]).toEqual([200, { sub: "Ada", iss: "notes" }]);
    expect((await send(base, { ...login, body: '{"name":""}' })).status).toBe(400);
    expect((await send(base, { path: "/me" })).status).toBe(401);
    expect((await send(base, { path: "/fails" })).status).toBe(500);
    await expect.poll(errors).toContain("the secret is");
    expect(errors()).not.toContain(secret);
  } finally {
    await stop();
  }
  expect((await readFile(join(at, "dist/notes-worker.wasm"))).includes(secret)).toBe(false);
});

test("an OpenAPI starter for Node, which validates its environment when it starts", async () => {
  const at = await files("starter", {
    "package.json": JSON.stringify({
      name: "tasks-api",
      type: "module",
      scripts: { dev: "tsx watch src/index.ts", start: "node dist/src/index.js" },
    }),
    ".env.example": "NODE_ENV=development\nPORT=9999\nLOG_LEVEL=warn\nDATABASE_AUTH_TOKEN=\n",
    ".gitignore": "node_modules\n",
    "tsconfig.json":
      '{ "compilerOptions": { "module": "NodeNext", "verbatimModuleSyntax": true, "paths": { "@/*": ["./src/*"] }, "baseUrl": "./" } }',
    "src/index.ts": `import { serve } from "@hono/node-server";
import app from "./app.js";
import env from "./env.js";

serve({ fetch: app.fetch, port: env.PORT }, (info) => {
  console.log(\`Server is running on \${info.port}\`);
});
`,
    "src/env.ts": `import { z } from "zod";

const EnvSchema = z.object({
  NODE_ENV: z.string().default("development"),
  PORT: z.coerce.number().default(9999),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
});
const { data: env, error } = EnvSchema.safeParse(process.env);
if (error) {
  console.error(JSON.stringify(error.issues, null, 2));
  throw new Error("invalid env");
}
export default env!;
`,
    "src/app.ts": `import createApp from "./lib/create-app.js";
import tasks from "./routes/tasks.js";

const app = createApp();
app.doc("/doc", { openapi: "3.0.0", info: { title: "Tasks", version: "1" } });
app.route("/", tasks);
export default app;
`,
    "src/lib/create-app.ts": `import { OpenAPIHono } from "@hono/zod-openapi";
import pino from "pino";
import env from "@/env.js";

const log = pino({ level: env.LOG_LEVEL });
export function createRouter() {
  return new OpenAPIHono({
    strict: false,
    defaultHook: (result, c) => (result.success ? undefined : c.json({ success: false, error: result.error.issues }, 422)),
  });
}
export default function createApp() {
  const app = createRouter();
  app.use(async (c, next) => {
    await next();
    log.warn({ status: c.res.status }, "answered");
  });
  app.notFound((c) => c.json({ message: \`Not Found - \${c.req.path}\` }, 404));
  app.onError((error, c) => c.json({ message: error.message }, 500));
  return app;
}
`,
    "src/routes/tasks.ts": `import { createRoute, z } from "@hono/zod-openapi";
import { createRouter } from "@/lib/create-app.js";

const Task = z.object({ id: z.number(), name: z.string().min(1).max(500) }).openapi("Task");
const json = <T extends z.ZodType>(schema: T) => ({ content: { "application/json": { schema } }, description: "It" });
const create = createRoute({
  method: "post",
  path: "/tasks",
  request: { body: { ...json(Task.omit({ id: true })), required: true } },
  responses: { 200: json(Task) },
});
export default createRouter().openapi(create, (c) => c.json({ id: 1, ...c.req.valid("json") }, 200));
`,
  });
  expect(run(at, "init").stderr).toMatch(/App src\/app\.ts/);
  expect(await readFile(join(at, "src/handler.ts"), "utf8")).toContain('import app from "./app.js";');
  expect(run(at, "build", "-r").stderr).toMatch(
    /warning: .*src\/env\.ts:8: process\.env at top level has the values of \[env\] at build time \(PORT, LOG_LEVEL\)/,
  );
  run(at, "schema");
  expect(JSON.parse(await readFile(join(at, "openapi.json"), "utf8")).paths).toHaveProperty("/tasks");
  const { base, stop } = await startTenon([], "tasks-api", at, { DATABASE_AUTH_TOKEN: "x" });
  try {
    const post = (body: string) =>
      send(base, { method: "POST", path: "/tasks", headers: [["content-type", "application/json"]], body });
    expect((await post('{"name":"a"}')).json()).toEqual({ id: 1, name: "a" });
    expect((await post('{"name":""}')).status).toBe(422);
    expect((await send(base, { path: "/doc" })).json()).toMatchObject({ paths: { "/tasks": {} } });
    expect((await send(base, { path: "/none" })).json()).toEqual({ message: "Not Found - /none" });
  } finally {
    await stop();
  }
});

test("plain code that speaks fetch, with an entry of its own", async () => {
  const at = await files("plain", {
    "package.json": '{ "name": "plain" }',
    "api/main.ts": "export default { fetch: (request: Request) => new Response(new URL(request.url).pathname) };\n",
  });
  run(at, "init", "--entry", "api/main.ts");
  run(at, "build");
  const { base, stop } = await startTenon([], "plain", at);
  expect((await send(base, { path: "/x/y" })).body.toString()).toBe("/x/y");
  await stop();
});
