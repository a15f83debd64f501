/**
 * The native functions of the engine: `crates/engine/src` has a file for each topic. A module of this package imports
 * them; a program cannot.
 */
declare module "tenon:engine" {
  // text.c
  /** Encodes text. A lone surrogate becomes U+FFFD. */
  export function utf8Encode(text: string): Uint8Array<ArrayBuffer>;
  /** @throws TypeError when `isFatal` and the bytes are not UTF-8 */
  export function utf8Decode(bytes: Uint8Array, isFatal?: boolean, keepsBom?: boolean): string;
  /** Writes a line of the log. */
  export function print(text: string, isError?: boolean): void;

  // calls.c and environment.c, for `host.ts`; the SDK has their types (`ts-sdk/src/platform.ts`).
  export const startCall: unknown;
  export const cancelCall: unknown;
  export const variables: unknown;
  export const origin: unknown;
  /** Returns the variables of the environment. */
  export function getEnvironment(): [name: string, value: string][];

  /** Returns the async context of the running code: a value that follows asynchronous calls; undefined at first. */
  export function asyncContext(): unknown;
  /** Replaces the async context until the current job ends. */
  export function setAsyncContext(context: unknown): void;
  /**
   * Returns the class of an object by its internal slots, such as "Object", "Map" or "Uint8Array"; "" for a primitive value, and "Proxy" for
   * a proxy, whatever its target is.
   */
  export function className(value: unknown): string;
  /** Returns undefined for a pending promise and for any other value, and otherwise whether it is rejected, and its value or reason. */
  export function promiseOutcome(promise: unknown): readonly [isRejected: boolean, value: unknown] | undefined;
  // evaluate.c
  /**
   * Evaluates the text of a module. From then on only the given modules can be imported, by the names of their exports. The default
   * export is the value of the last expression, if the module has none of its own.
   *
   * @param regexSteps the limit of one run of a regular expression, in steps of backtracking. A run that exceeds it ends the instance, which answers 508
   * @returns the promise of its evaluation, and its namespace
   * @throws SyntaxError when it cannot be parsed, or imports another module
   */
  export function evaluate(
    source: string,
    name: string,
    modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    regexSteps?: number,
  ): readonly [evaluated: Promise<undefined>, namespace: { readonly default: unknown }];
  // isolate.c
  /**
   * Opens a second runtime, which shares no object with this one, in the place of the one that was open.
   *
   * @param source an expression `(evaluate) => exchange` of JavaScript. `evaluate(source, name)` is that of above without modules;
   *   `exchange` takes a text, and returns what the program says when it is called without one
   * @throws Error when the source cannot be evaluated
   */
  export function openIsolate(source: string): void;
  /**
   * Hands a text to the runtime, runs its jobs, and returns what it says then; or the number of the reason why it is over: 1 is for time,
   * 2 for memory, and 3 for one that returns no text.
   *
   * @param cpuUs the most microseconds of all exchanges since it was opened
   * @param memoryBytes the most bytes that it has at a time, those of its first text included
   */
  export function exchangeIsolate(text: string, cpuUs: number, memoryBytes: number): string | number;
  /** Returns what the open runtime has used. */
  export function isolateUsage(): readonly [cpuUs: number, memoryBytes: number];
  /** Frees the runtime and all that it has. */
  export function closeIsolate(): void;

  // json-writer.c
  /**
   * Makes a function that writes JSON with declared members only. It returns undefined for a value that is not plain data, and has run
   * no code of the program then.
   *
   * @param shape the declaration (`ts-sdk/src/app/shape.ts`)
   */
  export function jsonWriter(shape: object): (value: unknown) => string | undefined;

  /** Returns milliseconds of the monotonic clock; 0 at top level. */
  export function monotonicNow(): number;
  /** Returns the time at which the monotonic clock was 0, in milliseconds since 1970; 0 at top level. */
  export function timeOrigin(): number;
  /** Prints a thrown value with its stack after "Uncaught ". */
  export function printUncaught(thrown: unknown): void;

