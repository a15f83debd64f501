import { describe, expect, test } from "vitest";
import { defaultConfig, parseConfig } from "./config.ts";

const parse = (text: string) => parseConfig(text, "tenon.toml");
const minimal = '[project]\nname = "demo"\n';
const inProcess = (keys: string) => `${minimal}[sidecars]\ndb = { ${keys} }\n`;
const server = {
  host: "127.0.0.1",
  port: 3000,
  isolation: "request",
  requestTimeoutMs: 30_000,
  maxBodyBytes: 10_485_760,
  memoryLimitBytes: 268_435_456,
  maxConcurrent: 128,
  shutdownTimeoutMs: 10_000,
};

/** The message of the one error that parsing ends with. */
function refusal(parsing: () => unknown): string {
  try {
    parsing();
  } catch (error) {
    expect(error).toMatchObject({ name: "TenonError", code: "CONFIG" });
    return (error as Error).message;
  }
  throw new Error("it was not refused");
}

describe("parseConfig", () => {
  test("fills in what is left out", () => {
    expect(parse(minimal)).toEqual({
      project: { name: "demo", version: "0.0.0" },
      server: expect.objectContaining(server),
      composition: { httpHandler: true },
      sidecars: {},
      queues: {},
      cron: {},
      record: { share: 0, failures: true, maxBytes: 1_073_741_824, mask: [] },
      outbound: { allow: [] },
      env: {},
      secrets: {},
      modules: {},
    });
  });

  test("reads a table for each queue", () => {
    const queue = 'module = "demo"\npath = "/jobs/mail"\n';
    expect(parse(`${minimal}[queues.mail]\n${queue}concurrency = 2\n`).queues).toEqual({
      mail: { module: "demo", path: "/jobs/mail", concurrency: 2, maxAttempts: 5, visibilityMs: 30_000 },
    });
    for (const [text, said] of [
      ['[queues.mail]\nmodule = "demo"\n', "`queues.mail.path` is missing: [queues.mail] needs a `path`, a string"],
      [`[queues.mail]\n${queue}max_attemps = 3\n`, "did you mean `max_attempts`?"],
      ['[queues.mail]\nmodule = "demo"\npath = "jobs"\n', "`queues.mail.path` must begin with one /"],
      [`[queues."a.b"]\n${queue}`, "`a.b` is not a name for [queues]"],
      ["[queues]\nmail = 1\n", "`queues.mail` must be a table: [queues.mail]"],
    ] as const) {
      expect(() => parse(minimal + text), text).toThrow(said);
    }
    expect(() => parseConfig(minimal, "tenon.toml", { TENON_QUEUES_MAIL_PATH: "/" })).toThrow(
      /names nothing in \[queues\]/,
    );
  });

  test("reads a table for each cron job", () => {
    const job = 'schedule = "0 3 * * *"\nmodule = "demo"\npath = "/report?full=1"\n';
    expect(parse(`${minimal}[cron.nightly]\n${job}`).cron).toEqual({
      nightly: { schedule: "0 3 * * *", timezone: "UTC", module: "demo", path: "/report?full=1", catchUp: false },
    });
    const more = 'timezone = "Europe/Berlin"\nmethod = "PUT"\ncatch_up = true\n';
    const body = "[cron.a.body]\nfull = true\nof = [1, { b = 2.5 }]\n[cron.a.body.deep]\nx = 'y'\n";
    expect(parse(`${minimal}[cron.a]\n${job}${more}${body}`).cron["a"]).toMatchObject({
      timezone: "Europe/Berlin",
      method: "PUT",
      catchUp: true,
      body: { full: true, of: [1, { b: 2.5 }], deep: { x: "y" } },
    });
    expect(parse(`${minimal}[cron.a]\n${job}body = "a=b"\n`).cron["a"]?.body).toBe("a=b");
    for (const [text, said] of [
      [
        '[cron.a]\nmodule = "demo"\npath = "/"\n',
        "`cron.a.schedule` is missing: [cron.a] needs a `schedule`, a string",
      ],
      [`[cron.a]\n${job.replace("0 3", "60 3")}`, "`cron.a.schedule` must be a cron expression: five fields"],
      [`[cron.a]\n${job.replace("0 3 * *", "0 0 30 2")}`, "`cron.a.schedule` never fires"],
      [`[cron.a]\n${job}timezone = "Berlin"\n`, "`cron.a.timezone` must be an IANA name such as Europe/Berlin"],
      [`[cron.a]\n${job}method = "TRACE"\n`, "`cron.a.method` must be"],
      [`[cron.a]\n${job}body = [1]\n`, "`cron.a.body` must be a string, or a table of what JSON has"],
      [`[cron.a]\n${job}body = { at = 2026-03-01 }\n`, "`cron.a.body` must be a string, or a table"],
      [`[cron.a]\n${job}body = { n = inf }\n`, "`cron.a.body` must be a string, or a table"],
      [`[cron.a]\n${job}[[cron.a.body.list]]\nx = 1\n`, "`cron.a.body` must be a string, or a table"],
      [`[cron.a]\n${job}timezon = "UTC"\n`, "did you mean `timezone`?"],
      [`[cron.".."]\n${job}`, "`..` is not a name for [cron]"],
    ] as const) {
      expect(() => parse(minimal + text), text).toThrow(said);
    }
  });

  test("refuses a list of tables where there is none", () => {
    expect(() => parse(`${minimal}[[outbound.allow]]\nhost = "a.example"\n`)).toThrow("`outbound.allow` must be");
  });

  test("reads keys however TOML lets them be written", () => {
    const config = parse(`\ufeffproject = { name = "demo", version = "1.2.3" }
server.port = 0
server."host" = '::1'
sidecars.db = "unix:///run/db.sock"
[composition]
http_handler = false
bridge = "my-bridge.wasm"
[env]
GREETING = """
hi"""
"with space" = ""
`);
    expect(config).toMatchObject({
      project: { name: "demo", version: "1.2.3" },
      server: { port: 0, host: "::1" },
      composition: { httpHandler: false, bridge: "my-bridge.wasm" },
      sidecars: { db: "unix:///run/db.sock" },
      env: { GREETING: "hi", "with space": "" },
    });
  });

  test("a comment and an empty section are nothing", () => {
    expect(parse(`${minimal}[server] # port = "x"\n[env]\n`)).toEqual(parse(minimal));
  });
});

