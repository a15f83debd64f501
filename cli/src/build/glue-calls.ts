/**
 * Calls to sidecars and other hosts across the component boundary, beside the requests of `glue.ts`. These parts of the bindings
 * never run here.
 */
import type { Glue } from "./glue.ts";

/** Names in the scope of the bindings; {@link Glue} and the functions are those of `glue.ts`. */
declare const glue: Glue;
declare const glueView: () => void;
declare const glueText: (at: number, length: number) => string;
declare const glueCopy: (at: number, length: number) => Uint8Array;
declare const glueName: (name: string) => Uint8Array;
declare const $realloc: (old: number, was: number, align: number, size: number) => number;
declare const $dealloc: (at: number, size?: number, align?: number) => void;
/** `sdk:core/calls` as functions of the core module (canonical ABI). */
declare const $start: (
  methodAt: number,
  methodLength: number,
  urlAt: number,
  urlLength: number,
  headersAt: number,
  headerCount: number,
  hasBody: number,
  bodyAt: number,
  bodyLength: number,
  timeoutMs: number,
  maxBytes: number,
) => number;
/** Returns the address of the taken memory. */
declare const $take: () => number;
declare const $cancel: (call: number) => void;
/** A call as the SDK wants it made. Names and values are checked; `timeoutMs` and `maxBytes` are 0 where the host decides. */
interface GlueOutgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The end of a call: a response, or a reason and a sentence. */
type GlueOutcome =
  | { readonly status: number; readonly headers: readonly [string, Uint8Array][]; readonly body: Uint8Array }
  | { readonly reason: number; readonly detail: string };

export type GluePending = (outcome: GlueOutcome) => void;

/**
 * Starts a call. The engine runs as long as a timer is left, so one is, whose end is the end of a call: no other timer is as long
 * (`crates/snapshot/src/starlingmonkey/poll.rs`, `own-timers.ts`).
 */
function glueStart(outgoing: GlueOutgoing): Promise<GlueOutcome> {
  const { encoder } = glue;
  const { headers, body } = outgoing;
  const method: Uint8Array = glueName(outgoing.method);
  const url: Uint8Array = encoder.encode(outgoing.url);
  const table = 16 * headers.length;
  let size = table + method.length + url.length + (body === undefined ? 0 : body.length);
  const names: Uint8Array[] = [];
  for (let index = 0; index < headers.length; index++) {
    const header = headers[index] as readonly [string, Uint8Array];
    const name = glueName(header[0]);
    names.push(name);
    size += name.length + header[1].length;
  }
  const block = $realloc(0, 0, 4, size);
  if (block + size > glue.size) glueView();
  const { bytes, words } = glue;
  let next = block + table;
  const write = (part: Uint8Array): number => {
    const at = next;
    bytes.set(part, at);
    next += part.length;
    return at;
  };
  for (let index = 0, word = block >> 2; index < names.length; index++, word += 4) {
    const name = names[index] as Uint8Array;
    const value = (headers[index] as readonly [string, Uint8Array])[1];
    words[word] = write(name);
    words[word + 1] = name.length;
    words[word + 2] = write(value);
    words[word + 3] = value.length;
  }
  const number = $start(
    write(method),
    method.length,
    write(url),
    url.length,
    block,
    headers.length,
    body === undefined ? 0 : 1,
    body === undefined ? 0 : write(body),
    body === undefined ? 0 : body.length,
    outgoing.timeoutMs,
    outgoing.maxBytes,
  );
  $dealloc(block, size, 4);
  if (glue.timer === 0) glue.timer = glueSetTimeout(glueEnded, glueLongest);
  return new Promise((resolve) => glue.calls.set(number, resolve));
}

