/**
 * The engine in Node's own WebAssembly, with a host in memory: for tests of what runs inside a component. Nothing is compiled ahead
 * and nothing is restored, so a test takes milliseconds.
 */
import { readFileSync } from "node:fs";

/** A header or a variable. */
export type Pair = readonly [name: string, value: Uint8Array | string];

/** A request for the handler, or for the host. */
export interface EngineRequest {
  readonly method: string;
  /** Path and query; of a call, a URL. */
  readonly path: string;
  readonly headers: readonly Pair[];
  readonly body: Uint8Array | undefined;
}

/** A response of the handler, or of the host. */
export interface EngineResponse {
  readonly status: number;
  readonly headers: readonly Pair[];
  readonly body: Uint8Array | undefined;
}

/** A response of the host that arrives piece by piece: "later" is a pause, and a number the reason of a failure. */
export interface StreamedResponse extends EngineResponse {
  readonly pieces?: readonly (Uint8Array | "later" | number)[];
}

/** The host: its answers, clock and random bytes. */
export interface Host {
  readonly environment?: Readonly<Record<string, string>>;
  /** Answers a call, at once; a number is a reason of a failure. */
  call?(request: EngineRequest): StreamedResponse | number;
  /**
   * Takes a piece of a streamed request, or its end; returns the number of accepted bytes, or undefined. Without this, a request is
   * complete when it is answered.
   */
  write?(piece: Uint8Array | undefined): number | undefined;
  /** Gets the numbers of calls that were cancelled. */
  cancelled?(call: number): void;
  /** Milliseconds that stand still unless the engine waits. The time of day begins there, too. */
  now?: number;
  /** Milliseconds that pass with each look at the monotonic clock; 0 when it is left out. */
  readonly tick?: number;
  /** Gets each text that the engine logs. */
  log?(text: string): void;
  /** Fills the bytes; Node's generator when it is left out. */
  random?(bytes: Uint8Array): void;
}

/** An engine whose top level has run. */
export interface Engine {
  /** Answers a request. */
  handle(request: Partial<EngineRequest>): EngineResponse;
  /** The functions of `sdk:core/streams` (wit/streams.wit). */
  readonly streams: {
    takesBodies(): boolean;
    begin(request: Partial<EngineRequest>): EngineResponse;
    piece(bytes: Uint8Array | undefined): EngineResponse;
    end(): EngineResponse;
    broken(): EngineResponse;
    next(): EngineResponse;
    cancel(): void;
  };
  /** Takes what was logged since the last call of this. */
  printed(): string;
  /** Bytes of the memory. */
  readonly size: number;
}

/** The part of the JavaScript API of WebAssembly that is used. Its types come with those of browsers only. */
interface Wasm {
  Module: {
    new (bytes: Uint8Array): object;
    customSections(module: object, name: string): ArrayBuffer[];
  };
  Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
}
const wasm = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;

/** The last case of `bodies` (wit/calls.wit). */
const STREAMED_WITH_MORE = 2;

const compiled = new Map<string, object>();

/** Encodes a section, or a list of items, whose length needs at most two bytes. */
const leb = (value: number) => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);
const section = (id: number, items: readonly (readonly number[])[]) => {
  const content = [...leb(items.length), ...items.flat()];
  return [id, ...leb(content.length), ...content];
};

/**
 * Puts functions into their places of the engine's table, which a custom section lists (crates/engine/seal.mjs). A table takes
 * functions of WebAssembly, so a module in between exports what it imports.
 */
