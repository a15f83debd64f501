/**
 * The conversion of requests and responses between the component's interface and JavaScript.
 *
 * The bindings that the splicer of componentize-js generates serve every interface and cost more than most handlers do:
 * each string is decoded, each header is two objects, each value a call into the engine. `handle` of `sdk:core/handler`
 * is the one function that counts, so it has bindings of its own: headers are decoded on demand, ASCII text in one
 * call, and the response is one piece of memory.
 *
 * The functions below never run here. Their source text goes into the generated bindings, where the names declared
 * first are in scope; a snapshot contains the objects of their first call, because {@link warmUpGlue} runs before it.
 */
import { callFunctions, type GluePending, glueLongest } from "./glue-calls.ts";

/** The component's memory. */
declare const $memory: { readonly buffer: ArrayBuffer };
/**
 * The component's allocator. The engine frees allocations of a call after the response was read;
 * `crates/snapshot/src/starlingmonkey/arguments.rs` documents those for a call.
 */
declare const $realloc: (old: number, was: number, align: number, size: number) => number;
declare const $dealloc: (at: number, size?: number, align?: number) => void;
/** `get-environment` as a function of the core module (canonical ABI); gives the address of a list. */
declare const $getEnvironment: () => number;
/** The global object of the bundle, with the engine's additions. */
declare const contentGlobal: {
  setTimeout(callback: () => void, milliseconds: number): number;
  clearTimeout(timer: number): void;
  [key: symbol]: unknown;
};
/** The bundle's exports. */
declare const handler010Handle: (request: object) => GlueResponse | Promise<GlueResponse>;
declare let glue: Glue;
/** Stands in `glue-calls.ts`. */
declare const glueForget: () => void;

interface GlueResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
  readonly body?: Uint8Array;
}

export interface Glue {
  /** Views of the memory as it was when something was last outside of them. */
  bytes: Uint8Array;
  words: Uint32Array;
  /** How much of the memory they show. */
  size: number;
  /** Names of headers, and methods, as bytes. */
  readonly names: Map<string, Uint8Array>;
  /** Header lists that nobody changes, as they are written. */
  readonly lists: Map<GlueResponse["headers"], GlueList>;
  readonly encoder: InstanceType<typeof TextEncoder>;
  readonly decoder: InstanceType<typeof TextDecoder>;
  /** The promise that the engine awaits when there is nothing to wait for. */
  readonly done: Promise<void>;
  /** The last request, for as long as its arguments are there. */
  current: GlueRequest | undefined;
  /** Calls that run, by their numbers. */
  readonly calls: Map<number, GluePending>;
  /** The timer that the engine waits for while calls run; 0 is none. */
  timer: number;
}

/** A list of headers: how long each name and each value is, and all of them in a row. */
interface GlueList {
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

/** Makes views of the whole memory. Old views stay valid when the memory grows, because it does not move. */
function glueView(): void {
  const { buffer } = $memory;
  glue.bytes = new Uint8Array(buffer);
  glue.words = new Uint32Array(buffer, 0, buffer.byteLength >> 2);
  glue.size = buffer.byteLength;
}

/** Text at an address. */
function glueText(at: number, length: number): string {
  if (length === 0) return "";
  const end = at + length;
  if (end > glue.size) glueView();
  return glue.decoder.decode(glue.bytes.subarray(at, end));
}

/** The method at an address; nearly all requests have one of two. */
function glueMethod(at: number, length: number): string {
  if (at + length > glue.size) glueView();
  const { bytes } = glue;
  if (length === 3 && bytes[at] === 0x47 && bytes[at + 1] === 0x45 && bytes[at + 2] === 0x54) return "GET";
  const isPost = length === 4 && bytes[at] === 0x50 && bytes[at + 1] === 0x4f && bytes[at + 2] === 0x53;
  return isPost && bytes[at + 3] === 0x54 ? "POST" : glueText(at, length);
}

/**
 * The arguments of the export: the addresses of a request's parts, and of its answer. They are kept as they come,
 * because making a property costs the engine's interpreter more than reading them here.
 */
type GlueCall = readonly [
  methodAt: number,
  methodLength: number,
  pathAt: number,
  pathLength: number,
  headersAt: number,
  headerCount: number,
  hasBody: number,
  bodyAt: number,
  bodyLength: number,
  responseAt: number,
];

/** A request whose headers are decoded when they are asked for. */
class GlueRequest {
  declare readonly method: string;
  declare readonly pathWithQuery: string;
  declare readonly body: Uint8Array | undefined;
  /** Its arguments, which are valid until the next request, or shorter. */
  declare readonly call: GlueCall;
  declare decoded: [string, Uint8Array][] | undefined;

