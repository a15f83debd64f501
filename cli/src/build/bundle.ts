/** The first step of a build: esbuild makes one ES module from the handler module and its imports. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Probing } from "@tenon/guest/entry/until";
import type { LinkedModule } from "@tenon/native";
import { type Imports, importsOf } from "@tenon/sdk/import-circle";
import { type BuildResult, build, type Message, type Metafile } from "esbuild";
import { TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";
import { DocumentProcess } from "../schema/apart.ts";
import { browserForms, emptyModules } from "./browser-forms.ts";
import { bundleError, lacksDefault } from "./bundle-error.ts";
import { engineFunctionsIn, engineModule } from "./engine-module.ts";
import {
  entryModule,
  entryName,
  fetchEntryModule,
  type HostName,
  hosts,
  refuseListeners,
  type ToolsOrError,
} from "./entry.ts";
import { Injections } from "./injections.ts";
import { Locales } from "./intl/locales.ts";
import { intl } from "./intl/plugin.ts";
import { isolateProgram } from "./isolate-program.ts";
import { LinkedModules } from "./linked.ts";
import type { Lookups } from "./lookups.ts";
import { nodeGlobals, nodeGlobalsModule } from "./node-globals.ts";
import { nodeModules } from "./node-modules.ts";
import { sdkPeers } from "./sdk-peers.ts";
import { sources } from "./sources.ts";

/** A handler and all it imports as one ES module, on disk with its source map beside it. */
export interface Bundle {
  readonly file: string;
  /** The handler module; absolute. */
  readonly source: string;
  readonly sourceMap: string;
  /** Bytes of JavaScript. */
  readonly size: number;
  /** Uses that may fail in the component although the bundle is whole. */
  readonly warnings: readonly string[];
  /** The WebAssembly modules that it calls. */
  readonly linked: readonly LinkedModule[];
  /** The imports of the project's modules, by their files. */
  readonly imports: Imports;
  /** The functions that it imports from "tenon:engine". */
  readonly engineFunctions: readonly string[];
}

/** Options of a bundle. */
export interface BundleOptions {
  readonly minify: boolean;
  /** The engine that will run it; Tenon's by default. */
  readonly host?: HostName;
  /** See `entryModule`. */
  readonly checkResponses: boolean;
  /** The seed of random values at top level; without it they are refused. */
  readonly seed?: string;
  /** The variables that `process.env` has at top level. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Notes the files that the bundle depends on. */
  readonly lookups?: Lookups;
  /** The probes of `tenon replay --until`. */
  readonly probes?: Probes;
}

/** A source file that is bundled with probes. */
export interface Probes {
  /** Absolute. */
  readonly file: string;
  /** Returns the text of the file with its probes; called when the handler imports the file. */
  readonly text: () => string;
  readonly settings: Probing;
}

/**
 * Bundles the project's handler, more than once when it names something that a component lacks; {@link Injections} says why.
 *
 * @throws TenonError `BUILD` with file, line, column and the line itself, for each error
 */
export async function bundle(project: Project, options: BundleOptions): Promise<Bundle> {
  const file = join(project.scratch, "build", `${project.config.project.name}.js`);
  await mkdir(dirname(file), { recursive: true });
  const { locales } = project.config.project;
  const { host = "engine" } = options;
  const injections = new Injections(host, options.seed, locales && (await Locales.load(locales, project.folder)));
  const linked = new LinkedModules(project.folder, host, (text) => injections.warn(text));
  try {
    // Relative, so that neither the bundle nor its source map says which folder the project is in.
    const handler = `./${relative(project.folder, project.source).replaceAll("\\", "/")}`;
    // It contains most of the names that an app uses; an unreadable file is reported later, with its place.
    const text = await readFile(project.source, "utf8").catch(() => "");
    injections.sdkParts.addFrom(text);
    let entry: Entry = {
      contents: entryModule(handler, options.checkResponses, host, {}, options.probes?.settings),
      toolsOf: (tools) => entryModule(handler, options.checkResponses, host, tools, options.probes?.settings),
      guard: text.includes("addEventListener") ? `import ${JSON.stringify(refuseListeners)};\n` : "",
    };
    let result = await bundled(project, file, entry, options, injections, linked).catch((error) => {
      // It may be an app by a listener of `fetch`.
      if (!lacksDefault(error)) throw error;
    });
    if (result === undefined || !hasRoutes(result.metafile)) {
      entry = { contents: fetchEntryModule(handler, host, options.probes?.settings), guard: "" };
      result = await bundled(project, file, entry, options, injections, linked);
    }
    while (await injections.add(project.folder, file, result.metafile))
      result = await bundled(project, file, entry, options, injections, linked);
    if (injections.sdkParts.has("mcp/serve") && entry.toolsOf !== undefined) {
      entry = { ...entry, contents: entry.toolsOf(await toolsOrError(project)) };
      result = await bundled(project, file, entry, options, injections, linked);
    }
    const output = Object.values(result.metafile.outputs).find((each) => each.entryPoint !== undefined);
    const { warnings } = injections;
    const modules = linked.in(result.metafile);
    const { source } = project;
    const engineFunctions = engineFunctionsIn(file, await readFile(file, "utf8"));
    const size = output?.bytes ?? 0;
    const imports = importsOf(result.metafile);
    return { file, source, sourceMap: `${file}.map`, size, warnings, linked: modules, imports, engineFunctions };
  } catch (error) {
    if (error !== null && typeof error === "object" && "errors" in error)
      throw bundleError(project, error.errors as Message[], (text) => linked.remarksOn(text));
    throw error;
  }
}