describe("a mistake is named with its place", () => {
  test.each([
    ["", "tenon.toml: `project.name` is missing: [project] needs a `name`, a string"],
    ["[project]\n", "tenon.toml:1:2: `project.name` is missing: [project] needs a `name`, a string"],
    ["[project]\nname = 3\n", "tenon.toml:2:8: `project.name` must be a string"],
    [
      '[project]\nname = "a"\nlocales = ["en", "en_US"]\n',
      'tenon.toml:3:11: `project.locales` has as entry 2 one that is not a language tag, such as "en" or "de-CH"',
    ],
    [
      '[project]\nname = "a"\nlocales = ["de-ch"]\n',
      'tenon.toml:3:11: `project.locales` has an entry that is not in its usual form without extensions, such as "de-CH"',
    ],
    [
      '[project]\nname = "a"\nlocales = []\n',
      "tenon.toml:3:11: `project.locales` is empty: name a locale, or leave it out",
    ],
    ['[project]\nname = "../up"\n', "tenon.toml:2:8: `project.name` cannot name a project: it must begin with"],
    ['project = 3\n[server]\nx = "', "tenon.toml:3:6: the string has no closing quote"],
    ["[[project]]\n", "tenon.toml:1:3: `project` must be a table: [project]"],
    [`${minimal}[server]\nport = 65536\n`, "tenon.toml:4:8: `server.port` must be a whole number from 0 to 65535"],
    [`${minimal}[server]\nport = 3000.5\n`, "tenon.toml:4:8: `server.port` must be a whole number from 0 to 65535"],
    [`${minimal}[server]\nport = 99999999999999999999\n`, "tenon.toml:4:8: `server.port` must be a whole number"],
    [`${minimal}[server]\nhost = ""\n`, "tenon.toml:4:8: `server.host` must not be empty"],
    [`${minimal}[server]\nprot = 1\n`, "tenon.toml:4:1: unknown key `prot` in [server]; did you mean `port`?"],
    [`${minimal}[server]\nzzzz = 1\n`, "tenon.toml:4:1: unknown key `zzzz` in [server]; known are host, port,"],
    [`${minimal}port = 1\n`, "tenon.toml:3:1: unknown key `port` in [project]; it is a key of [server]"],
    [`${minimal}server.port = 1\n`, "tenon.toml:3:1: `server` is a section of its own, [server], and not in [project]"],
    [`${minimal}[servers]\n`, "tenon.toml:3:2: unknown section `servers`; did you mean [server]?"],
    [
      "port = 3\n[project]\nname='a'",
      "tenon.toml:1:1: unknown key `port` outside the sections; it is a key of [server]",
    ],
    [
      "prot = 3\n[project]\nname='a'",
      "tenon.toml:1:1: unknown key `prot` outside the sections; did you mean `port` in [server]?",
    ],
    [
      "zzzz = 3\n[project]\nname='a'",
      "tenon.toml:1:1: unknown key `zzzz` outside the sections; known sections are project, ",
    ],
    ["projct = 3\n", "tenon.toml:1:1: unknown key `projct` outside the sections; did you mean [project]?"],
    [`${minimal}[port]\n`, "tenon.toml:3:2: unknown section `port`; `port` is a key of [server]"],
    [
      `${minimal}[composition]\nprot = 1\n`,
      "tenon.toml:4:1: unknown key `prot` in [composition]; did you mean `port` in [server]?",
    ],
    [
      `${minimal}[composition]\nhttp_handler = "yes"\n`,
      "tenon.toml:4:16: `composition.http_handler` must be true or false",
    ],
    [`${minimal}[sidecars]\ndb = 5\n`, "tenon.toml:4:6: `sidecars.db` must be an address, or a table with `run`"],
    [inProcess('run = "sqll", url = "env:A"'), "`sidecars.db` needs `run`, which must be"],
    [inProcess('run = "sql"'), "`sidecars.db` must have either `url` or `url_file`"],
    [inProcess('run = "sql", url = "env:A", url_file = "a"'), "`sidecars.db` must have either `url` or `url_file`"],
    [inProcess('run = "sql", ulr = "env:A"'), "`sidecars.db` has the unknown key `ulr`; did you mean `url`?"],
    [
      inProcess('run = "kv", url = "env:A", read_only = true'),
      "`sidecars.db` has the key `read_only`, which is for sql alone",
    ],
    [
      inProcess('run = "sql", url = "env:A", pool_size = 0'),
      "`sidecars.db` needs `pool_size` to be a whole number from 1 to 1000",
    ],
    [`${minimal}[sidecars]\ndb = "https://db"\n`, "tenon.toml:4:6: `sidecars.db` must be http://host:port or unix:"],
    [`${minimal}[sidecars]\n1db = "http://db"\n`, "tenon.toml:4:1: `1db` is not a name for [sidecars]: letters"],
    [
      `${minimal}[sidecars]\ndb-x = "http://a"\ndb_x = "http://b"\n`,
      "tenon.toml:5:1: `db-x` and `db_x` are both SIDECAR_DB_X_URL to the module; give one of them another name",
    ],
    [`${minimal}[env]\nA = ["b"]\n`, "tenon.toml:4:5: `env.A` must be a string"],
    [`${minimal}[env.A]\nb = "c"\n`, "tenon.toml:3:6: `env.A` must be a string"],
    [`${minimal}${minimal}`, "tenon.toml:3:"],
    // A missing end of a line is reported there, not where the parser stops looking for it.
    [`${minimal}[server]\nport =\nhost = "a"\n`, "tenon.toml:4:7: a value is missing\n  4 | port =\n"],
    [`${minimal}[server]\r\nport =\r\nhost = "a"\r\n`, "tenon.toml:4:7: a value is missing"],
    [`${minimal}[server\nport = 3\n`, "tenon.toml:3:8: the section's name has no closing ]"],
    [`${minimal}[server]\nport\n\n# the host\nhost = "a"\n`, "tenon.toml:4:5: "],
    [`${minimal}[server]\nport =\n\n# the end`, "tenon.toml:4:7: a value is missing"],
    [`${minimal}[outbound]\nallow = [\n  "a"\n[env]\n`, "tenon.toml:5:6: "],
    // An error within a line keeps its place.
    [`${minimal}[server]\n  = 3\n`, "tenon.toml:4:3: this does not belong here"],
    [`${minimal}[server]\n]\n`, "tenon.toml:4:1: this does not belong here"],
  ])("%j", (text, message) => {
    expect(refusal(() => parse(text))).toContain(message);
  });

  test("once, when a section is no table", () => {
    expect(refusal(() => parse("project = 1\n"))).not.toContain("missing");
  });

  test("without the line of what may be a password", () => {
    for (const line of [
      'db = "postgres://user:p4ss@db/shop"',
      'db = { run = "sql", url = "postgres://user:p4ss@db/shop" }',
      'db = { run = "sql", url = "postgres://user@db/shop?password=p4ss" }',
      'db = { run = "sql", url = "postgres://user:p4ss@db/shop }',
    ]) {
      const message = refusal(() => parse(`${minimal}[sidecars]\n${line}\n`));
      expect(message).toMatch(/^tenon\.toml:4:\d+: /);
      expect(message).not.toContain("p4ss");
    }
  });

  test("with what a store in place of a sidecar's address has to be", () => {
    const message = refusal(() => parse(`${minimal}[sidecars]\ndb = "postgres://db/shop"\n`));
    expect(message).toContain('for this store itself write { run = "sql", url = "env:NAME" }');
  });

  test("with the line itself", () => {
    expect(refusal(() => parse(`${minimal}[server]\n  prot = 1 # here\n`))).toBe(
      "tenon.toml:4:3: unknown key `prot` in [server]; did you mean `port`?\n  4 |   prot = 1 # here\n    |   ^^^^",
    );
  });

  test("all of them at once, in the order of the file", () => {
    const message = refusal(() => parse('[server]\nport = "x"\n[project]\nnaem = "demo"\nversion = 1\n'));
    expect(message.match(/^tenon\.toml:\d+:\d+/gm)).toEqual([
      "tenon.toml:2:8",
      "tenon.toml:3:2",
      "tenon.toml:4:1",
      "tenon.toml:5:11",
    ]);
  });
});