  constructor(call: GlueCall) {
    this.method = glueMethod(call[0], call[1]);
    this.pathWithQuery = glueText(call[2], call[3]);
    // A copy: its memory is freed.
    this.body = call[6] ? glueCopy(call[7], call[8]) : undefined;
    this.call = call;
    this.decoded = undefined;
  }

  get headers(): [string, Uint8Array][] {
    this.decoded ??= glue.current === this ? glueHeaders(this.call[4], this.call[5]) : [];
    return this.decoded;
  }

  get contentType(): string | undefined {
    return glue.current === this ? glueHeader("content-type", this.call[4], this.call[5]) : undefined;
  }

  get host(): string | undefined {
    return glue.current === this ? glueHeader("host", this.call[4], this.call[5]) : undefined;
  }
}

/** A copy of bytes at an address. */
function glueCopy(at: number, length: number): Uint8Array {
  if (at + length > glue.size) glueView();
  return glue.bytes.slice(at, at + length);
}

/** The headers at an address: name and length, value and length, each a word. */
function glueHeaders(at: number, count: number): [string, Uint8Array][] {
  if (at + 16 * count > glue.size) glueView();
  const { words } = glue;
  const headers: [string, Uint8Array][] = [];
  for (let index = 0, word = at >> 2; index < count; index++, word += 4) {
    const name = glueText(words[word] as number, words[word + 1] as number);
    headers.push([name, glueCopy(words[word + 2] as number, words[word + 3] as number)]);
  }
  return headers;
}

/** The value of a header, by its lower-case name, among the headers at an address; of several, all. */
function glueHeader(wanted: string, at: number, count: number): string | undefined {
  if (at + 16 * count > glue.size) glueView();
  const { words } = glue;
  const name = glueName(wanted);
  let found: string | undefined;
  for (let index = 0, word = at >> 2; index < count; index++, word += 4) {
    if (words[word + 1] !== wanted.length) continue;
    const nameAt = words[word] as number;
    if (!glueEquals(name, nameAt) && glueText(nameAt, wanted.length).toLowerCase() !== wanted) continue;
    const value = glueText(words[word + 2] as number, words[word + 3] as number);
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

/**
 * How large the block is that the arguments of a call stand in, and how much of it is before the first, the method, as
 * `crates/snapshot/src/starlingmonkey/arguments.rs` has it.
 */
export const glueBlockSize = 16 * 1024;
export const glueBefore = 8;

/** Marks a request as answered. Nothing in the block is freed, and it stays valid until the next request. */
function glueEnd(call: GlueCall): void {
  const fits = call[1] <= glueBlockSize - glueBefore && glue.words[(call[0] - glueBefore) >> 2] === 0;
  if (fits) return;
  glue.current = undefined;
  glueFree(call);
}

/** Frees the arguments of a call that are not in the block. */
function glueFree(call: GlueCall): void {
  const first = call[1] <= glueBlockSize - glueBefore ? call[0] : Number.NaN;
  const free = (at: number, size: number, align: number): void => {
    const isInBlock = at >= first && at < first + glueBlockSize;
    if (size !== 0 && !isInBlock) $dealloc(at, size, align);
  };
  const headersAt = call[4];
  const size = 16 * call[5];
  if (headersAt + size > glue.size) glueView();
  const { words } = glue;
  for (let word = headersAt >> 2, end = (headersAt + size) >> 2; word < end; word += 4) {
    free(words[word] as number, words[word + 1] as number, 1);
    free(words[word + 2] as number, words[word + 3] as number, 1);
  }
  free(headersAt, size, 4);
  free(call[0], call[1], 1);
  free(call[2], call[3], 1);
  if (call[6]) free(call[7], call[8], 1);
}

/** The environment, as pairs: `getEnvironment` of `wasi:cli/environment`. */
function glueEnvironment(): [name: string, value: string][] {
  const texts = glueTexts(undefined);
  const entries: [string, string][] = [];
  for (let index = 0; index < texts.length; index += 2) {
    entries.push([texts[index] as string, texts[index + 1] as string]);
  }
  return entries;
}

/** The values of some variables of the environment, in the order of the names. Only their values are decoded. */
function glueVariables(names: readonly string[]): (string | undefined)[] {
  const wanted: Uint8Array[] = [];
  for (let index = 0; index < names.length; index++) wanted.push(glueName(names[index] as string));
  return glueTexts(wanted);
}

/**
 * The values of the wanted variables, or the names and values of all. They are read up to the last wanted one, from the block that
 * `crates/snapshot/src/starlingmonkey/packed.rs` describes.
 */
function glueTexts(wanted: readonly Uint8Array[] | undefined): (string | undefined)[] {
  const at = $getEnvironment();
  if (at + 8 > glue.size) glueView();
  const block = glue.words[at >> 2] as number;
  const count = glue.words[(at >> 2) + 1] as number;
  $dealloc(at);
  const texts: (string | undefined)[] = [];
  if (wanted !== undefined) for (let index = 0; index < wanted.length; index++) texts.push(undefined);
  let left = wanted === undefined ? -1 : wanted.length;
  let nameAt = block + 20 + 8 * count;
  if (nameAt > glue.size) glueView();
  const { words } = glue;
  for (let word = (block >> 2) + 5, end = word + 2 * count; word < end && left !== 0; word += 2) {
    const nameLength = words[word] as number;
    const valueLength = words[word + 1] as number;
    const valueAt = nameAt + nameLength;
    if (wanted === undefined) texts.push(glueText(nameAt, nameLength), glueText(valueAt, valueLength));
    else {
      for (let index = 0; index < wanted.length; index++) {
        const name = wanted[index] as Uint8Array;
        if (name.length !== nameLength || texts[index] !== undefined || !glueEquals(name, nameAt)) continue;
        texts[index] = glueText(valueAt, valueLength);
        left--;
      }
    }
    nameAt = valueAt + valueLength;
  }
  $dealloc(block, words[block >> 2] as number, 4);
  return texts;
}

/** The scheme and the host of the request, where the host says so; the engine has found them in the environment. */
function glueOrigin(): [scheme: string | undefined, host: string | undefined] {
  const at = $getEnvironment();
  if (at + 8 > glue.size) glueView();
  const block = glue.words[at >> 2] as number;
  $dealloc(at);
  if (block + 20 > glue.size) glueView();
  const { words } = glue;
  const word = block >> 2;
  const schemeAt = words[word + 1] as number;
  const hostAt = words[word + 3] as number;
  const scheme = schemeAt === 0 ? undefined : glueScheme(schemeAt, words[word + 2] as number);
  const host = hostAt === 0 ? undefined : glueText(hostAt, words[word + 4] as number);
  $dealloc(block, words[word] as number, 4);
  return [scheme, host];
}

/** The scheme at an address: `http` in nearly all requests, or behind a proxy. */
function glueScheme(at: number, length: number): string {
  if (at + length > glue.size) glueView();
  const { bytes } = glue;
  const isHttp = length === 4 && bytes[at] === 0x68 && bytes[at + 1] === 0x74 && bytes[at + 2] === 0x74;
  return isHttp && bytes[at + 3] === 0x70 ? "http" : glueText(at, length);
}

/** Reports whether the memory holds these bytes at an address. Names of variables differ at their ends. */
function glueEquals(name: Uint8Array, at: number): boolean {
  if (at + name.length > glue.size) glueView();
  const { bytes } = glue;
  for (let index = name.length - 1; index >= 0; index--) {
    if (bytes[at + index] !== name[index]) return false;
  }
  return true;
}

/** A header's name, or a method, as bytes. */
function glueName(name: string): Uint8Array {
  const known = glue.names.get(name);
  if (known !== undefined) return known;
  const bytes: Uint8Array = glue.encoder.encode(name);
  if (glue.names.size < 256) glue.names.set(name, bytes);
  return bytes;
}

/** The headers of a response. A list that is frozen is the same each time, and is made ready once. */
function glueList(headers: GlueResponse["headers"]): GlueList {
  const known = glue.lists.get(headers);
  if (known !== undefined) return known;
  const { lists } = glue;
  const parts: Uint8Array[] = [];
  const lengths: number[] = [];
  let size = 0;
  for (let index = 0; index < headers.length; index++) {
    const header = headers[index] as readonly [string, Uint8Array];
    const name = glueName(header[0]);
    parts.push(name, header[1]);
    lengths.push(name.length, header[1].length);
    size += name.length + header[1].length;
  }
  const bytes = new Uint8Array(size);
  for (let index = 0, next = 0; index < parts.length; index++) {
    bytes.set(parts[index] as Uint8Array, next);
    next += lengths[index] as number;
  }
  const list = { lengths, bytes };
  if (lists.size < 64 && Object.isFrozen(headers)) lists.set(headers, list);
  return list;
}

/** Writes a response to an address: status, headers and body, the contents in one piece of memory. */
function glueRespond(response: GlueResponse, at: number): void {
  const { body } = response;
  const { lengths, bytes } = glueList(response.headers);
  const table = 8 * lengths.length;
  const headed = table + bytes.length;
  const size = body === undefined ? headed : headed + body.length;
  const list = size === 0 ? 4 : $realloc(0, 0, 4, size);
  // Allocating may have made the memory grow.
  if (list + size > glue.size) glueView();
  if (at + 24 > glue.size) glueView();
  const { words } = glue;
  let next = list + table;
  glue.bytes.set(bytes, next);
  for (let index = 0, word = list >> 2; index < lengths.length; index++, word += 2) {
    const length = lengths[index] as number;
    words[word] = next;
    words[word + 1] = length;
    next += length;
  }
  const record = at >> 2;
  words[record] = response.status & 0xffff;
  words[record + 1] = list;
  words[record + 2] = lengths.length >> 1;
  if (body === undefined) words[record + 3] = 0;
  else {
    words[record + 3] = 1;
    words[record + 4] = next;
    words[record + 5] = body.length;
    glue.bytes.set(body, next);
  }
}

/** The export. The engine waits for the promise that it gives. */
function glueHandle(...call: GlueCall): Promise<void> {
  const request = new GlueRequest(call);
  // Other calls whose method begins with a colon belong to the request before them (`wit/handler.wit`).
  if (glue.timer !== 0 && (request.method[0] !== ":" || request.method.startsWith(":begin"))) glueForget();
  glue.current = request;
  const answer = handler010Handle(request);
  if ("then" in answer) return glueWait(answer, call);
  glueRespond(answer, call[9]);
  glueEnd(call);
  return glue.done;
}

async function glueWait(answer: Promise<GlueResponse>, call: GlueCall): Promise<void> {
  glueRespond(await answer, call[9]);
  glueEnd(call);
}

/** Runs the way of a request once while the snapshot is made, with the method for which nothing of the user's runs. */
function warmUpGlue(): void {
  // Each as if it were the first of a block, because nothing is to be freed here: the engine frees these allocations.
  const text = (value: string): { readonly at: number; readonly length: number } => {
    const bytes: Uint8Array = glue.encoder.encode(value);
    const block = $realloc(0, 0, 8, glueBefore + bytes.length);
    if (block + glueBefore + bytes.length > glue.size) glueView();
    glue.bytes.fill(0, block, block + glueBefore);
    glue.bytes.set(bytes, block + glueBefore);
    return { at: block + glueBefore, length: bytes.length };
  };
  const [method, path, body] = [text(":warm-up"), text("/"), text("{}")] as const;
  const [name, value] = [text("content-type"), text("application/json")] as const;
  const list = $realloc(0, 0, 4, 16);
  if (list + 16 > glue.size) glueView();
  glue.words.set([name.at, name.length, value.at, value.length], list >> 2);
  glueHeaders(list, 1);
  glueHeader("content-type", list, 1);
  const response = $realloc(0, 0, 4, 24);
  void glueHandle(method.at, method.length, path.at, path.length, list, 1, 1, body.at, body.length, response);
}

const functions = [
  glueView,
  glueText,
  glueMethod,
  GlueRequest,
  glueCopy,
  glueHeaders,
  glueHeader,
  glueEnd,
  glueFree,
  glueEnvironment,
  glueVariables,
  glueTexts,
  glueOrigin,
  glueScheme,
  glueEquals,
  glueName,
  glueList,
  glueRespond,
  glueHandle,
  glueWait,
  warmUpGlue,
  ...callFunctions,
];

/** The functions and their shared variables, as text for the bindings. */
export const glueSource =
  `const glueBlockSize = ${glueBlockSize}, glueBefore = ${glueBefore}, glueLongest = ${glueLongest};
const { setTimeout: glueSetTimeout, clearTimeout: glueClearTimeout } = contentGlobal;
let glue = {
  bytes: undefined, words: undefined, size: 0, names: new Map(), lists: new Map(), current: undefined, calls: new Map(), timer: 0,
  done: Promise.resolve(), encoder: new TextEncoder(), decoder: new TextDecoder(),
};
${functions.map((each) => each.toString()).join("\n")}
contentGlobal[Symbol.for("tenon.calls")] = glueStart;
contentGlobal[Symbol.for("tenon.variables")] = glueVariables;
contentGlobal[Symbol.for("tenon.origin")] = glueOrigin;
contentGlobal[Symbol.for("tenon.modules")] = { memory: $memory, allocate: $realloc, free: $dealloc, ask: glueAsk };
`
    .replaceAll("glueHandle", "export_handler_0_1_0$handle")
    .replaceAll(/\$(start|take|cancel)\b/g, "$$import_sdk_core_calls_0_1_0$$$1")
    .replaceAll("$getEnvironment", "$$import_wasi_cli_environment_0_2_10$$getEnvironment")
    .replaceAll("glueEnvironment", "import_wasi_cli_environment_0_2_10$$getEnvironment");

/**
 * Puts these functions in the place of the generated ones.
 *
 * @param bindings the splicer's bindings for `engine-glue`
 * @throws Error when the generated text does not have the expected form
 */
export function withGlue(bindings: string): string {
  const generated = /async function export_handler_0_1_0\$handle\([\s\S]*?\n}\n/;
  const environment = /function import_wasi_cli_environment_0_2_10\$getEnvironment\([\s\S]*?\n}\n/;
  const bound = /handler010Handle = __iface\.handle;\n[^\n]*\n/;
  if (![generated, environment, bound].every((each) => each.test(bindings))) {
    throw new Error("the generated bindings have another form");
  }
  return bindings
    .replace(environment, "")
    .replace(generated, () => glueSource)
    .replace(bound, (found) => `${found}    warmUpGlue();\n`);
}
