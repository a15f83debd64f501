/**
 * Every key of `tenon.toml`, once. From this table come the parser with its errors, the overrides by environment variables,
 * the JSON Schema for editors and `docs/configuration.md`; a new key is one entry here.
 */

import { sidecarKindNames, sidecarOptionKeys } from "../../embed/sidecar-kinds.ts";
import { limits, type ModuleLimit } from "../../limits.ts";
import { projectNameProblem, projectNameRule } from "../name.ts";
import {
  collectorProblem,
  collectorRule,
  listenProblem,
  listenRule,
  outboundProblem,
  outboundRule,
  proxiesProblem,
  proxiesRule,
  sidecarNamesProblem,
  socketProblem,
  socketRule,
} from "./addresses.ts";
import { allowanceProblem, allowanceRule, type BudgetPart } from "./budgets.ts";
import { entryProblem, entryRule } from "./entry.ts";
import { sidecarValue, sidecarValueProblem } from "./in-process.ts";
import { type ConfigOf, type Key, open, optional, required, section, tables, withDefault } from "./key.ts";
import { flag, oneOf, share, text, textList, textOrTable, wholeNumber } from "./kinds.ts";
import { localesProblem } from "./locales.ts";
import { headerProblem, headerRule, maskProblem, maskRule } from "./masks.ts";
import { hostProblem, hostRule, mountProblem, mountRule, sourceProblem } from "./mounts.ts";
import { pathProblem, pathRule, scheduleProblem, timezoneProblem } from "./schedules.ts";
import { secretProblem, secretSource } from "./secret-sources.ts";

const sidecarNames = {
  placeholder: "name",
  pattern: /^[A-Za-z][A-Za-z0-9_-]*$/,
  description: "letters, digits, _ and -, a letter first",
  together: sidecarNamesProblem,
};

/** `a`, `b` or `c`, as code. */
const listed = (names: readonly string[], word = "or") => {
  const quoted = names.map((name) => `\`${name}\``);
  return `${quoted.slice(0, -1).join(", ")} ${word} ${quoted.at(-1)}`;
};

const sidecarPlace = optional(
  sidecarValue,
  "Its address: `unix:///path/to.sock` or `http://host:port`. Credentials stay in the sidecar. " +
    'A table such as `{ run = "sql", url = "env:DATABASE_URL" }` makes the server serve the store in its own process. `run` is ' +
    `${listed(sidecarKindNames)}. ` +
    "`url` is the URL of the store, or `env:` and the variable that has it; `url_file` is a file " +
    "that has it. The other keys are options of `tenon sidecar`: " +
    `${listed(sidecarOptionKeys, "and")}.`,
  { problem: sidecarValueProblem, rule: {}, hidden: (value) => typeof value !== "string" || value.includes("@") },
);

const outboundHosts = withDefault(
  textList,
  [],
  "Hosts that modules may call: `host`, `host:port`, or either behind `http://` or `https://`. Without a port the " +
    "usual one is meant. A name that resolves to a private or loopback address is refused, unless that address is in " +
    "the list as well, with the port that is called.",
  { problem: outboundProblem, rule: outboundRule },
);

const secretNames = {
  placeholder: "NAME",
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  description: "letters, digits and _, no digit first",
};

const secretPlace = optional(
  text,
  "`env:NAME` is a variable of the server's environment, or in `tenon dev` of the file `.env` beside this one; " +
    "`file:/path` is a file, relative to the project's folder, without the line break at its end.",
  { problem: secretProblem, rule: { pattern: secretSource.source }, hidden: true },
);

const variableNames = {
  placeholder: "NAME",
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL ends a name for the module
  pattern: /^[^=\u0000]+$/,
  description: "any text without =",
};

const variableValue = optional(text, "The variable's value.");