/** A call has ended, or several have. */
function glueEnded(): void {
  glue.timer = 0;
  let taken = 0;
  for (;;) {
    const at = $take();
    if (at + 32 > glue.size) glueView();
    // A number and a result, or nothing; the result is a response or a failure.
    if (glue.bytes[at] === 0) {
      $dealloc(at);
      break;
    }
    taken++;
    const number = glue.words[(at + 4) >> 2] as number;
    const outcome = glue.bytes[at + 8] === 0 ? glueAnswer(at) : glueFailure(at);
    $dealloc(at);
    const pending = glue.calls.get(number);
    glue.calls.delete(number);
    pending?.(outcome);
  }
  if (glue.calls.size === 0) return;
  if (taken > 0) {
    glue.timer = glueSetTimeout(glueEnded, glueLongest);
    return;
  }
  // The host has ended them, as it does with the request that they belong to.
  const left = [...glue.calls.values()];
  glue.calls.clear();
  for (const pending of left) pending({ reason: 5, detail: "the host has ended the call" });
}

/** A response whose headers are decoded when they are asked for: one block, as `crates/snapshot/src/starlingmonkey/packed.rs` has it. */
class GlueAnswer {
  declare readonly status: number;
  declare readonly body: Uint8Array;
  declare readonly block: Uint8Array;
  declare readonly count: number;

  constructor(status: number, body: Uint8Array, block: Uint8Array, count: number) {
    this.status = status;
    this.body = body;
    this.block = block;
    this.count = count;
  }

  get headers(): [string, Uint8Array][] {
    const { block, count } = this;
    const lengths = new Uint32Array(block.buffer, 4, 2 * count);
    const headers: [string, Uint8Array][] = [];
    for (let index = 0, next = 4 + 8 * count; index < 2 * count; index += 2) {
      const valueAt = next + (lengths[index] as number);
      const name = glue.decoder.decode(block.subarray(next, valueAt));
      next = valueAt + (lengths[index + 1] as number);
      headers.push([name, block.slice(valueAt, next)]);
    }
    return headers;
  }
}

/** The response that was taken. The host has allocated its body, and the engine a block of its headers. */
function glueAnswer(at: number): GlueOutcome {
  const word = (at + 12) >> 2;
  const status = (glue.words[word] as number) & 0xffff;
  const blockAt = glue.words[word + 1] as number;
  const count = glue.words[word + 2] as number;
  const bodyAt = glue.words[word + 3] as number;
  const length = glue.words[word + 4] as number;
  if (blockAt + 4 > glue.size) glueView();
  const size = glue.words[blockAt >> 2] as number;
  const block = glueCopy(blockAt, size);
  $dealloc(blockAt, size, 4);
  const body = glueCopy(bodyAt, length);
  if (length !== 0) $dealloc(bodyAt, length, 1);
  return new GlueAnswer(status, body, block, count);
}

function glueFailure(at: number): GlueOutcome {
  const reason = glue.bytes[at + 12] as number;
  const textAt = glue.words[(at + 16) >> 2] as number;
  const length = glue.words[(at + 20) >> 2] as number;
  const detail = glueText(textAt, length);
  if (length !== 0) $dealloc(textAt, length, 1);
  return { reason, detail };
}

/** Asks the dispatcher of linked WebAssembly modules: a call whose method has a length that no method has (`linked.wat`). */
function glueAsk(operation: number, a: number, b: number, c: number, d: number): number {
  return $start(operation, -1, a | 0, b | 0, c | 0, d | 0, 0, 0, 0, 0, 0);
}

/** Ends calls that the last request has left, for the next one. */
function glueForget(): void {
  if (glue.timer !== 0) glueClearTimeout(glue.timer);
  glue.timer = 0;
  for (const number of glue.calls.keys()) $cancel(number);
  glue.calls.clear();
}

/**
 * Milliseconds of the timer that stands for the end of a call: the longest that there is. A handler's are a minute shorter, at
 * least (`own-timers.ts`).
 */
export const glueLongest = 2 ** 31 - 1;

declare const glueSetTimeout: (callback: () => void, milliseconds: number) => number;
declare const glueClearTimeout: (timer: number) => void;

/** The functions, as they stand in the bindings. */
export const callFunctions = [glueStart, glueEnded, GlueAnswer, glueAnswer, glueFailure, glueAsk, glueForget];
