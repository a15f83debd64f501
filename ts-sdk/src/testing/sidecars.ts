/** Sidecars of an app under test: functions that answer, addresses, and databases in this process. */
import { encodeValue } from "../http/headers.ts";
import { encodedBody, Response as SdkResponse } from "../http/response.ts";
import type { CallOutcome, OutgoingCall, StartCall } from "../platform.ts";

/** Answers the requests to a sidecar in its place; with the platform's `Response`, or one of the SDK's such as `ok(…)`. */
export type SidecarStub = (request: Request) => Response | SdkResponse | Promise<Response | SdkResponse>;

/** A sidecar that is started when it is needed, from `sqlite`. */
export interface TestSidecar {
  /** Starts the sidecar, once, and returns its address. */
  start(): Promise<string>;
  /** Ends the sidecar. */
  close(): Promise<void>;
}

/** The sidecars of an app under test, by their names: a function, a started one, or an address. */
export type TestSidecars = Readonly<Record<string, SidecarStub | TestSidecar | string>>;

const HOST = ".sidecar.internal";
/** The numbers of reasons in `sdk:core/calls`. */
const REFUSED = 0;

/** @throws TypeError naming the sidecar that is neither a function nor a started one nor an address */
export function checkSidecars(sidecars: TestSidecars): void {
  for (const [name, sidecar] of Object.entries(sidecars)) {
    if (typeof sidecar === "string" ? isAddress(sidecar) : typeof sidecar === "function") continue;
    if (typeof (sidecar as Partial<TestSidecar> | null | undefined)?.start === "function") continue;
    throw new TypeError(
      `testApp: "sidecars.${name}" must be a function, sqlite("migrations"), or an address such as http://127.0.0.1:9919`,
    );
  }
}

const isAddress = (text: string) => /^https?:/.test(text) && URL.canParse(text);

/** The addresses of sidecars as variables, and the function that calls them; undefined when all have addresses. */
export async function connectSidecars(
  sidecars: TestSidecars,
): Promise<{ entries: [string, string][]; call: StartCall | undefined }> {
  const bases = new Map<string, string>();
  for (const [name, sidecar] of Object.entries(sidecars)) {
    if (typeof sidecar === "string") bases.set(name, sidecar.replace(/\/$/, ""));
    else bases.set(name, typeof sidecar === "function" ? `http://${name}${HOST}` : await sidecar.start());
  }
  const entries = [...bases].map(([name, base]): [string, string] => [
    `SIDECAR_${name.toUpperCase().replaceAll("-", "_")}_URL`,
    base,
  ]);
  const hasStub = Object.values(sidecars).some((each) => typeof each === "function");
  return { entries, call: hasStub ? (asked) => answer(asked, sidecars, bases) : undefined };
}

async function answer(
  asked: OutgoingCall,
  sidecars: TestSidecars,
  bases: ReadonlyMap<string, string>,
): Promise<CallOutcome> {
  const [, named, path = ""] = /^sidecar:([^/]+)(.*)$/s.exec(asked.url) ?? [];
  const base = named === undefined ? "" : bases.get(named);
  if (base === undefined) return { reason: REFUSED, detail: "there is no such sidecar" };
  const url = named === undefined ? asked.url : base + path;
  const host = new URL(url).hostname;
  const stub = host.endsWith(HOST) ? sidecars[host.slice(0, -HOST.length)] : undefined;
  const { method, headers, body } = asked;
  const init: RequestInit = {
    method,
    headers: headers.map(([name, value]) => [name, Buffer.from(value).toString("latin1")]),
  };
  if (body !== undefined) init.body = new Uint8Array(body);
  if (typeof stub === "function") return outcomeOf(await stub(new Request(url, init)));
  try {
    return await outcomeOf(await fetch(url, { ...init, redirect: "manual" }));
  } catch (thrown) {
    return { reason: REFUSED, detail: (thrown as Error).message };
  }
}

async function outcomeOf(response: Response | SdkResponse): Promise<CallOutcome> {
  const headers = [...response.headers].map(([name, value]): [string, Uint8Array] => [name, encodeValue(value)]);
  if (response instanceof SdkResponse) {
    return { status: response.status, headers, body: new Uint8Array(encodedBody(response) ?? []) };
  }
  return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}