export const sections = {
  project: section("The component that this folder makes.", {
    name: required(text, "The project's name. It names the files in `dist/` and the module in URLs: `/run/<name>/`.", {
      problem: projectNameProblem,
      rule: projectNameRule,
    }),
    version: withDefault(text, "0.0.0", "The project's version."),
    entry: optional(
      text,
      "The handler module, relative to this file; `src/handler.ts` when left out. Its default export is the result of `routes()`, or " +
        "an object with `fetch(request)`, such as an app of Hono.",
      { problem: entryProblem, rule: entryRule },
    ),
    locales: optional(
      textList,
      'The locales that `Intl`, `toLocaleString` and their like format for, as language tags: `["en", "de-CH"]`. The first ' +
        "one is the default. The build adds formatjs's classes with the data of these locales, where the handler uses them.",
      { problem: localesProblem, rule: {} },
    ),
  }),
  server: section("How `tenon run` and `tenon dev` serve.", {
    host: withDefault(
      text,
      "127.0.0.1",
      "The address to listen on. `0.0.0.0` and `::` let other machines in. `--host` wins over it.",
      { problem: (value) => (value === "" ? "must not be empty" : undefined), rule: { minLength: 1 } },
    ),
    port: withDefault(
      wholeNumber(0, 65_535),
      3000,
      "The port to listen on; 0 takes a free one. `--port` wins over it.",
    ),
    isolation: withDefault(
      oneOf("request", "shared"),
      "request",
      "How requests use instances of the component. `request` gives each request an instance of its own. `shared` reuses " +
        "instances, one request after another, which is faster, but a request may see the leftovers of earlier ones in memory.",
    ),
    trust_compiled: withDefault(
      flag,
      false,
      "Loads files that `tenon compile` wrote (`.cwasm`). They are machine code, which no sandbox bounds. Say `true` only if you " +
        "have compiled each of them, and nobody else can write to them.",
    ),
    access_log: withDefault(flag, false, "Logs a line for each request."),
    log_format: withDefault(
      oneOf("readable", "json"),
      "readable",
      "The format of log lines: for people, or one JSON object each.",
    ),
    otlp_endpoint: optional(
      text,
      "The OpenTelemetry collector for traces, one span for each request: `http://host:port` or `https://host:port`. It must " +
        "accept OTLP over HTTP. Without it, no traces are sent.",
      { problem: collectorProblem, rule: collectorRule },
    ),
    trusted_proxies: withDefault(
      textList,
      [],
      "The proxies in front of the server: addresses such as `10.0.0.7`, and networks such as `10.0.0.0/8`. The server trusts " +
        "their `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix`, and the handler reads the values in `req.ip`, `req.url` and " +
        "`req.base`. The server ignores these headers from any other client.",
      { problem: proxiesProblem, rule: proxiesRule },
    ),
    metrics_address: optional(
      text,
      "An address of its own for `/metrics`, such as `0.0.0.0:9090`. It answers `/metrics`, `/health` and `/ready` alone, without " +
        "TLS. The server's other address then answers 404 for `/metrics`.",
      { problem: listenProblem, rule: listenRule },
    ),
    admin: optional(
      text,
      "A Unix socket for `tenon ctl`: `unix:///path/to.sock`. Only the user of the server can connect to it.",
      { problem: socketProblem, rule: socketRule },
    ),
    refresh_ms: withDefault(
      wholeNumber(0, 86_400_000),
      0,
      "In milliseconds: the time after which the tags of `oci://` references are looked up again. A tag that leads to another " +
        "component replaces the module without a dropped request. 0 never looks.",
    ),
    verify_key: optional(
      text,
      "The file of a public key in PEM, such as `cosign.pub`, relative to the project's folder. A component from a registry is " +
        "served only when it has a signature by this key (`tenon publish --sign-key`, or cosign). Files are not checked.",
    ),
    tls_certificate: optional(
      text,
      "A certificate with its chain, in PEM, relative to the project's folder. With `tls_key` it serves HTTPS.",
    ),
    tls_key: optional(text, "The certificate's private key, in PEM, relative to the project's folder."),
    ...limitKeys(),
  }),
  composition: section("Composing with the bridge, so that every `wasi:http` server can run the component.", {
    http_handler: withDefault(
      flag,
      true,
      "Lets `tenon build --compose` compose the project with the bridge. With `false` that option is an error. Use it " +
        "for components that only Tenon's runtime serves, or that other tools compose.",
    ),
    bridge: optional(
      text,
      "A bridge of your own, relative to the project's folder, instead of the one inside Tenon's package.",
    ),
  }),
  sidecars: open(
    "The services that the module may call. Each is in its environment as `SIDECAR_<NAME>_URL`. `tenon dev` brings `db`, " +
      "`cache`, `storage` and `queue` of its own where none is named here.",
    sidecarNames,
    sidecarPlace,
  ),
  queues: tables(
    "A queue of the sidecar `queue`, whose messages a route of a module handles. The route gets each message as a `POST` with " +
      "`{ id, body, key, attempts, sent_at }`. An answer from 200 to 299 means that the message is done. After any other answer, " +
      "or none, it is delivered again later. In the end it moves to the queue `<name>.dead`.",
    { placeholder: "name", pattern: /^[A-Za-z0-9_-]{1,64}$/, description: "1 to 64 letters, digits, _ and -" },
    {
      module: required(text, "The module, by its name in URLs."),
      path: required(text, "The path of the route, such as `/jobs/mail`.", { problem: pathProblem, rule: pathRule }),
      concurrency: withDefault(wholeNumber(1, 1000), 10, "The number of messages that are handled at the same time."),
      max_attempts: withDefault(
        wholeNumber(1, 1000),
        5,
        "The number of deliveries before a message moves to the dead letters.",
      ),
      visibility_ms: withDefault(
        wholeNumber(1000, 12 * 3600 * 1000),
        30_000,
        "In milliseconds: the time for which a delivered message is hidden from others. Set it above the duration of the route, " +
          "because a message that is not done by then is delivered again.",
      ),
    },
  ),
  cron: tables(
    "A job that calls a route of a module by a schedule. `tenon dev` runs it by itself. `tenon run` needs the sidecar `cron` for " +
      "it. An answer from 200 to 299 means that the run is done. After any other answer, or none, it is tried again, three times " +
      "in all.",
    {
      placeholder: "name",
      pattern: /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/,
      description: "1 to 64 letters, digits, _, - and ., and neither . nor ..",
    },
    {
      schedule: required(
        text,
        "The schedule: five fields (minute, hour, day, month, weekday), or six with seconds in front, or `@hourly` and its like.",
        { problem: scheduleProblem, rule: {} },
      ),
      timezone: withDefault(text, "UTC", "The time zone of the schedule: an IANA name such as `Europe/Berlin`.", {
        problem: timezoneProblem,
        rule: {},
      }),
      module: required(text, "The module, by its name in URLs."),
      path: required(text, "The path of the route, such as `/jobs/report`.", { problem: pathProblem, rule: pathRule }),
      method: optional(
        oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
        "The method. The default is `GET`, or `POST` if there is a `body`.",
      ),
      body: optional(textOrTable, "The body: a string is sent as text, a table as JSON. `GET` and `HEAD` have none."),
      catch_up: withDefault(
        flag,
        false,
        "Runs the latest missed time once, as soon as a process takes runs again. With `false`, a run that is more than 60 seconds " +
          "late is skipped.",
      ),
    },
  ),
  record: section(
    "Recordings of requests, which `tenon replay` runs again ([Replay](replay.md)). Without a folder nothing is recorded. Modules " +
      'with `isolation = "shared"` and components of other tools are not recorded.',
    {
      folder: optional(
        text,
        "The folder of recordings, relative to the project's folder. Only the user of the server may read it.",
        { problem: (value) => (value === "" ? "must not be empty" : undefined), rule: { minLength: 1 } },
      ),
      share: withDefault(share, 0, "The share of all requests that is recorded: `0.01` is every hundredth."),
      failures: withDefault(flag, true, "Records requests that failed: those with the status 500 or 504, and traps."),
      slow_ms: optional(wholeNumber(1, 86_400_000), "In milliseconds: records requests that took as long."),
      header: optional(
        text,
        "A header by which a proxy of `trusted_proxies` asks for a recording, such as `x-record`. From other clients it is ignored.",
        { problem: headerProblem, rule: headerRule },
      ),
      max_bytes: withDefault(
        wholeNumber(1_048_576, 2 ** 50),
        1_073_741_824,
        "In bytes: the size of all recordings together. The oldest are removed.",
      ),
      max_age_ms: optional(
        wholeNumber(1_000, 2 ** 50),
        "In milliseconds: recordings that are older are removed when another one is written.",
      ),
      mask: withDefault(
        textList,
        [],
        'Headers by their names, members of JSON bodies by their pointers, and query parameters, as in `["x-api-key", "#/card/number", ' +
          '"?token"]`. Their values ' +
          "are replaced by placeholders of the same length and kind. `authorization`, `cookie`, `set-cookie`, `proxy-authorization`, " +
          "`[secrets]` and the tokens of sidecars are masked in any case.",
        { problem: maskProblem, rule: maskRule },
      ),
    },
  ),
  outbound: section("The hosts that modules may call besides the sidecars.", { allow: outboundHosts }),
  secrets: open(
    "Secrets of the module, read with `secret(name)`. Their values are not in this file: it says where the server finds them.",
    secretNames,
    secretPlace,
  ),
  env: open(
    "Environment variables of the module, read with `env(name)`. Nothing of the server's own environment is added. This is no " +
      "place for secrets; those are in `[secrets]`, or stay in a sidecar.",
    variableNames,
    variableValue,
  ),
  modules: tables(
    "The policy of one module: the services and hosts that it may reach, its limits, and where it is served besides " +
      "`/run/<name>/`. A module takes a part that is left out from the server (`[env]`, `[secrets]`, `[sidecars]`, " +
      "`[outbound]`, `[server]`). A part that is given takes the place of the server's as a whole: nothing is merged.",
    {
      placeholder: "name",
      pattern: /^(?!\.{1,2}$)[A-Za-z0-9._~-]+$/,
      description: "letters, digits, -, ., _ and ~, and neither . nor ..",
    },
    {
      source: optional(
        text,
        "The component: a file, relative to the project's folder, or `oci://registry/repository:tag` or " +
          "`oci://registry/repository@sha256:…`. Without it the name is that of the project or of a file in `modules/`.",
        { problem: sourceProblem, rule: { minLength: 1 } },
      ),
      mount: optional(
        text,
        "The path below which it is served: `/shop`, or `/`. Of two that fit a path the longer one counts. The handler sees the " +
          "path behind it, and the mount in `req.base`. `/run`, `/health`, `/ready` and `/metrics` stay the server's.",
        { problem: mountProblem, rule: mountRule },
      ),
      host: optional(
        text,
        "The host name for which it is served, such as `shop.example`: exact, in capitals or not, whatever the port. Without a " +
          "`mount` that is at `/`. It counts before a mount without a host.",
        { problem: hostProblem, rule: hostRule },
      ),
      refresh_ms: optional(
        wholeNumber(0, 86_400_000),
        "As `refresh_ms` in `[server]`, for this module. The shortest time counts for all tags.",
      ),
      verify_key: optional(text, "As `verify_key` in `[server]`, for this module."),
      isolation: optional(oneOf("request", "shared"), "As `isolation` in `[server]`, for this module."),
      ...moduleLimitKeys(),
    },
    {
      env: open("Its environment variables, in the place of `[env]`.", variableNames, variableValue),
      secrets: open("Its secrets, in the place of `[secrets]`.", secretNames, secretPlace),
      sidecars: open("Its sidecars, in the place of `[sidecars]`.", sidecarNames, sidecarPlace),
      outbound: section("The hosts that it may call, in the place of `[outbound]`.", { allow: outboundHosts }),
      budget: section(
        "Bounds of the use of its requests together: amounts for a `second`, `minute`, `hour` or `day`. While one of them is spent, further " +
          "requests are refused with `Retry-After`; those that run go on, and are charged. Time is divided into windows of the period, " +
          "from the start of the server. Use beyond the amount is taken off the next windows. A part that is left out has no bound.",
        {
          cpu: allowance("cpu", "Processor time, in `ms`, `s`, `min` or `h`: `10 s / minute`."),
          calls: allowance("calls", "Outbound calls, refused ones among them: `1000 / minute`."),
          bytes_out: allowance(
            "bytes_out",
            "Bytes of responses and of the bodies of outbound calls, in `B`, `KiB`, `MiB`, `GiB` or `TiB`: `1 GiB / hour`.",
          ),
          memory: allowance(
            "memory",
            "Memory of running requests, times the time for which they run: `100 GiB s / hour` is 100 requests of 1 GiB for a second " +
              "each.",
          ),
          when_spent: withDefault(oneOf("429", "503"), "429", "The status of the answer while a part is spent."),
          weight: optional(
            wholeNumber(1, 1000),
            "Its share of the processors while other modules compute as well: 2 is twice that of a module with 1, the default.",
          ),
        },
      ),
    },
  ),
};