  /** Hashes bytes at once. A hash function is given by the number in its name; MD5 has 5, SHA-1 has 1. */
  export function digest(hash: number, data: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Computes an HMAC at once. */
  export function hmac(hash: number, key: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer>;

  /** A hash, or an HMAC, in progress. */
  export interface NativeDigest {
    readonly brand: unique symbol;
  }
  /** Begins a hash, or with a key an HMAC. */
  export function newDigest(hash: number, key?: Uint8Array): NativeDigest;
  export function updateDigest(digest: NativeDigest, data: Uint8Array): void;
  /** Returns the digest of the data until now. More data may follow. */
  export function finishDigest(digest: NativeDigest): Uint8Array<ArrayBuffer>;
  export function copyDigest(digest: NativeDigest): NativeDigest;

  /** Compares bytes in a time that depends only on their number; bytes of different lengths are not equal. */
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;

  /** Fills bytes with random ones of the host. */
  export function fillRandom(bytes: Uint8Array): void;
  /** Returns a random UUID, version 4. */
  export function randomUuid(): string;

  // call-streams.c: streamed calls (`wit/calls.wit`). A handle is never used again; functions of one that has ended do nothing.
  /** A failure: the number of a case of `reason`, and a sentence. */
  interface CallFailure {
    readonly reason: number;
    readonly detail: string;
  }
  /** Starts a call and returns its handle. With `hasMore`, `writeStream` sends the rest of the body. */
  export function startStream(
    call: {
      readonly method: string;
      readonly url: string;
      readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
      readonly body: Uint8Array | undefined;
      readonly timeoutMs: number;
      readonly maxBytes: number;
    },
    hasMore: boolean,
  ): number;
  /** The head of the response, and the first piece of its body, or all of it. It can be asked for once. */
  export function streamHead(handle: number): StreamHead | Promise<StreamHead>;
  type StreamHead =
    | CallFailure
    | {
        readonly status: number;
        readonly headers: readonly [name: string, value: Uint8Array][];
        readonly body: Uint8Array<ArrayBuffer>;
      };
  type StreamPiece = Uint8Array<ArrayBuffer> | undefined | CallFailure;
  /** Reads the next piece; undefined is the end. Only one read may be pending. */
  export function readStream(handle: number): StreamPiece | Promise<StreamPiece>;
  /** Writes a piece, or without one the end. Returns the number of accepted bytes; undefined when no more are wanted. */
  export function writeStream(handle: number, piece: Uint8Array | undefined): number | undefined;
  /** Waits until a write may be accepted, after one of which not all bytes were. */
  export function streamRoom(handle: number): Promise<undefined> | undefined;
  /** Ends a call wherever it is. */
  export function cancelStream(handle: number): void;

  // linked.c: WebAssembly modules that a handler imports. Without any, all of these trap.
  /** Returns the numbers of a module's first function and first memory, or undefined when the component lacks it. */
  export function linkedFind(low: number, high: number): readonly [functions: number, memories: number] | undefined;
  /**
   * Calls a function of numbers. Types are letters: `i` and `I` are `i32` and `i64`, `f` and `F` `f32` and `f64`. Several results are
   * an array.
   */
  export function linkedCall(number: number, params: string, results: string, given: readonly unknown[]): unknown;
  /** Fills bytes from a memory. Returns whether they are within it. */
  export function linkedRead(memory: number, offset: number, bytes: Uint8Array): boolean;
  /** Stores bytes in a memory. Returns whether they are within it. */
  export function linkedWrite(memory: number, offset: number, bytes: Uint8Array): boolean;
  /** Returns the size of a memory in pages. */
  export function linkedPages(memory: number): number;
  /** Adds pages to a memory. Returns the pages before, or -1. */
  export function linkedGrow(memory: number, pages: number): number;
  /** Returns the engine's memory at its present size, from address 8. */
  export function linkedMemory(): Uint8Array<ArrayBuffer>;
  /** Allocates memory until the end of `linkedScope`. Returns its address. */
  export function linkedAllocate(size: number, alignment: number): number;
  /** Calls a function, and frees the parameters and results of the components that it has called. */
  export function linkedScope<T>(run: () => T): T;

  // Functions of the full engine. The block has the arguments one after the other, and room for the output; the numbers are
  // the lengths of arguments (`crates/engine/platform/crypto`). A result is negative for a failure.
  type Block = Uint8Array;
  export function rsaGenerate(block: Block, modulus: number, exponent: number): number;
  export function rsaCheckPublic(block: Block, modulus: number, exponent: number): number;
  export function rsaCheckPrivate(block: Block, modulus: number, exponent: number): number;
  export function oaepEncrypt(
    block: Block,
    hash: number,
    modulus: number,
    exponent: number,
    label: number,
    data: number,
  ): number;
  export function oaepDecrypt(block: Block, hash: number, modulus: number, exponent: number, label: number): number;
  export function pssSign(
    block: Block,
    hash: number,
    modulus: number,
    exponent: number,
    digest: number,
    salt: number,
  ): number;
  export function pssVerify(
    block: Block,
    hash: number,
    modulus: number,
    exponent: number,
    digest: number,
    salt: number,
  ): number;
  export function pkcs1Sign(block: Block, hash: number, modulus: number, exponent: number, digest: number): number;
  export function pkcs1Verify(block: Block, hash: number, modulus: number, exponent: number, digest: number): number;
  export function ecPublic(block: Block, curve: number): number;
  export function ecCheck(block: Block, curve: number): number;
  export function ecExpand(block: Block, curve: number): number;
  export function ecAgree(block: Block, curve: number): number;
  export function ecSign(block: Block, curve: number, digest: number): number;
  export function ecVerify(block: Block, curve: number, digest: number): number;
  export function ed25519Public(block: Block): number;
  export function ed25519Sign(block: Block, message: number): number;
  export function ed25519Verify(block: Block, message: number): number;
  export function x25519Public(block: Block): number;
  export function x25519Agree(block: Block): number;
  export function gcmEncrypt(
    block: Block,
    key: number,
    nonce: number,
    extra: number,
    data: number,
    tag: number,
  ): number;
  export function gcmDecrypt(
    block: Block,
    key: number,
    nonce: number,
    extra: number,
    data: number,
    tag: number,
  ): number;
  export function gcmCounter(block: Block, key: number, nonce: number): number;
  export function gcmTag(block: Block, key: number, nonce: number, extra: number, data: number, tag: number): number;
  export function cbcEncrypt(block: Block, key: number, data: number, padded: number): number;
  export function cbcDecrypt(block: Block, key: number, data: number, padded: number): number;
  export function ctr(block: Block, key: number, bits: number, data: number, skipped: number): number;
  export function kwWrap(block: Block, key: number, data: number): number;
  export function kwUnwrap(block: Block, key: number, data: number): number;
  export function hkdf(block: Block, hash: number, key: number, salt: number, info: number, out: number): number;
  export function pbkdf2(
    block: Block,
    hash: number,
    password: number,
    salt: number,
    rounds: number,
    out: number,
  ): number;
  export function scrypt(
    block: Block,
    password: number,
    salt: number,
    logCost: number,
    size: number,
    parallel: number,
    out: number,
  ): number;
  /** `variant` is 0 for Argon2d, 1 for Argon2i, 2 for Argon2id; `memory` is in KiB. */
  export function argon2(
    block: Block,
    variant: number,
    memory: number,
    passes: number,
    lanes: number,
    password: number,
    salt: number,
    secret: number,
    data: number,
    out: number,
  ): number;

  const url: unique symbol;
  const decoder: unique symbol;
  const codec: unique symbol;

  /** A parsed URL. */
  export interface UrlHandle {
    readonly [url]: true;
  }

  /** Parses as the constructor of `URL` does. Returns undefined if the input or the base is not valid. */
  export function urlParse(input: string, base?: string): UrlHandle | undefined;

  type Getter = (handle: UrlHandle) => string;
  export const urlHref: Getter;
  export const urlProtocol: Getter;
  export const urlUsername: Getter;
  export const urlPassword: Getter;
  export const urlHost: Getter;
  export const urlHostname: Getter;
  export const urlPort: Getter;
  export const urlPathname: Getter;
  export const urlSearch: Getter;
  export const urlHash: Getter;

  /** Returns whether the value was valid. If not, the URL is as it was. */
  type Setter = (handle: UrlHandle, value: string) => boolean;
  export const urlSetHref: Setter;
  export const urlSetProtocol: Setter;
  export const urlSetUsername: Setter;
  export const urlSetPassword: Setter;
  export const urlSetHost: Setter;
  export const urlSetHostname: Setter;
  export const urlSetPort: Setter;
  export const urlSetPathname: Setter;
  export const urlSetSearch: Setter;
  export const urlSetHash: Setter;

  /** A decoder of any encoding. */
  export interface DecoderHandle {
    readonly [decoder]: true;
  }

  /** Returns undefined if no encoding that can decode has the label. */
  export function decoderNew(label: string, isFatal: boolean, keepsBom: boolean): DecoderHandle | undefined;

  /** The encoding's name in the standard's spelling, such as `Shift_JIS`. */
  export function decoderEncoding(handle: DecoderHandle): string;

  /**
   * @param isStream the text goes on in the next call
   * @throws TypeError if the decoder is fatal and the bytes are not valid
   */
  export function decoderDecode(handle: DecoderHandle, bytes: Uint8Array, isStream: boolean): string;

  /** A stream that is being compressed or decompressed. */
  export interface CodecHandle {
    readonly [codec]: true;
  }

  /** @param format 0 for "deflate", 1 for "deflate-raw", 2 for "gzip" */
  export function codecNew(format: number, isDecompression: boolean): CodecHandle;

  /** Copies input for the next calls of `codecPull`. */
  export function codecPush(handle: CodecHandle, bytes: Uint8Array): void;

  /** Says that no input follows. */
  export function codecFinish(handle: CodecHandle): void;

  /**
   * Returns the next part of the output, at most 64 KiB, or undefined when input is needed and at the end.
   *
   * @throws TypeError if the input is damaged, cut or too long
   */
  export function codecPull(handle: CodecHandle): Uint8Array<ArrayBuffer> | undefined;
}

/** The text of `src/isolate/program.ts`, bundled, which makes the function that `openIsolate` needs. */
declare module "tenon-isolate:program" {
  const program: string;
  export default program;
}