describe("the environment wins over the file", () => {
  test("for every kind of key", () => {
    const environment = {
      TENON_PROJECT_VERSION: "9.9.9",
      TENON_SERVER_PORT: "8080",
      TENON_SERVER_MAX_BODY_BYTES: "1024",
      TENON_COMPOSITION_HTTP_HANDLER: "false",
      TENON_OUTBOUND_ALLOW: " , ",
      TENON_SIDECARS_DB: "http://db:5432",
      TENON_ENV_Greeting: "hi",
      TENON_CACHE_DIR: "/elsewhere",
      PORT: "1",
    };
    expect(
      parseConfig(`${minimal}[server]\nport = 1\n[sidecars]\ndb = "unix:///a"\n`, "tenon.toml", environment),
    ).toMatchObject({
      project: { name: "demo", version: "9.9.9" },
      server: { ...server, port: 8080, maxBodyBytes: 1024 },
      composition: { httpHandler: false },
      outbound: { allow: [] },
      sidecars: { db: "http://db:5432" },
      env: { Greeting: "hi" },
    });
  });

  test("for a sidecar whose name is no variable's", () => {
    const file = `${minimal}[sidecars]\nmy-db = "unix:///a"\nCache = "unix:///b"\n`;
    const environment = { TENON_SIDECARS_MY_DB: "http://db", TENON_SIDECARS_CACHE: "http://cache" };
    const { sidecars } = parseConfig(file, "tenon.toml", environment);
    expect(sidecars).toEqual({ "my-db": "http://db", Cache: "http://cache" });
  });

  test("outside a project too", () => {
    expect(defaultConfig({ TENON_SERVER_PORT: "81" })).toEqual({
      ...parse(minimal),
      project: { name: "", version: "0.0.0" },
      server: expect.objectContaining({ ...server, port: 81 }),
    });
  });

  test.each([
    ["TENON_SERVER_PORT", "tcp://10.0.0.1:80", "TENON_SERVER_PORT must be a whole number from 0 to 65535"],
    ["TENON_SERVER_PORT", "", "TENON_SERVER_PORT must be a whole number from 0 to 65535"],
    ["TENON_SERVER_PROT", "1", "TENON_SERVER_PROT is not a key of [server]; did you mean TENON_SERVER_PORT?"],
    ["TENON_SERVER_ISOLATION", "none", 'TENON_SERVER_ISOLATION must be "request"'],
    ["TENON_COMPOSITION_HTTP_HANDLER", "yes", "TENON_COMPOSITION_HTTP_HANDLER must be true or false"],
    ["TENON_SIDECARS_DB", "postgres://user:secret@db", "TENON_SIDECARS_DB must be http://host:port or unix:"],
    ["TENON_SIDECARS_", "http://db", "TENON_SIDECARS_ names nothing in [sidecars]"],
  ])("%s=%s is refused, and not repeated", (variable, value, message) => {
    const said = refusal(() => parseConfig(minimal, "tenon.toml", { [variable]: value }));
    expect(said).toContain(`the environment variable ${message}`);
    if (value.includes(":")) expect(said).not.toContain(value);
  });
});