/** Each key's value under its name in camel case; sections of the user's own names as records. */
export type Config = ConfigOf<typeof sections>;

/** A part of a budget. */
function allowance(part: BudgetPart, docs: string): Key<string, "optional"> {
  return optional(text, docs, { problem: allowanceProblem(part), rule: allowanceRule(part) });
}

/** The limits that a module may have values of its own for, and how many of its requests run at once. */
function moduleLimitKeys(): { readonly [N in ModuleLimit | "max_concurrent"]: Key<number, "optional"> } {
  const { min, max } = limits.max_concurrent;
  const concurrent =
    "Running requests of this module, at most the server's value. Further ones wait in this module's share of the queue, so " +
    "that other modules keep theirs.";
  const keys = Object.entries(limits).flatMap(([name, { min, max, ofModule }]) => {
    if (!ofModule) return [];
    const bound = name === "max_body_bytes" || name === "max_response_bytes" ? " At most the server's." : "";
    return [[name, optional(wholeNumber(min, max), `As \`${name}\` in \`[server]\`, for this module.${bound}`)]];
  });
  return Object.fromEntries([["max_concurrent", optional(wholeNumber(min, max), concurrent)], ...keys]);
}

/** The limits of the runtime, whose table is in Rust; see `limits.ts`. */
function limitKeys(): { readonly [N in keyof typeof limits]: Key<number, "default"> } {
  const keys = Object.entries(limits).map(([name, { min, max, default: value, meaning }]) => {
    const unit = name.endsWith("_ms") ? "In milliseconds: " : name.endsWith("_bytes") ? "In bytes: " : "";
    const docs = unit === "" ? meaning : `${unit}${meaning.charAt(0).toLowerCase()}${meaning.slice(1)}`;
    return [name, withDefault(wholeNumber(min, max), value, docs)];
  });
  return Object.fromEntries(keys) as { readonly [N in keyof typeof limits]: Key<number, "default"> };
}
