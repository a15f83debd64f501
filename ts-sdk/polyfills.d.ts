/**
 * Globals that the engine lacks and that `tenon build` adds to a component which names them. The declarations are those of
 * TypeScript's lib.webworker.d.ts (Copyright Microsoft Corporation, Apache License 2.0), as far as they are added.
 */

interface TextDecoderStream extends GenericTransformStream {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly readable: ReadableStream<string>;
  readonly writable: WritableStream<Uint8Array>;
}
declare var TextDecoderStream: {
  prototype: TextDecoderStream;
  new (label?: string, options?: TextDecoderOptions): TextDecoderStream;
};

interface TextEncoderStream extends GenericTransformStream {
  readonly encoding: string;
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<string>;
}
declare var TextEncoderStream: {
  prototype: TextEncoderStream;
  new (): TextEncoderStream;
};

interface URLPatternInit {
  baseURL?: string;
  hash?: string;
  hostname?: string;
  password?: string;
  pathname?: string;
  port?: string;
  protocol?: string;
  search?: string;
  username?: string;
}
interface URLPatternComponentResult {
  input: string;
  groups: Record<string, string | undefined>;
}
interface URLPatternResult {
  inputs: (string | URLPatternInit)[];
  hash: URLPatternComponentResult;
  hostname: URLPatternComponentResult;
  password: URLPatternComponentResult;
  pathname: URLPatternComponentResult;
  port: URLPatternComponentResult;
  protocol: URLPatternComponentResult;
  search: URLPatternComponentResult;
  username: URLPatternComponentResult;
}
interface URLPattern {
  readonly hash: string;
  readonly hasRegExpGroups: boolean;
  readonly hostname: string;
  readonly password: string;
  readonly pathname: string;
  readonly port: string;
  readonly protocol: string;
  readonly search: string;
  readonly username: string;
  exec(input?: string | URLPatternInit, baseURL?: string): URLPatternResult | null;
  test(input?: string | URLPatternInit, baseURL?: string): boolean;
}
declare var URLPattern: {
  prototype: URLPattern;
  new (input: string | URLPatternInit, baseURL: string, options?: { ignoreCase?: boolean }): URLPattern;
  new (input?: string | URLPatternInit, options?: { ignoreCase?: boolean }): URLPattern;
};

