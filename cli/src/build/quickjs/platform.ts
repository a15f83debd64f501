/** The globals that QuickJS lacks, and the modules of `guest/src/platform` that define them. */
import { globalsIn } from "../global-uses.ts";

/** For each global, the module that defines it. A module imports the modules whose globals it uses. */
const platform: Readonly<Record<string, string | ((code: string) => string)>> = {
  Crypto: "crypto/install",
  CryptoKey: "crypto/install",
  SubtleCrypto: "crypto/install",
  TextDecoder: (code) => (decodesUtf8Only(code) ? "encoding/install-utf8" : "encoding/install-all"),
  TextEncoder: "encoding/install-encoder",
  console: "console/install",
  crypto: "crypto/install",
};

const names: ReadonlySet<string> = new Set(Object.keys(platform));

/**
 * Returns the modules that a bundle needs.
 *
 * @param code the bundle without these modules, because their code names more globals than it uses
 */
export function platformModulesIn(file: string, code: string): readonly string[] {
  const used = [...globalsIn(file, code, names, new Set())].map((name) => platform[name]);
  const modules = used.map((module) => (typeof module === "function" ? module(code) : module));
  return [...new Set(modules.filter((module) => module !== undefined))].sort();
}

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
