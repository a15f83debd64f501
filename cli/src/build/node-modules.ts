/** A plugin that resolves Node's modules to the files that stand in for them. */
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
import type { OnResolveArgs, OnResolveResult, PartialMessage, Plugin } from "esbuild";
import {
  entryFolder,
  isOfGuest,
  isolateFolder,
  nodeFolder,
  platformFolder,
  polyfillsFolder,
  referenceFolder,
} from "./guest-folders.ts";
import { Importers } from "./importers.ts";
import type { Injections } from "./injections.ts";
import { packageFolderOf, packageNameOf } from "./packages.ts";
import { type Use, type UsesOf, usesReader } from "./used-names.ts";

/** Node's modules that a component can have, and the file that stands in for each. */
const served: Readonly<Record<string, string>> = {
  assert: "assert",
  "assert/strict": "assert-strict",
  async_hooks: "async-hooks",
  buffer: "buffer",
  crypto: "crypto",
  diagnostics_channel: "diagnostics-channel",
  events: "events",
  path: "path",
  "path/posix": "path",
  perf_hooks: "perf-hooks",
  process: "process",
  punycode: "punycode",
  querystring: "querystring",
  stream: "stream",
  "stream/promises": "stream-promises",
  "stream/web": "stream-web",
  string_decoder: "string-decoder",
  sys: "util",
  timers: "timers",
  "timers/promises": "timers-promises",
  url: "url",
  util: "util",
  "util/types": "util-types",
};

/** Alternatives to modules that a component can't have. */
const advice: readonly (readonly [names: RegExp, text: string])[] = [
  [/^fs\b/, "there are no files: import a text or JSON into the bundle, and keep data in a storage or SQL sidecar"],
  [/^(http|https|http2)$/, "make requests with fetch() or httpClient(), and answer them with routes"],
  [/^(net|tls|dgram|dns)\b/, "there are no sockets: make requests with fetch() or httpClient()"],
  [/^zlib$/, "compress with CompressionStream and DecompressionStream"],
  [/^(child_process|worker_threads|cluster)$/, "a handler runs alone, in an instance without threads or processes"],
  [
    /./,
    "handlers run in a WebAssembly component, where there is no Node; files and databases are reached through sidecars",
  ],
];

const namespace = "tenon-node";

const folders = {
  "tenon-entry": entryFolder,
  "tenon-isolate": isolateFolder,
  "tenon-platform": platformFolder,
  "tenon-polyfills": polyfillsFolder,
  "tenon-reference": referenceFolder,
};

/**
 * The files that have a form with the engine's functions, which the build takes instead. Node can load the others: it lists their
 * exports, and tests them.
 */
const natives: readonly (readonly [file: string, instead: string, isUsed: (injections: Injections) => boolean])[] = [
  ["async-context", join(platformFolder, "async-context/async-context.js"), () => true],
  ["hashes", join(nodeFolder, "hashes-native.js"), ({ isForEngine }) => isForEngine],
  ["symmetric", join(nodeFolder, "symmetric-native.js"), ({ symmetric }) => symmetric],
];

/** A module for `require`, whose result is the default export of the ES module. */
const asCommonJs = (file: string) => `module.exports = require(${JSON.stringify(file)}).default;`;

/** The file that stands in for a module of Node. */
const fileOf = (name: string) => join(nodeFolder, `${served[name]}.js`);

/**
 * Resolves Node's own modules to their replacements inside a component, or to an error with an alternative. A name that
 * a package imports and the replacement lacks is reported as a warning.
 */
export function nodeModules(injections: Injections): Plugin {
  return {
    name: "node-modules",
    setup({ onResolve, onLoad }) {
      const names = new Set(builtinModules);
      // A file may import many modules, and is the same for as long as this bundle is made.
      const usesOf = usesReader();
      const importers = new Importers();
      onResolve({ filter: /^@?[a-z]/i }, async (args) => {
        importers.note(args);
        const name = nameOf(args, names);
        if (name === undefined) return undefined;
        if (name === "abort-controller") return { path: name, namespace };
        if (!Object.hasOwn(served, name)) return refuse(name, args, injections, usesOf, importers);
        return resolveServed(name, args, injections, usesOf);
      });
      onResolve({ filter: /^tenon-(?:entry|isolate|platform|polyfills|reference):/ }, ({ path }) => {
        const [scheme, file] = path.split(":") as [keyof typeof folders, string];
        return { path: join(folders[scheme], file) };
      });
      for (const [file, instead, isUsed] of natives) {
        onResolve({ filter: new RegExp(`^\\./${file}\\.js$`) }, ({ importer }) =>
          isUsed(injections) && importer.startsWith(nodeFolder) && importer !== instead
            ? { path: instead, sideEffects: false }
            : undefined,
        );
      }
      onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: contentsOf(path), resolveDir: nodeFolder }));
    },
  };
}

