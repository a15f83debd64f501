/** Finds the additions that a bundle needs: globals, polyfills, forms of packages, parts of the SDK. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Metafile } from "esbuild";
import type { HostName } from "./entry.ts";
import { globalsIn } from "./global-uses.ts";
import { isOfGuest, nodeFolder } from "./guest-folders.ts";
import { type IntlName, intlModule, intlNamesIn } from "./intl/classes.ts";
import type { Locales } from "./intl/locales.ts";
import { nodeGlobalNames } from "./node-globals.ts";
import { hasBrowserForm, packageFolderOf, packageNameOf } from "./packages.ts";
import { platformModulesIn } from "./platform.ts";
import { isOfSdk } from "./sdk-names.ts";
import { SdkParts } from "./sdk-parts.ts";
import { mayUseSubtle, SubtleUses } from "./subtle-uses.ts";

/** The modules of `guest/src/polyfills`, and the test for a bundle that uses them. */
const polyfills: Readonly<Record<string, (code: string) => boolean>> = {
  "built-in-modules": (code) => /\.getBuiltinModule\b/.test(code) && code.includes("async_hooks"),
  navigator: (code) => /\bnavigator\??\.userAgent\b/.test(code),
};

/** Globals, and the polyfill that defines each. */
const globalPolyfills: ReadonlyMap<string, string> = new Map([
  ["Headers", "fetch"],
  ["Request", "fetch"],
  ["Response", "fetch"],
  ["URLPattern", "url-pattern"],
  ["fetch", "fetch"],
]);

const globalNames: ReadonlySet<string> = new Set(globalPolyfills.keys());

/** Polyfills that the SDK has, because its own classes of `fetch` do; an app that speaks `fetch` has them already. */
const sdkPolyfills: Readonly<Record<string, string>> = { fetch: "@tenon/sdk/fetch-classes" };