function plug(module: object, table: Table, host: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void {
  const types: Readonly<Record<string, number>> = { i: 0x7f, I: 0x7e, f: 0x7d, F: 0x7c };
  const [listed = new ArrayBuffer(0)] = wasm.Module.customSections(module, "tenon-places");
  const lines = new TextDecoder().decode(listed).split("\n").slice(1);
  for (const line of lines) {
    const [place = "", from = "", name = "", ...signature] = line.split(" ");
    const call = host[from]?.[name];
    if (call === undefined) continue;
    const [params, results] = signature.map((text) => [...text].flatMap((letter) => types[letter] ?? []));
    const type = [
      0x60,
      ...section(
        0,
        (params ?? []).map((each) => [each]),
      ).slice(2),
    ];
    const resultTypes = section(
      0,
      (results ?? []).map((each) => [each]),
    ).slice(2);
    const between = new wasm.Module(
      Uint8Array.from([
        ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
        ...section(1, [[...type, ...resultTypes]]),
        ...section(2, [[0, 0, 0, 0]]),
        ...section(7, [[0, 0, 0]]),
      ]),
    );
    table.set(Number(place), new wasm.Instance(between, { "": { "": call } }).exports[""]);
  }
}

/** The engine's table. */
interface Table {
  set(place: number, call: unknown): void;
}

/**
 * Evaluates a bundle: one ES module, which exports `handler` with `handle(request)`, and may export `streams`.
 *
 * @param file the engine, such as `crates/engine/engine.wasm`
 * @throws Error with what was printed, when the top level fails
 */
export function startEngine(file: string | URL, source: string, host: Host = {}): Engine {
  const key = String(file);
  const module = compiled.get(key) ?? new wasm.Module(readFileSync(file));
  compiled.set(key, module);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let printed = "";
  let now = host.now ?? Date.now();
  const outcomes: { readonly number: number; readonly result: StreamedResponse | number }[] = [];
  const unsent = new Map<number, { readonly request: EngineRequest; readonly pieces: Uint8Array[] }>();
  const unread = new Map<number, (Uint8Array | "later" | number)[]>();
  const ready: number[] = [];
  let lastCall = 0;

  const bytes = () => new Uint8Array(memory.buffer);
  const words = () => new Uint32Array(memory.buffer);
  const copy = (at: number, length: number) => bytes().slice(at, at + length);
  const text = (at: number, length: number) => decoder.decode(bytes().subarray(at, at + length));
  const put = (content: Uint8Array | string, alignment = 1): [at: number, length: number] => {
    const from = typeof content === "string" ? encoder.encode(content) : content;
    const at = realloc(0, 0, alignment, from.length);
    bytes().set(from, at);
    return [at, from.length];
  };
  const putPairs = (pairs: readonly Pair[]): [at: number, length: number] => {
    const flat = pairs.flatMap(([name, value]) => [...put(name), ...put(value)]);
    const [at] = put(new Uint8Array(Uint32Array.from(flat).buffer), 4);
    return [at, pairs.length];
  };
  const getPairs = (at: number, length: number): Pair[] =>
    Array.from({ length }, (_, index) => {
      const [nameAt = 0, nameLength = 0, valueAt = 0, valueLength = 0] = words().subarray(at / 4 + 4 * index);
      return [text(nameAt, nameLength), copy(valueAt, valueLength)];
    });

  const start = (...given: number[]): number => {
    const [methodAt, methodLength, urlAt, urlLength, headersAt, headerCount, hasBody, bodyAt, bodyLength] = given as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const hasMore = given[11] === STREAMED_WITH_MORE && host.write === undefined;
    const request: EngineRequest = {
      method: text(methodAt, methodLength),
      path: text(urlAt, urlLength),
      headers: getPairs(headersAt, headerCount),
      body: hasBody ? copy(bodyAt, bodyLength) : undefined,
    };
    lastCall++;
    if (hasMore) unsent.set(lastCall, { request, pieces: [request.body ?? new Uint8Array()] });
    else outcomes.push({ number: lastCall, result: host.call?.(request) ?? 0 });
    return lastCall;
  };
  const wait = (timeout: number): number => {
    if (outcomes.length > 0 || ready.length > 0) return 1;
    if (timeout >>> 0 !== 0xffff_ffff) now += (timeout >>> 0) / 1000;
    return 0;
  };
  const take = (at: number): void => {
    const outcome = outcomes.shift();
    if (outcome === undefined) {
      bytes()[at] = 0;
      return;
    }
    const { number, result } = outcome;
    if (typeof result !== "number" && result.pieces !== undefined) unread.set(number, [...result.pieces]);
    const isFailure = typeof result === "number";
    const rest = isFailure
      ? [result, ...put(`reason ${result}`)]
      : [result.status, ...putPairs(result.headers), ...put(result.body ?? new Uint8Array())];
    words().set([1, number, isFailure ? 1 : 0, ...rest], at / 4);
  };
  const read = (number: number, at: number): void => {
    const piece = unread.get(number)?.shift();
    if (piece === "later") {
      ready.push(number);
      bytes()[at] = 1;
    } else if (piece instanceof Uint8Array) {
      const placed = put(piece);
      words().set([0, ...placed], at / 4);
    } else if (typeof piece === "number") {
      const placed = put(`reason ${piece}`);
      words().set([3, piece, ...placed], at / 4);
    } else bytes()[at] = 2;
  };
  const write = (number: number, hasPiece: number, pieceAt: number, length: number, at: number): void => {
    const piece = hasPiece === 0 ? undefined : copy(pieceAt, length);
    const rest = unsent.get(number);
    if (piece !== undefined) rest?.pieces.push(piece);
    else if (rest !== undefined) {
      unsent.delete(number);
      outcomes.push({ number, result: host.call?.({ ...rest.request, body: Buffer.concat(rest.pieces) }) ?? 0 });
    }
    const accepted = host.write ? host.write(piece) : length;
    if (accepted !== undefined && accepted < length) ready.push(number);
    words().set([accepted === undefined ? 0 : 1, accepted ?? 0], at / 4);
  };
  const random = (into: Uint8Array) => (host.random ? host.random(into) : void crypto.getRandomValues(into));
  const imports: Record<string, Record<string, (...given: never[]) => unknown>> = {
    "sdk:core/calls@0.1.0": {
      start,
      wait,
      take,
      read,
      write,
      ready: (at: number) => {
        const number = ready.shift();
        words().set([number === undefined ? 0 : 1, number ?? 0], at / 4);
      },
      cancel: (number: number) => {
        host.cancelled?.(number);
        unread.delete(number);
        unsent.delete(number);
        const index = outcomes.findIndex((each) => each.number === number);
        if (index !== -1) outcomes.splice(index, 1);
      },
    },
    "sdk:core/log@0.1.0": {
      write: (_: number, at: number, length: number) => {
        const line = text(at, length);
        printed += line;
        host.log?.(line);
      },
    },
    "wasi:clocks/monotonic-clock@0.2.10": {
      now: () => {
        now += host.tick ?? 0;
        return BigInt(Math.round(now * 1e6));
      },
    },
    "wasi:clocks/wall-clock@0.2.10": {
      now: (at: number) => {
        words().set([Math.floor(now / 1000), 0, Math.round((now % 1000) * 1e6)], at / 4);
      },
    },
    "wasi:random/random@0.2.10": {
      "get-random-u64": () => {
        const into = new BigUint64Array(1);
        random(new Uint8Array(into.buffer));
        return BigInt.asIntN(64, into[0] ?? 0n);
      },
      "get-random-bytes": (length: bigint, at: number) => {
        const into = new Uint8Array(Number(length));
        random(into);
        // The memory may grow meanwhile, which detaches what was read before.
        const drawn = put(into);
        words().set(drawn, at / 4);
      },
    },
    "wasi:cli/environment@0.2.10": {
      "get-environment": (at: number) => {
        const variables = putPairs(Object.entries(host.environment ?? {}));
        words().set(variables, at / 4);
      },
    },
  };
  const instance = new wasm.Instance(module, {});
  plug(module, instance.exports["__indirect_function_table"] as Table, imports);
  const memory = instance.exports["memory"] as { readonly buffer: ArrayBuffer };
  const realloc = instance.exports["cabi_realloc"] as (...given: number[]) => number;
  const initialize = instance.exports["initialize"] as (...given: number[]) => number;
  const collect = instance.exports["collect"] as () => void;
  const exported = (name: string) => instance.exports[`sdk:core/${name}`] as (...given: number[]) => number;
  const answer = (name: string, ...given: number[]): EngineResponse => {
    const at = exported(name)(...given);
    const [status = 0, headersAt = 0, headerCount = 0, hasBody = 0, bodyAt = 0, bodyLength = 0] = words().subarray(
      at / 4,
    );
    return {
      status: status & 0xffff,
      headers: getPairs(headersAt, headerCount),
      body: (hasBody & 0xff) === 0 ? undefined : copy(bodyAt, bodyLength),
    };
  };
  const putHead = ({ method = "GET", path = "/", headers = [] }: Partial<EngineRequest>) => [
    ...put(method),
    ...put(path),
    ...putPairs(headers),
  ];
  const putBytes = (content: Uint8Array | undefined) => (content === undefined ? [0, 0, 0] : [1, ...put(content)]);
  if (initialize(...put("handler.js"), ...put(source)) !== 0) throw new Error(printed);
  collect();
  return {
    handle: (request) => answer("handler@0.1.0#handle", ...putHead(request), ...putBytes(request.body)),
    streams: {
      takesBodies: () => exported("streams@0.1.0#takes-bodies")() === 1,
      begin: (request) => answer("streams@0.1.0#begin", ...putHead(request)),
      piece: (content) => answer("streams@0.1.0#piece", ...putBytes(content)),
      end: () => answer("streams@0.1.0#end"),
      broken: () => answer("streams@0.1.0#broken"),
      next: () => answer("streams@0.1.0#next"),
      cancel: () => void exported("streams@0.1.0#cancel")(),
    },
    printed: () => {
      const lines = printed;
      printed = "";
      return lines;
    },
    get size() {
      return memory.buffer.byteLength;
    },
  };
}
