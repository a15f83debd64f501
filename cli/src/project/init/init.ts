/** `tenon init`: makes a project of Tenon of a project that exists. It adds what is missing, and overwrites nothing. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { systemReason, TenonError } from "../../errors.ts";
import { installedVersion } from "../../versions.ts";
import { entryProblem } from "../config/entry.ts";
import { dependencySpecs } from "../dependency-specs.ts";
import { projectNameProblem } from "../name.ts";
import { configFile } from "../project.ts";
import { readPackage, readTsConfig, readWrangler, type TsConfig } from "./files.ts";
import { appOf, type FoundApp, findApp, hiddenApp, type Manifest, specifierOf, startedModules } from "./find-app.ts";
import {
  bindingsOf,
  drizzleFolder,
  type Finding,
  findingsIn,
  usesDatabase,
  variablesOfFiles,
  type Wrangler,
} from "./limits-of-app.ts";
import { sourceFile, sourcesFrom } from "./sources.ts";

/** The result of `tenon init`. */
export interface Initialized {
  /** The module with the app, relative to the folder. */
  readonly app: string;
  /** Files that were made, relative to the folder. */
  readonly created: readonly string[];
  /** Files that got something more, with what. */
  readonly added: readonly { readonly file: string; readonly what: string }[];
  /** Files that are there and were left alone. */
  readonly kept: readonly string[];
  /** The parts of the app that will not work in a component. */
  readonly findings: readonly Finding[];
}

/** Options of `tenon init`. */
export interface InitOptions {
  /** The module with the app, in the place of the one that `package.json` starts. */
  readonly entry?: string | undefined;
}

const handlerFile = "src/handler.ts";

/**
 * Adds what a project lacks to be one of Tenon.
 *
 * @throws TenonError `NO_PROJECT` without a `package.json` or an app, `USAGE` for a wrong entry, `CONFIG`, `WRITE`
 */
export function initProject(folder: string, { entry }: InitOptions): Initialized {
  const manifest = readPackage(folder);
  const wrangler = readWrangler(folder);
  const tsconfig = readTsConfig(folder);
  const aliases = tsconfig?.aliases ?? {};
  const app = entry === undefined ? appIn(folder, manifest, wrangler, aliases) : appAt(folder, entry, aliases);
  const work = new Work(folder);
  const isHandler = relative(folder, app.file) === join(handlerFile);
  const hasOther = !isHandler && existsSync(join(folder, handlerFile));
  // A default export needs no module in between, where the usual place is taken or another one was named.
  const direct = isHandler || (app.name === "default" && (hasOther || entry !== undefined));
  if (hasOther && !direct && !existsSync(join(folder, configFile)))
    throw new TenonError(
      "NO_PROJECT",
      `${relative(folder, app.file)} exports the app as \`${app.name}\`, and ${handlerFile} is another module already`,
      `add \`export default ${app.name};\` to ${relative(folder, app.file)}, and run tenon init again`,
    );
  const named = direct && !isHandler ? relative(folder, app.file).replaceAll("\\", "/") : undefined;
  const sources = sourcesFrom(app.file, aliases);
  work.create(configFile, () => configText(folder, manifest, wrangler, named, usesDatabase(sources)));
  if (!direct) work.create(handlerFile, () => handlerText(folder, app, tsconfig));
  if (tsconfig === undefined) {
    if (/\.[cm]?tsx?$/.test(app.file) || !direct) work.create("tsconfig.json", () => tsconfigText(app, folder));
  } else includeHandler(work, tsconfig, direct ? relative(folder, app.file) : handlerFile);
  // `tenon dev` reads the secrets of a Worker there.
  const workerSecrets = join(folder, ".dev.vars");
  if (existsSync(workerSecrets)) work.create(".env", () => readFileSync(workerSecrets, "utf8"));
  addDependencies(work, manifest);
  ignore(work);
  const findings = [
    ...findingsIn(folder, sources),
    ...drizzleFolder(folder),
    ...(wrangler === undefined ? [] : bindingsOf(wrangler)),
  ];
  return { app: relative(folder, app.file), ...work.done, findings };
}

/** Writes files that are missing. */
class Work {
  readonly folder: string;
  readonly done: { created: string[]; added: { file: string; what: string }[]; kept: string[] } = {
    created: [],
    added: [],
    kept: [],
  };

  constructor(folder: string) {
    this.folder = folder;
  }