/** The functions of `node:crypto` for ciphers and derived keys, and the files that define them. Files may have their names. */
const symmetricNames = /\bcreate(?:C|Dec)ipheriv\b|(?<!["'`/])\b(?:argon2|pbkdf2|scrypt|hkdf)(?:Sync)?\b/;
const symmetricUsers = ["ciphers.js", "crypto-derive.js"].map((file) => join(nodeFolder, file));

/** The SDK's module that hashes passwords, by functions of `node:crypto` with the core module. */
const passwordFile = /[\\/]password[\\/]algorithms\.[jt]s$/;

/** The SDK's module of `jwt`. */
const jwtFile = /[\\/]middleware[\\/]jwt\.[jt]s$/;

/**
 * Modules that a build injects into a bundle besides its own sources. They are found in the syntax tree of the bundle,
 * where unused code is gone. So a bundle is made more than once:
 *
 * 1. without any, with its unused code removed;
 * 2. with the globals of Node, polyfills and parts of the SDK that the last one names, until none is new, which mostly is
 *    at once;
 * 3. with the modules of the engine's platform. They are last, because all other modules may use them, and name more
 *    globals than they use.
 *
 * So a handler contains only what it needs.
 */
export class Injections {
  /** Node's globals that are named without an import. */
  readonly nodeGlobals = new Set<string>();
  /** The modules that run before all others, because they define features that the engine lacks. */
  readonly polyfills = new Set<string>();
  /** The classes of `Intl` to add. */
  intl: ReadonlySet<IntlName> = new Set();
  /** The bundle that named them, without them. */
  intlCode = "";
  /** The locales that the project names; undefined when it names none. */
  readonly locales: Locales | undefined;
  /** The seed of random values at top level, as hexadecimal digits; undefined while nothing asks for any. */
  readonly seed: string | undefined;
  /** Folders of packages whose browser form is used, because the other form imports modules that only Node has. */
  readonly browserForms = new Set<string>();
  /** True when every package that has such a form is taken in it. */
  allBrowserForms = false;
  /** Folders of packages whose form for browsers parses with `DOMParser`, which only a page has: the other one is taken. */
  readonly #documentForms = new Set<string>();
  /**
   * Folders of packages that imported modules that a component can't have, in the last round; empty for the user's own.
   */
  readonly refusedBy = new Set<string>();
  /** The parts of the SDK that sources name. */
  readonly sdkParts = new SdkParts();
  /** True when the bundle has the functions of `node:crypto` for ciphers and derived keys. */
  symmetric = false;
  #namesSymmetric = false;
  readonly #subtle = new SubtleUses();
  readonly #readForSubtle = new Set<string>();
  readonly #warnings = new Set<string>();

  /** The modules of `guest/src/platform` that the bundle needs; undefined until everything else is found. */
  #platform: readonly string[] | undefined;
  readonly #host: HostName;

  constructor(host: HostName, seed: string | undefined, locales: Locales | undefined) {
    this.#host = host;
    this.seed = seed;
    this.locales = locales;
    if (seed !== undefined) this.polyfills.add("random-while-building");
  }

  /** True for Tenon's engine, which `guest/src/platform` is for; false for that of componentize-js. */
  get isForEngine(): boolean {
    return this.#host === "engine";
  }

  warn(text: string): void {
    this.#warnings.add(text);
  }

  get warnings(): readonly string[] {
    // Files are read in any order.
    return [...this.#warnings].sort();
  }

  /** Begins another round, which warns and refuses anew. */
  begin(): void {
    this.refusedBy.clear();
    this.#warnings.clear();
  }

  /** Adds the needs of a bundle; returns whether it has to be made again. */
  async add(folder: string, file: string, metafile: Metafile): Promise<boolean> {
    // The platform is last, and its code names globals that it does without.
    if (this.#platform !== undefined) return false;
    const { outputs } = metafile;
    const code = await readFile(file, "utf8");
    const before = this.#size;
    for (const name of globalsIn(file, code, nodeGlobalNames, { members: "none" })) this.nodeGlobals.add(name);
    for (const [name, isNamed] of Object.entries(polyfills)) {
      if (isNamed(code)) this.polyfills.add(name);
    }
    // The classes themselves name others, so only a bundle without them is looked at.
    if (this.locales !== undefined && this.intl.size === 0) {
      this.intl = intlNamesIn(code);
      this.intlCode = code;
    }
    const inputs = Object.values(outputs)
      .flatMap((output) => Object.entries(output.inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([input]) => resolve(folder, input));
    await this.#addSubtle(inputs);
    // The SDK's client calls the host, and names `fetch` through an alias for other engines.
    for (const name of globalsIn(file, code, globalNames, { members: "direct" }))
      this.polyfills.add(globalPolyfills.get(name) as string);
    if (this.hasBrowserForms && /\bnew DOMParser\b/.test(code)) await this.#leaveDocumentForms(inputs);
    const needsParts = await this.sdkParts.add(folder, metafile);
    if (needsParts || this.#size > before) return true;
    if (!this.isForEngine) return false;
    this.#platform = [...platformModulesIn(file, code), ...this.#subtle.platformModules];
    return this.#platform.length > 0;
  }

  /** Adds the parts of `crypto.subtle` that sources use. In the SDK only `jwt` needs any. */
  async #addSubtle(inputs: readonly string[]): Promise<void> {
    for (const input of inputs) {
      if (this.#readForSubtle.has(input) || isOfGuest(input)) continue;
      this.#readForSubtle.add(input);
      if (jwtFile.test(input) && (await isOfSdk(input))) this.#subtle.hasJwt = true;
      if (passwordFile.test(input) && (await isOfSdk(input))) this.#namesSymmetric = true;
      // The build makes some modules itself; they have no file.
      const text = await readFile(input, "utf8").catch(() => "");
      if (!(mayUseSubtle.test(text) || symmetricNames.test(text)) || (await isOfSdk(input))) continue;
      this.#subtle.addFrom(input, text);
      // This package defines functions of these names, and `node:crypto` imports it.
      this.#namesSymmetric ||= packageNameOf(input) !== "@noble/hashes" && symmetricNames.test(text);
    }
    this.symmetric ||= this.#namesSymmetric && inputs.some((input) => symmetricUsers.includes(input));
  }

  async #leaveDocumentForms(inputs: readonly string[]): Promise<void> {
    for (const input of inputs) {
      const folder = packageFolderOf(input);
      if (folder === undefined || !this.isInBrowserForm(folder)) continue;
      if (/\bnew DOMParser\b/.test(await readFile(input, "utf8"))) this.#documentForms.add(folder);
    }
  }

  /** Adds packages whose browser form may avoid the refused import; returns whether there are any. */
  addBrowserForms(): boolean {
    const before = this.#size;
    for (const folder of this.refusedBy) if (hasBrowserForm(folder)) this.browserForms.add(folder);
    if (this.#size > before) return true;
    // A package without such a form may be there for one that has it.
    if (this.allBrowserForms || this.refusedBy.size === 0 || this.refusedBy.has("")) return false;
    this.allBrowserForms = true;
    return true;
  }

  get #size(): number {
    return (
      this.nodeGlobals.size +
      this.polyfills.size +
      this.intl.size +
      this.browserForms.size +
      this.#documentForms.size +
      Number(this.symmetric)
    );
  }

  /** Imports of the engine's platform, which everything else may use: other modules of the build, too. */
  get platformImports(): string {
    return importsOf((this.#platform ?? []).map((name) => `tenon-platform:${name}.js`));
  }

  /** The beginning of the entry: imports of the platform and of the polyfills. */
  get imports(): string {
    const modules = [...this.polyfills].sort().map((name) => sdkPolyfills[name] ?? `tenon-polyfills:${name}.js`);
    if (this.intl.size > 0) modules.push(intlModule);
    return this.platformImports + importsOf(modules);
  }

  /** Reports whether a package is taken in its form for browsers. */
  isInBrowserForm(folder: string): boolean {
    if (this.#documentForms.has(folder)) return false;
    return this.browserForms.has(folder) || (this.allBrowserForms && hasBrowserForm(folder));
  }

  get hasBrowserForms(): boolean {
    return this.allBrowserForms || this.browserForms.size > 0;
  }
}

const importsOf = (modules: readonly string[]) => modules.map((name) => `import "${name}"; `).join("");
