/**
 * How a request and a response cross the boundary between the component's interface and JavaScript.
 *
 * The bindings that the splicer of componentize-js generates serve every interface and cost more than most handlers do:
 * each string is decoded, each header is two objects, each value a call into the engine. `handle` of `sdk:core/handler`
 * is the one function that counts, so it has bindings of its own: headers are decoded when they are asked for, text by
 * one call where it is ASCII, and the response is one piece of memory.
 *
 * The functions below never run here. Their source text goes into the generated bindings, where the names declared first
 * are in scope; a snapshot holds what they make when they are first called, because {@link warmUpGlue} runs while it is
 * made.
 */

/** The component's memory. */
declare const $memory: { readonly buffer: ArrayBuffer };
/** The component's allocator. What it gives in a call is freed by the engine after the response was read. */
declare const $realloc: (old: number, was: number, align: number, size: number) => number;
declare const $dealloc: (at: number, size: number, align: number) => void;
/** What the bundle exports. */
declare const handler010Handle: (request: object) => GlueResponse | Promise<GlueResponse>;
declare let glue: Glue;

interface GlueResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
  readonly body?: Uint8Array;
}

interface Glue {
  /** Views of the memory, made anew when it has grown. */
  buffer: ArrayBuffer | undefined;
  bytes: Uint8Array;
  words: Uint32Array;
  /** Header names as bytes, by name. */
  readonly names: Map<string, Uint8Array>;
  readonly encoder: InstanceType<typeof TextEncoder>;
  readonly decoder: InstanceType<typeof TextDecoder>;
  readonly ascii: RegExp;
  /** What the engine waits for when there is nothing to wait for. */
  readonly done: Promise<void>;
  /** The arguments of the last call, whose memory is freed by the next one. */
  last: GlueArguments | undefined;
}

/** Where the parts of a request are; of the headers, how many there are. */
interface GlueArguments {
  readonly method: GlueRange;
  readonly path: GlueRange;
  readonly headers: GlueRange;
  readonly body: GlueRange | undefined;
}

interface GlueRange {
  readonly at: number;
  readonly length: number;
}

/** Views of the memory as it is now. */
function glueViews(): Glue {
  const { buffer } = $memory;
  if (glue.buffer !== buffer) {
    glue.buffer = buffer;
    glue.bytes = new Uint8Array(buffer);
    glue.words = new Uint32Array(buffer);
  }
  return glue;
}

/** Text at an address. */
function glueText(at: number, length: number): string {
  if (length === 0) return "";
  const { bytes, ascii, decoder } = glueViews();
  const piece = bytes.subarray(at, at + length);
  // More arguments than this might not fit on the stack.
  if (length <= 4096) {
    const text = String.fromCharCode.apply(null, piece as unknown as number[]);
    if (ascii.test(text)) return text;
  }
  return decoder.decode(piece);
}

/** The method at an address; nearly all requests have one of two. */
function glueMethod(at: number, length: number): string {
  const { bytes } = glueViews();
  if (length === 3 && bytes[at] === 0x47 && bytes[at + 1] === 0x45 && bytes[at + 2] === 0x54) return "GET";
  const isPost = length === 4 && bytes[at] === 0x50 && bytes[at + 1] === 0x4f && bytes[at + 2] === 0x53;
  return isPost && bytes[at + 3] === 0x54 ? "POST" : glueText(at, length);
}

/** The headers at an address: name and length, value and length, each a word. */
function glueHeaders(at: number, count: number): [string, Uint8Array][] {
  const { words, bytes } = glueViews();
  const headers: [string, Uint8Array][] = [];
  for (let index = 0, word = at >> 2; index < count; index++, word += 4) {
    const value = words[word + 2] as number;
    const name = glueText(words[word] as number, words[word + 1] as number);
    headers.push([name, bytes.slice(value, value + (words[word + 3] as number))]);
  }
  return headers;
}

/** Frees what the host allocated for the last request: nothing of it is needed any more. */
function glueFree({ method, path, headers, body }: GlueArguments): void {
  const { words } = glueViews();
  const free = (at: number, size: number, align: number) => {
    if (size !== 0) $dealloc(at, size, align);
  };
  for (let index = 0, word = headers.at >> 2; index < headers.length; index++, word += 4) {
    free(words[word] as number, words[word + 1] as number, 1);
    free(words[word + 2] as number, words[word + 3] as number, 1);
  }
  free(headers.at, headers.length * 16, 4);
  free(method.at, method.length, 1);
  free(path.at, path.length, 1);
  if (body !== undefined) free(body.at, body.length, 1);
}

/** A request whose headers are decoded when they are asked for. */
function glueRequest(given: GlueArguments): object {
  const { method, path, body } = given;
  let headers: [string, Uint8Array][] | undefined;
  return {
    method: glueMethod(method.at, method.length),
    pathWithQuery: glueText(path.at, path.length),
    get headers() {
      headers ??= glue.last === given ? glueHeaders(given.headers.at, given.headers.length) : [];
      return headers;
    },
    // A copy: views of the memory are void once it grows.
    body: body === undefined ? undefined : glueViews().bytes.slice(body.at, body.at + body.length),
  };
}

