/** The globals that QuickJS lacks, and the modules of `guest/src/platform` that define them. */
import { globalsIn } from "./global-uses.ts";

/** For each global, the module that defines it. A module imports the modules whose globals it uses. */
const platform: Readonly<Record<string, string>> = {
  AbortController: "events/install/abort-controller",
  AbortSignal: "events/install/abort-signal",
  Blob: "file/install",
  ByteLengthQueuingStrategy: "streams/install",
  CompressionStream: "compression/install",
  CountQueuingStrategy: "streams/install",
  Crypto: "crypto/install",
  CryptoKey: "crypto/install",
  CustomEvent: "events/install/custom-event",
  DecompressionStream: "compression/install",
  ErrorEvent: "events/install/error-event",
  Event: "events/install/event",
  EventTarget: "events/install/event-target",
  File: "file/install",
  FormData: "file/install-form",
  MessageChannel: "message-channel/install",
  MessageEvent: "events/install/message-event",
  MessagePort: "message-channel/install",
  PromiseRejectionEvent: "events/install/promise-rejection-event",
  QuotaExceededError: "crypto/install",
  ReadableByteStreamController: "streams/install",
  ReadableStream: "streams/install",
  ReadableStreamBYOBReader: "streams/install",
  ReadableStreamBYOBRequest: "streams/install",
  ReadableStreamDefaultController: "streams/install",
  ReadableStreamDefaultReader: "streams/install",
  SubtleCrypto: "crypto/install",
  TextDecoderStream: "streams/install-text",
  TextEncoder: "encoding/install-encoder",
  TextEncoderStream: "streams/install-text",
  TransformStream: "streams/install",
  TransformStreamDefaultController: "streams/install",
  URL: "url/install",
  URLSearchParams: "url/install-params",
  WritableStream: "streams/install",
  WritableStreamDefaultController: "streams/install",
  WritableStreamDefaultWriter: "streams/install",
  addEventListener: "events/global-target",
  crypto: "crypto/install",
  dispatchEvent: "events/global-target",
  removeEventListener: "events/global-target",
  reportError: "report-error/install",
  self: "self",
  structuredClone: "structured-clone/install",
};

/** Modules that are chosen by how a global is used. */
const others = [
  "async-context/async-context",
  "console/install",
  "crypto/with-curves",
  "crypto/with-rsa",
  "crypto/with-symmetric",
  "encoding/install-all",
  "encoding/install-utf8",
];

/** All modules, for a test. */
export const platformModules: readonly string[] = [...Object.values(platform), ...others];

const names: ReadonlySet<string> = new Set([...Object.keys(platform), "TextDecoder"]);

/**
 * Returns the modules that a bundle needs, by their paths without an ending.
 *
 * @param code the bundle without these modules, because their code names more globals than it uses
 */
export function platformModulesIn(file: string, code: string): readonly string[] {
  const used = globalsIn(file, code, names, { members: "aliased" });
  const found = [...used].map((name) => platform[name]).filter((module) => module !== undefined);
  if (used.has("TextDecoder")) found.push(decodesUtf8Only(code) ? "encoding/install-utf8" : "encoding/install-all");
  if (formatsConsole.test(code)) found.push("console/install");
  return [...new Set(found)].sort();
}

/** The name of `console`: the SDK and the entry print texts only, by a property of the globals, which the engine's own prints. */
const formatsConsole = /(?<![.\w$"'`-])console\b(?!\s*:[^:])|\bglobalThis\.console\b/;

/** Uses of the class that need no other encoding: a call without a label or with that of UTF-8, and a test of its type. */
const plain = [
  /\bnew [\w$.]*\bTextDecoder\b\s*(?!\s*\()/g,
  /\bnew [\w$.]*\bTextDecoder\s*\(\s*(?:\)|["'`](?:unicode-1-1-)?utf-?8["'`]\s*[,)])/gi,
  /\b(?:typeof|instanceof) [\w$.]*\bTextDecoder\b/g,
];

/** Reports whether all decoders that a bundle makes are of UTF-8. */
function decodesUtf8Only(code: string): boolean {
  return !/\bTextDecoder\b/.test(plain.reduce((left, use) => left.replaceAll(use, ""), code));
}