test("[modules.<name>] has keys and sections of its own, and one that is left out has no value", () => {
  const { modules } = parse(`${minimal}
[modules.shop]
source = "oci://registry.example/team/shop:1.0"
mount = "/shop"
max_body_bytes = 5
[modules.shop.env]
[modules.shop.outbound]
allow = ["api.example"]
[modules."a.b"]
sidecars = { db = "unix:///run/db.sock" }
`);
  expect(modules).toEqual({
    shop: {
      source: "oci://registry.example/team/shop:1.0",
      mount: "/shop",
      maxBodyBytes: 5,
      env: {},
      outbound: { allow: ["api.example"] },
    },
    "a.b": { sidecars: { db: "unix:///run/db.sock" } },
  });
});

test("an endpoint for traces that is not a URL is told with its line", () => {
  const wrong = (endpoint: string) => refusal(() => parse(`${minimal}[server]\notlp_endpoint = "${endpoint}"\n`));
  for (const endpoint of ["collector:4318", "ftp://collector", "http://", "http://collector/?key=1"])
    expect(wrong(endpoint), endpoint).toContain(
      "tenon.toml:4:17: `server.otlp_endpoint` must be a URL such as http://collector:4318",
    );
  for (const endpoint of ["http://collector:4318", "https://[::1]:4318/otlp"])
    expect(parse(`${minimal}[server]\notlp_endpoint = "${endpoint}"\n`).server.otlpEndpoint).toBe(endpoint);
});