/** Writes a response to an address: status, headers and body, the contents in one piece of memory. */
function glueRespond({ status, headers, body }: GlueResponse, at: number): void {
  const { names, encoder } = glue;
  const count = headers.length;
  let size = 16 * count + (body === undefined ? 0 : body.byteLength);
  const encoded: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    const header = headers[index] as readonly [string, Uint8Array];
    const known = names.get(header[0]);
    const name: Uint8Array = known ?? encoder.encode(header[0]);
    if (known === undefined && names.size < 256) names.set(header[0], name);
    encoded.push(name);
    size += name.byteLength + header[1].byteLength;
  }
  const list = size === 0 ? 4 : $realloc(0, 0, 4, size);
  // Allocating may have made the memory grow.
  const { bytes, words } = glueViews();
  let next = list + 16 * count;
  for (let index = 0, word = list >> 2; index < count; index++, word += 4) {
    const name = encoded[index] as Uint8Array;
    const value = (headers[index] as readonly [string, Uint8Array])[1];
    words[word] = next;
    words[word + 1] = name.byteLength;
    bytes.set(name, next);
    next += name.byteLength;
    words[word + 2] = next;
    words[word + 3] = value.byteLength;
    bytes.set(value, next);
    next += value.byteLength;
  }
  const record = at >> 2;
  words[record] = status & 0xffff;
  words[record + 1] = list;
  words[record + 2] = count;
  words[record + 3] = body === undefined ? 0 : 1;
  if (body !== undefined) {
    words[record + 4] = next;
    words[record + 5] = body.byteLength;
    bytes.set(body, next);
  }
}

/** The export. The engine waits for the promise that it gives. */
function glueHandle(
  method: number,
  methodLength: number,
  path: number,
  pathLength: number,
  headers: number,
  headerCount: number,
  hasBody: number,
  body: number,
  bodyLength: number,
  response: number,
): Promise<void> {
  if (glue.last !== undefined) glueFree(glue.last);
  const given: GlueArguments = {
    method: { at: method, length: methodLength },
    path: { at: path, length: pathLength },
    headers: { at: headers, length: headerCount },
    body: hasBody ? { at: body, length: bodyLength } : undefined,
  };
  glue.last = given;
  const answer = handler010Handle(glueRequest(given));
  if ("then" in answer) return glueWait(answer, response);
  glueRespond(answer, response);
  return glue.done;
}

async function glueWait(answer: Promise<GlueResponse>, response: number): Promise<void> {
  glueRespond(await answer, response);
}

/** Runs the way of a request once, on a path that no handler has, while the snapshot is made. */
function warmUpGlue(): void {
  const text = (value: string): GlueRange => {
    const bytes: Uint8Array = glue.encoder.encode(value);
    const at = $realloc(0, 0, 1, bytes.byteLength);
    glueViews().bytes.set(bytes, at);
    return { at, length: bytes.byteLength };
  };
  const [method, path, body] = [text("OPTIONS"), text("/tenon-warm-up"), text("{}")] as const;
  const [name, value] = [text("host"), text("localhost")] as const;
  const list = $realloc(0, 0, 4, 16);
  glueViews().words.set([name.at, name.length, value.at, value.length], list >> 2);
  glueHeaders(list, 1);
  const response = $realloc(0, 0, 4, 24);
  void glueHandle(method.at, method.length, path.at, path.length, list, 1, 1, body.at, body.length, response);
  // What is allocated here, the engine frees: the host did not allocate it.
  glue.last = undefined;
}

const functions = [
  glueViews,
  glueText,
  glueMethod,
  glueHeaders,
  glueFree,
  glueRequest,
  glueRespond,
  glueHandle,
  glueWait,
  warmUpGlue,
];

/**
 * Puts these functions in the place of the generated ones.
 *
 * @param bindings what the splicer generated for `handler-glue`
 * @throws Error when the generated text is not of the form that is known
 */
export function withGlue(bindings: string): string {
  const generated = /async function export_handler_0_1_0\$handle\([\s\S]*?\n}\n/;
  const bound = /handler010Handle = __iface\.handle;\n[^\n]*\n/;
  if (!generated.test(bindings) || !bound.test(bindings)) throw new Error("the generated bindings have another form");
  const text = `let glue = {
  buffer: undefined, bytes: undefined, words: undefined, names: new Map(), last: undefined, done: Promise.resolve(),
  encoder: new TextEncoder(), decoder: new TextDecoder(), ascii: /^[\\x00-\\x7f]*$/,
};
${functions.map((each) => each.toString()).join("\n")}
`.replaceAll("glueHandle", "export_handler_0_1_0$handle");
  return bindings
    .replace(generated, () => text)
    .replace(bound, (found) => `${found}    warmUpGlue();\n    __iface.requests?.();\n`);
}