/**
 * The tools of a project, or the reason why there are none. Only an app with the option fails for it, and the word alone may
 * be in any source.
 */
async function toolsOrError(project: Project): Promise<ToolsOrError> {
  const documents = new DocumentProcess();
  try {
    return { tools: await documents.tools(project) };
  } catch (error) {
    if (!(error instanceof TenonError)) throw error;
    return { error: error.message };
  } finally {
    documents.close();
  }
}

/** The generated modules. */
interface Entry {
  readonly contents: string;
  /** Makes the contents for an app with the option `mcp`. */
  readonly toolsOf?: (tools: ToolsOrError) => string;
  /** The import of a module that runs after the globals are there and before the handler module; mostly empty. */
  readonly guard: string;
}

/** Bundles with the injections found so far, and with the browser form of packages that need it. */
async function bundled(
  project: Project,
  file: string,
  entry: Entry,
  options: BundleOptions,
  injections: Injections,
  linked: LinkedModules,
): Promise<BuildResult<{ metafile: true }>> {
  try {
    return await bundleOnce(project, file, entry, options, injections, linked);
  } catch (error) {
    if (!injections.addBrowserForms()) throw error;
    return bundled(project, file, entry, options, injections, linked);
  }
}

const conditions = ["tenon", "worker", "import", "default"];

async function bundleOnce(
  project: Project,
  file: string,
  entry: Entry,
  { minify, checkResponses, environment, lookups, probes, host = "engine" }: BundleOptions,
  injections: Injections,
  linked: LinkedModules,
): Promise<BuildResult<{ metafile: true }>> {
  injections.begin();
  const importHost = `import ${JSON.stringify(hosts[host])};\n`;
  const mode = checkResponses ? "development" : "production";
  const forms = injections.hasBrowserForms ? [browserForms(injections, conditions), emptyModules] : [];
  return build({
    absWorkingDir: project.folder,
    stdin: {
      contents: importHost + injections.imports + entry.guard + entry.contents,
      resolveDir: project.folder,
      sourcefile: entryName,
      loader: "js",
    },
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2023",
    mainFields: ["module", "main"],
    conditions,
    external: ["wasi:*"],
    plugins: [
      nodeGlobalsModule(injections.nodeGlobals, host, injections.platformImports, project.folder),
      ...(lookups === undefined ? [] : [lookups.plugin]),
      engineModule(host),
      isolateProgram,
      sdkPeers(project.folder),
      ...forms,
      nodeModules(injections),
      intl(injections, project.folder),
      injections.sdkParts.plugin,
      linked.plugin,
      sources(injections, project.folder, probes),
    ],
    // Packages choose their checks and messages by it, as bundlers define it.
    define: {
      global: "globalThis",
      "process.env.NODE_ENV": JSON.stringify(mode),
      TENON_ENVIRONMENT: JSON.stringify(JSON.stringify({ NODE_ENV: mode, ...environment })),
      "process.env.NODE_DEBUG": "undefined",
      "process.env.READABLE_STREAM": "undefined",
      ...(injections.seed === undefined ? {} : { TENON_SEED: JSON.stringify(injections.seed) }),
    },
    inject: injections.nodeGlobals.size === 0 ? [] : [nodeGlobals],
    sourcemap: "linked",
    sourcesContent: true,
    minify,
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
}

/** Reports whether a bundle calls `routes` of the SDK. A bundle without it can only be an app that speaks `fetch`. */
function hasRoutes({ outputs }: Metafile): boolean {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.some(([input, { bytesInOutput }]) => bytesInOutput > 0 && routesModule.test(input));
}

/** The module of `@tenon/sdk` that defines `routes`, in a folder that may have another name where it is linked. */
const routesModule = /\/(?:dist|src)\/app\/routes\.[jt]s$/;