test("mistakes in [modules.<name>] are told with their place, and without the texts of secrets", () => {
  const wrong = (line: string) => refusal(() => parse(`${minimal}[modules.shop]\n${line}\n`));
  for (const [line, message] of [
    ['mount = "shop"', "tenon.toml:4:9: `modules.shop.mount` must be / or a path such as /shop"],
    ['mount = "/run/x"', "`modules.shop.mount` is not free: /run is the server's own"],
    ['host = "a:80"', "`modules.shop.host` must be a host name such as shop.example"],
    ['source = "oci://x"', "`modules.shop.source` is not a reference"],
    ["max_queued = 1", "unknown key `max_queued` in [modules.shop]; it is a key of [server]"],
    ["weight = 2", "unknown key `weight` in [modules.shop]; it is a key of [modules.shop.budget]"],
    ['allow = ["a"]', "unknown key `allow` in [modules.shop]; it is a key of [modules.shop.outbound]"],
    ['isolaton = "shared"', "did you mean `isolation`?"],
    ['outbund = { allow = ["a"] }', "did you mean `outbound`?"],
    ["request_timeout_ms = 0", "`modules.shop.request_timeout_ms` must be a whole number from 1 to 3600000"],
    ["env = 3", "`modules.shop.env` must be a table: [modules.shop.env]"],
    ['sidecars = { db = "db" }', "`modules.shop.sidecars.db` must be http://host:port or unix:///path/to.sock"],
    ['outbound = { allow = ["a/b"] }', "`modules.shop.outbound.allow` has an entry that is not a host"],
  ] as const) {
    expect(wrong(line), line).toContain(message);
  }
  for (const line of [
    'secrets = { KEY = "canary" }',
    'secrets.KEY = "canary"',
    "secrets = { KEY = canary }",
    "env.KEY = canary",
    '[modules.shop.secrets]\nKEY = "canary"',
    "[modules.shop.secrets]\nKEY = canary",
    "[modules.shop.env]\nKEY = canary",
  ]) {
    const message = wrong(line);
    expect(message, line).toContain("tenon.toml:");
    expect(message, line).not.toContain("canary");
  }
});