  create(file: string, text: () => string): void {
    if (existsSync(join(this.folder, file))) this.done.kept.push(file);
    else {
      this.write(file, text(), "wx");
      this.done.created.push(file);
    }
  }

  /** Changes a file that is there; undefined leaves it alone. */
  extend(file: string, what: string, change: (text: string) => string | undefined): void {
    const before = readFileSync(join(this.folder, file), "utf8");
    const text = change(before);
    if (text === undefined || text === before) this.done.kept.push(file);
    else {
      this.write(file, text, "w");
      this.done.added.push({ file, what });
    }
  }

  write(file: string, text: string, flag: "w" | "wx"): void {
    try {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      writeFileSync(join(this.folder, file), text, { flag });
    } catch (error) {
      throw new TenonError("WRITE", `cannot write ${file}: ${systemReason(error)}`, undefined, error);
    }
  }
}

function appIn(
  folder: string,
  manifest: Manifest,
  wrangler: Wrangler | undefined,
  aliases: Readonly<Record<string, string>>,
): FoundApp {
  const handler = sourceFile(join(folder, handlerFile));
  const started = startedModules(folder, manifest, wrangler?.main);
  const own = handler === undefined ? undefined : sourcesFrom(handler, aliases)[0];
  const found = (own && appOf(own)) ?? findApp(started, aliases);
  if (found !== undefined) return found;
  const hidden = hiddenApp(started, aliases);
  const shown = started
    .map((file) => relative(folder, file))
    .slice(0, 4)
    .join(", ");
  if (hidden !== undefined)
    throw new TenonError(
      "NO_PROJECT",
      `${relative(folder, hidden.file)} makes an app and does not export it`,
      hidden.isServer
        ? "move the app into a module of its own, such as src/app.ts, which exports it and which the server imports; then run tenon init again"
        : "add `export default app;` to it; then run tenon init again",
    );
  throw new TenonError(
    "NO_PROJECT",
    `no module exports an app that speaks fetch, such as one of Hono${shown === "" ? "" : `; looked at ${shown}`}`,
    "name its file: tenon init --entry src/app.ts",
  );
}

function appAt(folder: string, entry: string, aliases: Readonly<Record<string, string>>): FoundApp {
  const path = relative(folder, resolve(folder, entry)).replaceAll("\\", "/");
  const file = sourceFile(resolve(folder, entry));
  if (file === undefined) throw new TenonError("USAGE", `there is no ${entry}`, "--entry names the file with the app");
  const problem = entryProblem(relative(folder, file).replaceAll("\\", "/"));
  if (problem !== undefined) throw new TenonError("USAGE", `--entry ${path} ${problem}`);
  const [source] = sourcesFrom(file, aliases);
  return (source && appOf(source)) ?? { file, name: "default" };
}

function configText(
  folder: string,
  { name, version }: Manifest,
  wrangler: Wrangler | undefined,
  entry: string | undefined,
  hasDatabase: boolean,
): string {
  const { env, secrets, databaseUrl } = variablesOfFiles(folder);
  const isServed = hasDatabase && /^(?:postgres(?:ql)?:\/\/|sqlite:)/.test(databaseUrl ?? "");
  // The password is the sidecar's, and not the module's.
  const isPrivate = isServed || (hasDatabase && databaseUrl === "");
  const all = { ...env, ...wrangler?.vars };
  const vars = Object.entries(all).filter(([variable]) => /^[A-Za-z_]\w*$/.test(variable));
  const own = secrets.filter((name) => all[name] === undefined && !(isPrivate && name === "DATABASE_URL"));
  const isVersion = /^\d+\.\d+\.\d+/.test(version ?? "");
  return `#:schema ./node_modules/tenon/tenon.schema.json
[project]
name = ${JSON.stringify(nameOf(folder, name))}
${isVersion ? `version = ${JSON.stringify(version)}\n` : ""}${entry === undefined ? "" : `entry = ${JSON.stringify(entry)}\n`}
[server]
port = 3000

# Variables of the app: \`c.env.NAME\`, and \`process.env.NAME\`.
[env]
${vars.map(([variable, value]) => `${variable} = ${JSON.stringify(value)}\n`).join("")}
# Secrets of the app: \`c.env.NAME\` in handlers. Their values are in the environment of \`tenon run\`, and in .env for \`tenon dev\`.
[secrets]
${own.map((secret) => `${secret} = "env:${secret}"\n`).join("")}
# Hosts that the app may call with fetch.
[outbound]
allow = []

# Databases and the like, which the app reaches through @tenon/sdk.
[sidecars]
${isServed ? "" : "# "}db = { run = "sql", url = "env:DATABASE_URL" }
`;
}

