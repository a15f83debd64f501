// Http11Probe (github.com/MDA2AV/Http11Probe): well-formed and hostile requests, with a validator each. csharp.mjs
// evaluates the cases, which are C#. This file sends and reads like the suite's own client.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { load } from "../csharp.mjs";
import { Connection } from "../raw.mjs";
import { prefix, start } from "../server.mjs";

/** The suite's own timeouts: for an answer, for its body, and for the connection's end after it. */
const READ_TIMEOUT = 5_000;
const DRAIN = 100;
const CLOSE = 50;

/** Maximum number of concurrent cases. */
const WIDTH = 8;

const verdicts = { Pass: "pass", Warn: "warn", Fail: "fail", Error: "fail", Skip: "skip" };

export async function* run(checkout, only) {
  const folder = join(checkout, "src/Http11Probe/TestCases/Suites");
  const cases = readdirSync(folder)
    .filter((file) => file.endsWith(".cs"))
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), "utf8").replace(/^\uFEFF/, "");
      const suite = load(source, belowPrefix);
      return [...(suite.GetTestCases?.() ?? []), ...(suite.GetSequenceTestCases?.() ?? [])];
    })
    .filter(({ Id }) => Id.includes(only));
  const server = await start();
  try {
    for (let at = 0; at < cases.length; at += WIDTH) {
      yield* await Promise.all(cases.slice(at, at + WIDTH).map((each) => check(server, each)));
    }
  } finally {
    await server.stop();
  }
}

/** Adds the fixture's prefix to the path `/` of the cases. */
function belowPrefix(text) {
  return text
    .replace(/((?:^|[^A-Za-z])[A-Z]{3,7} )\/(?=[ a-z?#])/g, `$1${prefix}/`)
    .replace(/^( ?)\/ HTTP/, `$1${prefix}/ HTTP`)
    .replace(/^get \/ /, `get ${prefix}/ `)
    .replace(/(http:\/\/[a-z.]+)\/ HTTP/, `$1${prefix}/ HTTP`);
}

async function check(server, each) {
  const context = { Host: server.host, Port: server.port, HostHeader: `${server.host}:${server.port}` };
  const connection = await Connection.open(server.host, server.port);
  try {
    const { verdict, note } =
      each.Steps === undefined ? await single(connection, context, each) : await sequence(connection, context, each);
    const kind = each.Scored === false ? "not scored" : (each.RfcLevel ?? "Must");
    return { id: each.Id, verdict: verdicts[verdict], note: `[${kind}] ${each.Description}: ${note}` };
  } finally {
    connection.close();
  }
}

async function single(connection, context, { PayloadFactory, Expected }) {
  connection.send(Uint8Array.from(PayloadFactory(context)));
  const { response, state } = await read(connection);
  return { verdict: expected(Expected, response, state), note: `${response?.StatusCode ?? "no answer"}, ${state}` };
}

async function sequence(connection, context, { Steps, Validator }) {
  const results = [];
  let state = "Open";
  for (const { Label, PayloadFactory, DynamicPayloadFactory, SendPartsFactory } of Steps) {
    if (SendPartsFactory !== undefined) throw new Error("a step of several parts is not supported");
    if (state !== "Open") {
      results.push({ Label: Label ?? "", Executed: false, Response: null, ConnectionState: state });
      continue;
    }
    const payload = DynamicPayloadFactory?.(context, results) ?? PayloadFactory(context);
    connection.clear();
    connection.send(Uint8Array.from(payload));
    const result = await read(connection);
    state = result.state;
    results.push({ Label: Label ?? "", Executed: true, Response: result.response, ConnectionState: state });
  }
  const note = results.map((step) => `${step.Response?.StatusCode ?? "-"} ${step.ConnectionState}`).join("; ");
  return { verdict: Validator(results), note };
}

async function read(connection) {
  const isWhole = await connection.until((text) => text.includes("\r\n\r\n"), READ_TIMEOUT);
  if (!isWhole) {
    return { response: parse(connection.received), state: connection.closed ? "ClosedByServer" : "TimedOut" };
  }
  await delay(DRAIN);
  const response = parse(connection.received);
  await delay(CLOSE);
  return { response, state: connection.closed ? "ClosedByServer" : "Open" };
}

/** Parses the head of an answer and the rest like the suite's own parser. */
function parse(text) {
  const [, version, status, reason] = /^(\S+) (\d+) ?([^\r\n]*)\r?\n/.exec(text) ?? [];
  if (status === undefined) return null;
  const end = text.indexOf("\r\n\r\n");
  const headers = new Headers(text.slice(text.indexOf("\n") + 1, end < 0 ? undefined : end).split("\n"));
  const body = end >= 0 && end + 4 < text.length ? text.slice(end + 4, end + 4 + 4096) : null;
  return {
    StatusCode: Number(status),
    ReasonPhrase: reason,
    HttpVersion: version,
    Headers: headers,
    IsEmpty: false,
    RawResponse: text,
    Body: body,
  };
}

/** Headers by case-insensitive name; repeated ones are joined. */
class Headers extends Map {
  constructor(lines) {
    super();
    for (const line of lines) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      this.set(name, this.has(name) ? `${this.get(name)}, ${value}` : value);
    }
  }

  set(name, value) {
    return super.set(name.toLowerCase(), value);
  }

  get(name) {
    return super.get(name.toLowerCase());
  }

  has(name) {
    return super.has(name.toLowerCase());
  }
}

function expected({ CustomValidator, ExpectedConnectionState, AllowConnectionClose, ExpectedStatus }, response, state) {
  if (CustomValidator !== undefined) return CustomValidator(response, state);
  if (ExpectedConnectionState !== undefined && state === ExpectedConnectionState) return "Pass";
  if (response === null) return AllowConnectionClose === true ? "Pass" : "Fail";
  return ExpectedStatus?.Contains(response.StatusCode) ? "Pass" : "Fail";
}
