// llhttp's fixtures (github.com/nodejs/llhttp, test/request): requests, and the events of Node's parser for them.
//
// The server must accept the same requests as that parser. It answers as many requests as the parser completes, with
// the same bodies. It answers a request that the parser refuses with 400, or closes the connection. Only fixtures of
// the strict parser run. Those of HTTP/1.1 get a `Host`, which the parser does not require; paths get the fixture's
// prefix.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { exchange } from "../raw.mjs";
import { prefix, start } from "../server.mjs";

export async function* run(checkout, only) {
  const folder = join(checkout, "test/request");
  const server = await start();
  try {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".md"))) {
      for (const each of fixtures(readFileSync(join(folder, file), "utf8"))) {
        const id = `${file.slice(0, -3)}: ${each.title}`;
        if (!id.includes(only)) continue;
        const why = leftOut(each);
        yield why === undefined ? { id, ...(await check(server, each)) } : { id, verdict: "skip", note: why };
      }
    }
  } finally {
    await server.stop();
  }
}

/** Lists the fixtures of a file: title, metadata, input and events. */
function* fixtures(markdown) {
  const pattern = /<!-- meta=(\{.*?\}) ?-->\s*```http\n([\s\S]*?)```[\s\S]*?```log\n([\s\S]*?)```/g;
  const titles = new Map();
  for (const match of markdown.matchAll(pattern)) {
    const before = markdown.slice(0, match.index);
    const headings = [...before.matchAll(/^#+ (.*)$/gm)];
    const heading = headings.at(-1)?.[1] ?? "untitled";
    const count = (titles.get(heading) ?? 0) + 1;
    titles.set(heading, count);
    yield {
      title: count === 1 ? heading : `${heading} (${count})`,
      meta: JSON.parse(match[1]),
      input: unescaped(match[2]),
      events: match[3].split("\n").filter((line) => line !== ""),
    };
  }
}

/** Replaces escapes in an input like the suite's own reader. */
function unescaped(text) {
  return text
    .replace(/\n$/, "")
    .replace(/\\(\r\n|\r|\n)/g, "")
    .replace(/\r\n|\r|\n/g, "\r\n")
    .replace(/\\r/g, "\r")
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\f/g, "\f")
    .replace(/\\x([0-9a-fA-F]+)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\([0-7]{1,3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)))
    .replace(/\$\{(.+?)\}/g, (_, code) => String(runInNewContext(code)));
}

function leftOut({ meta, events }) {
  if (meta.type === "request-finish") return "it tests the end of a stream, which a server answers by closing";
  if (meta.type !== "request") return "it is for a lenient parser";
  if (events.some((event) => event.includes("PRI/Upgrade"))) return "it is the preface of HTTP/2, which is supported";
  if (meta.pause !== undefined || meta.skipBody) return "it tests the parser's own interface";
  return events.some((event) => event.startsWith("/")) ? "its events are patterns" : undefined;
}

async function check(server, { input, events }) {
  const { bytes, bodies, refuses, pauses } = expectation(input, events);
  const { answers, closed } = await exchange(server, bytes);
  const accepted = answers.filter(({ status }) => status !== 400);
  const note = `${answers.map(({ status }) => status).join(" ")} ${closed ? "closed" : "open"}, ${bodies.length} whole, ${
    refuses ?? "no error"
  }`;
  if (pauses ? accepted.length < bodies.length : accepted.length !== bodies.length) return { verdict: "fail", note };
  for (const [i, { status, body }] of accepted.entries()) {
    if (status === 200 && (bodies[i] ?? "") !== "" && body !== bodies[i])
      return { verdict: "fail", note: `${note}: ${body}` };
  }
  // After an error nothing more is served; otherwise the parser waits for more.
  if (refuses !== undefined && !closed) return { verdict: "fail", note };
  if (refuses === undefined && !pauses && accepted.length < answers.length) return { verdict: "fail", note };
  return { verdict: "pass", note };
}

/** Returns the bytes to send, and the parser's result: the bodies of complete requests, and its error if any. */
function expectation(input, events) {
  const bodies = [];
  const inserts = [];
  let refuses;
  let pauses = false;
  let body = "";
  let version = "";
  let lineEnd = 0;
  let hosts = 0;
  const endHead = () => {
    if (hosts === 0 && version === "1.1") inserts.push([lineEnd, "Host: x\r\n"]);
    hosts = 0;
    version = "";
  };
  for (const event of events) {
    const [, offset, what, name, value] = /^off=(\d+) (?:len=\d+ )?(span\[(\w+)\]="(.*)"|.*)$/.exec(event) ?? [];
    const at = Number(offset);
    if (name === "url" && value.startsWith("/") && body === "") inserts.push([at, prefix]);
    else if (name === "version") version = value;
    else if (name === "header_field" && /^host$/i.test(value)) hosts++;
    else if (name === "body") body += value.replaceAll("\\r", "\r").replaceAll("\\n", "\n");
    else if (what === "version complete") lineEnd = at + 2;
    else if (what.startsWith("headers complete")) endHead();
    else if (what.startsWith("message complete")) {
      bodies.push(body);
      body = "";
    } else if (/^error code=2[1-4] /.test(what)) {
      // The parser pauses because its caller may switch protocols. A server that does not switch reads on.
      pauses = true;
    } else if (what.startsWith("error code=")) {
      refuses = what;
      if (version !== "") endHead();
    }
  }
  let bytes = input;
  for (const [at, text] of inserts.sort(([a], [b]) => b - a)) bytes = bytes.slice(0, at) + text + bytes.slice(at);
  return { bytes: Buffer.from(bytes, "latin1"), bodies, refuses, pauses };
}