/** A name that a project can have, from that of the package or the folder. */
function nameOf(folder: string, name: string | undefined): string {
  for (const each of [name, basename(folder)]) {
    const plain = (each ?? "")
      .replace(/^@[^/]+\//, "")
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, "-")
      .replace(/^[^a-z0-9]+|-composed$|\.wasm$/g, "");
    if (plain !== "" && projectNameProblem(plain) === undefined) return plain;
  }
  return "app";
}

function handlerText(folder: string, { file, name }: FoundApp, tsconfig: TsConfig | undefined): string {
  const from = specifierOf(join(folder, dirname(handlerFile)), file, tsconfig?.style ?? "ts");
  const imported = name === "default" || name === "app" ? name : `${name} as app`;
  return `// The module that \`tenon build\` makes a component of: the app of ${relative(folder, file).replaceAll("\\", "/")}.
import ${imported === "default" ? "app" : `{ ${imported} }`} from ${JSON.stringify(from)};
export default app;
`;
}

function tsconfigText({ file }: FoundApp, folder: string): string {
  const [top = "src"] = relative(folder, file).split(/[\\/]/);
  const include = [...new Set(["src", top])];
  return `${JSON.stringify(
    {
      compilerOptions: {
        target: "ES2023",
        lib: ["ES2023"],
        module: "ESNext",
        moduleResolution: "bundler",
        types: ["@tenon/sdk/engine"],
        strict: true,
        noEmit: true,
        allowJs: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      },
      include,
    },
    null,
    2,
  )}\n`;
}

/** Adds the handler to the list of `tsconfig.json` that leaves it out. */
function includeHandler(work: Work, { include, hasFiles }: TsConfig, handler: string): void {
  const file = handler.replaceAll("\\", "/");
  const [top] = file.split("/");
  const covers = (pattern: string) => {
    const plain = pattern.replace(/^\.\//, "");
    return plain === file || plain === top || plain === "." || plain.startsWith("*") || plain.startsWith(`${top}/*`);
  };
  if (hasFiles || (include !== undefined && !include.some(covers))) {
    work.extend("tsconfig.json", file, (text) =>
      text.replace(hasFiles ? /("files"\s*:\s*\[)/ : /("include"\s*:\s*\[)/, (_, open) => {
        const isEmpty = (include ?? [""]).length === 0;
        return `${open}${JSON.stringify(file)}${isEmpty ? "" : ", "}`;
      }),
    );
  } else work.done.kept.push("tsconfig.json");
}

/** Adds Tenon's packages to `package.json`, in its own form. */
function addDependencies(work: Work, { dependencies = {}, devDependencies = {} }: Manifest): void {
  const missing = Object.entries(dependencySpecs()).filter(
    ([name]) => dependencies[name] === undefined && devDependencies[name] === undefined,
  );
  const what = missing.map(([name]) => name).join(", ");
  work.extend("package.json", what, (text) => {
    if (missing.length === 0) return undefined;
    const manifest = JSON.parse(text.replace(/^\uFEFF/, "")) as Manifest;
    const [, indent = "  "] = /\n([ \t]+)"/.exec(text) ?? [];
    const all = { ...manifest.devDependencies, ...Object.fromEntries(missing) };
    const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
    return `${JSON.stringify({ ...manifest, devDependencies: sorted }, null, indent)}\n`;
  });
}

/** Reports whether files in a folder find every package that its `package.json` names. */
export function isInstalled(folder: string): boolean {
  const { dependencies, devDependencies } = readPackage(folder);
  const names = Object.keys({ ...dependencies, ...devDependencies });
  return names.every((name) => installedVersion(name, folder) !== undefined);
}

/** Adds the folders that a build writes to `.gitignore`. */
function ignore(work: Work): void {
  const lines = ["node_modules/", "dist/", ".tenon/", ".env"];
  const file = ".gitignore";
  if (!existsSync(join(work.folder, file))) {
    work.create(file, () => `${lines.join("\n")}\n`);
    return;
  }
  const known = new Set(
    readFileSync(join(work.folder, file), "utf8")
      .split(/\r?\n/)
      .map((line) => line.trim().replace(/^\/|\/$/g, "")),
  );
  const missing = lines.filter((line) => !known.has(line.replace(/\/$/, "")));
  work.extend(file, missing.join(", "), (text) =>
    missing.length === 0
      ? undefined
      : `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`,
  );
}