/** The parts of `crypto.subtle` that the build adds, with the algorithms that the code names. */
interface SubtleCrypto {
  decrypt(
    algorithm: AlgorithmIdentifier | RsaOaepParams | AesCtrParams | AesCbcParams | AesGcmParams,
    key: CryptoKey,
    data: BufferSource,
  ): Promise<ArrayBuffer>;
  deriveBits(
    algorithm: AlgorithmIdentifier | EcdhKeyDeriveParams | HkdfParams | Pbkdf2Params,
    baseKey: CryptoKey,
    length?: number | null,
  ): Promise<ArrayBuffer>;
  deriveKey(
    algorithm: AlgorithmIdentifier | EcdhKeyDeriveParams | HkdfParams | Pbkdf2Params,
    baseKey: CryptoKey,
    derivedKeyType: AlgorithmIdentifier | AesDerivedKeyParams | HmacImportParams,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKey>;
  encrypt(
    algorithm: AlgorithmIdentifier | RsaOaepParams | AesCtrParams | AesCbcParams | AesGcmParams,
    key: CryptoKey,
    data: BufferSource,
  ): Promise<ArrayBuffer>;
  exportKey(format: "jwk", key: CryptoKey): Promise<JsonWebKey>;
  exportKey(format: Exclude<KeyFormat, "jwk">, key: CryptoKey): Promise<ArrayBuffer>;
  exportKey(format: KeyFormat, key: CryptoKey): Promise<ArrayBuffer | JsonWebKey>;
  generateKey(
    algorithm: "Ed25519" | "X25519" | { name: "Ed25519" | "X25519" } | RsaHashedKeyGenParams | EcKeyGenParams,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKeyPair>;
  generateKey(
    algorithm: AesKeyGenParams | HmacKeyGenParams,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKey>;
  generateKey(
    algorithm: AlgorithmIdentifier,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKeyPair | CryptoKey>;
  importKey(
    format: "jwk",
    keyData: JsonWebKey,
    algorithm: AlgorithmIdentifier | RsaHashedImportParams | EcKeyImportParams | HmacImportParams,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKey>;
  importKey(
    format: Exclude<KeyFormat, "jwk">,
    keyData: BufferSource,
    algorithm: AlgorithmIdentifier | RsaHashedImportParams | EcKeyImportParams | HmacImportParams,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKey>;
  sign(
    algorithm: AlgorithmIdentifier | RsaPssParams | EcdsaParams,
    key: CryptoKey,
    data: BufferSource,
  ): Promise<ArrayBuffer>;
  unwrapKey(
    format: KeyFormat,
    wrappedKey: BufferSource,
    unwrappingKey: CryptoKey,
    unwrapAlgorithm: AlgorithmIdentifier | RsaOaepParams | AesCtrParams | AesCbcParams | AesGcmParams,
    unwrappedKeyAlgorithm: AlgorithmIdentifier | RsaHashedImportParams | EcKeyImportParams | HmacImportParams,
    extractable: boolean,
    keyUsages: ReadonlyArray<KeyUsage>,
  ): Promise<CryptoKey>;
  verify(
    algorithm: AlgorithmIdentifier | RsaPssParams | EcdsaParams,
    key: CryptoKey,
    signature: BufferSource,
    data: BufferSource,
  ): Promise<boolean>;
  wrapKey(
    format: KeyFormat,
    key: CryptoKey,
    wrappingKey: CryptoKey,
    wrapAlgorithm: AlgorithmIdentifier | RsaOaepParams | AesCtrParams | AesCbcParams | AesGcmParams,
  ): Promise<ArrayBuffer>;
}

type KeyFormat = "jwk" | "pkcs8" | "raw" | "spki";

interface CryptoKeyPair {
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}
interface AesCbcParams extends Algorithm {
  iv: BufferSource;
}
interface AesCtrParams extends Algorithm {
  counter: BufferSource;
  length: number;
}
interface AesDerivedKeyParams extends Algorithm {
  length: number;
}
interface AesGcmParams extends Algorithm {
  additionalData?: BufferSource;
  iv: BufferSource;
  tagLength?: number;
}
interface AesKeyGenParams extends Algorithm {
  length: number;
}
interface EcKeyGenParams extends Algorithm {
  namedCurve: NamedCurve;
}
interface EcdhKeyDeriveParams extends Algorithm {
  public: CryptoKey;
}
interface HkdfParams extends Algorithm {
  hash: HashAlgorithmIdentifier;
  info: BufferSource;
  salt: BufferSource;
}
interface HmacKeyGenParams extends Algorithm {
  hash: HashAlgorithmIdentifier;
  length?: number;
}
interface Pbkdf2Params extends Algorithm {
  hash: HashAlgorithmIdentifier;
  iterations: number;
  salt: BufferSource;
}
interface RsaHashedKeyGenParams extends Algorithm {
  hash: HashAlgorithmIdentifier;
  modulusLength: number;
  publicExponent: Uint8Array<ArrayBuffer>;
}
interface RsaOaepParams extends Algorithm {
  label?: BufferSource;
}
interface RsaPssParams extends Algorithm {
  saltLength: number;
}

/** Members of the classes of `fetch` that the build adds with them. */
interface Body {
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}
interface Request {
  readonly cache: RequestCache;
  readonly credentials: RequestCredentials;
  readonly destination: "";
  readonly integrity: string;
  readonly keepalive: boolean;
  readonly mode: RequestMode;
  readonly redirect: RequestRedirect;
  readonly referrer: string;
  readonly referrerPolicy: ReferrerPolicy;
}
interface RequestInit {
  cache?: RequestCache;
  credentials?: RequestCredentials;
  duplex?: "half";
  integrity?: string;
  keepalive?: boolean;
  mode?: RequestMode;
  redirect?: RequestRedirect;
  referrer?: string;
  referrerPolicy?: ReferrerPolicy;
}
interface Response {
  clone(): Response;
}
interface ResponseConstructor {
  error(): Response;
}
type RequestCache = "default" | "force-cache" | "no-cache" | "no-store" | "only-if-cached" | "reload";
type RequestCredentials = "include" | "omit" | "same-origin";
type RequestMode = "cors" | "no-cors" | "same-origin";
type RequestRedirect = "error" | "follow" | "manual";
type ReferrerPolicy =
  | ""
  | "no-referrer"
  | "no-referrer-when-downgrade"
  | "origin"
  | "origin-when-cross-origin"
  | "same-origin"
  | "strict-origin"
  | "strict-origin-when-cross-origin"
  | "unsafe-url";

interface URLConstructor {
  canParse(url: string | URL, base?: string | URL): boolean;
  parse(url: string | URL, base?: string | URL): URL | null;
}

declare var navigator: { readonly userAgent: string };

/** The event of a request, in an app that adds a listener of `fetch` (`docs/fetch.md`). */
interface FetchEvent {
  readonly type: "fetch";
  readonly request: Request;
  respondWith(response: Response | Promise<Response>): void;
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
}
type FetchListener = ((event: FetchEvent) => unknown) | { handleEvent(event: FetchEvent): unknown };
declare function addEventListener(type: "fetch", listener: FetchListener): void;
declare function removeEventListener(type: "fetch", listener: FetchListener): void;