/** The name of the module of Node that an import means, if it does. */
function nameOf({ path, importer }: OnResolveArgs, names: ReadonlySet<string>): string | undefined {
  const name = path.replace(/^node:/, "");
  if (path.startsWith("node:") || names.has(name)) return name;
  // readable-stream prefers packages to modules that a component has anyway.
  if (!/[\\/]readable-stream[\\/]/.test(importer)) return undefined;
  if (name === "process/" || name === "string_decoder/") return name.slice(0, -1);
  return name === "abort-controller" ? name : undefined;
}

async function refuse(
  name: string,
  { path, importer, kind }: OnResolveArgs,
  injections: Injections,
  usesOf: UsesOf,
  importers: Importers,
): Promise<OnResolveResult> {
  if (kind === "require-call" && isInTry(await usesOf(importer), path)) return { path, external: true };
  injections.refusedBy.add(packageFolderOf(importer) ?? "");
  const text = `"${path}" is a module of Node that a component cannot have`;
  const detail = (advice.find(([names]) => names.test(name)) as (typeof advice)[number])[1];
  const chain = importers.chainTo(importer);
  return { errors: [{ text, notes: [{ text: detail }, ...(chain === undefined ? [] : [{ text: chain }])] }] };
}

/** Reports whether every `require` of a module is in a `try`, so that the package works without it. */
function isInTry(uses: readonly Use[], path: string): boolean {
  const calls = uses.filter(({ kind, specifier }) => kind === "require" && specifier === path);
  return calls.length > 0 && calls.every(({ isTried }) => isTried);
}

async function resolveServed(
  name: string,
  args: OnResolveArgs,
  injections: Injections,
  usesOf: UsesOf,
): Promise<OnResolveResult> {
  const { importer, kind } = args;
  const isOwn = isOfGuest(importer) || args.namespace !== "file";
  const lacking = isOwn ? [] : await lackingIn(await usesOf(importer), args.path, name);
  const owner = packageNameOf(importer);
  if (lacking.length > 0 && owner === undefined)
    return { errors: lacking.map((use) => lackingError(use, name, importer)) };
  if (lacking.length > 0) {
    const missing = [...new Set(lacking.map((use) => use.name))].join(", ");
    injections.warn(`${owner} uses ${missing} of node:${name}, which a component does not have: calls of it fail`);
  }
  const imports = [...new Set(lacking.filter((use) => use.kind === "import").map((use) => use.name))];
  if (kind === "require-call" || kind === "require-resolve")
    return { path: `${name}:require`, namespace, sideEffects: false };
  if (imports.length > 0) return { path: `${name}:${imports.join(",")}`, namespace, sideEffects: false };
  return { path: fileOf(name), sideEffects: false };
}

/** The names that a file imports from a module and its replacement lacks. */
async function lackingIn(uses: readonly Use[], specifier: string, name: string): Promise<Use[]> {
  const exports = await exportsOf(name);
  return uses.filter((use) => use.specifier === specifier && use.kind !== "require" && !exports.has(use.name));
}

/** Functions that are there only to say that they cannot work. */
const refusing: Readonly<Record<string, readonly string[]>> = { crypto: ["createPrivateKey", "createPublicKey"] };

const known = new Map<string, Promise<ReadonlySet<string>>>();

/** The available members of a module: its exports, and those of every object or function. */
function exportsOf(name: string): Promise<ReadonlySet<string>> {
  let exports = known.get(name);
  if (exports === undefined) {
    exports = import(fileOf(name)).then((module: { default: object }) => {
      const names = new Set(Object.keys(module));
      for (let at: object | null = module.default; at !== null; at = Object.getPrototypeOf(at))
        for (const each of Object.getOwnPropertyNames(at)) names.add(each);
      for (const each of refusing[name] ?? []) names.delete(each);
      return names.add("__esModule");
    });
    known.set(name, exports);
  }
  return exports;
}

function lackingError(use: Use, name: string, importer: string): PartialMessage {
  const { line, column, lineText } = use;
  return {
    text: `"${use.name}" of node:${name} does not exist in a component`,
    notes: [{ text: "docs/packages.md lists what there is of Node's modules" }],
    location: { file: relative(process.cwd(), importer), line, column, lineText, length: use.name.length },
  };
}

/** The text of a generated module, by its path. */
function contentsOf(path: string): string {
  if (path === "abort-controller") return "module.exports = globalThis;";
  const [name, lacking] = path.split(/:(?=[^:]*$)/) as [string, string];
  // Relative to their folder, so that no source map says where it is.
  const file = `./${served[name]}.js`;
  if (lacking === "require") return asCommonJs(file);
  const from = JSON.stringify(file);
  const stubs = lacking.split(",").map((each) => `export const ${each} = absent(${JSON.stringify(each)});`);
  return `export * from ${from};
export { default } from ${from};
const absent = (name) => function () {
  throw new Error(name + ${JSON.stringify(` of node:${name} does not exist in a component`)});
};
${stubs.join("\n")}
`;
}
