import type { KeyObject } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { systemReason, TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { findProject, moduleName, type Project } from "../project/project.ts";
import { formatBytes } from "../terminal.ts";
import { readJsonFile } from "../text-file.ts";

interface Options extends CommonOptions {
  readonly plainHttp?: boolean;
  readonly signKey?: string;
  readonly slim?: boolean;
  readonly json?: boolean;
}

/** `tenon publish`: put a component into an OCI registry. */
export function publishCommand(program: Command): void {
  const command = program
    .command("publish")
    .summary("publish a component to an OCI registry")
    .description(
      "Publishes what `tenon build -rc` wrote, or another component, and prints the reference with its digest. Credentials " +
        "are those of `docker login`.",
    )
    .argument("<reference>", "where to: oci://registry.example/team/shop:1.0")
    .argument("[component]", "component file; the project's composed component when left out")
    .option("--plain-http", "use HTTP without TLS; registries on this machine are always reached so")
    .option("--sign-key <file>", "sign it, in cosign's format; TENON_SIGN_PASSWORD decrypts the key")
    .option("--slim", "send the engine and a delta instead of the component; other tools cannot pull it")
    .option("--json", "print what was published as one line of JSON");
  withCommonOptions(command).action(async (text: string, file: string | undefined, options: Options) => {
    exitOnInterrupt();
    const terminal = terminalFor(options);
    const { parseTarget, publishComponent } = await import("../oci/publish.ts");
    const { interfacesOf } = await import("../oci/interfaces.ts");
    const target = parseTarget(text);
    const project = await findProject(process.cwd());
    const path = file === undefined ? builtComponent(project) : resolve(file);
    const component = await read(path);
    const signKey = options.signKey === undefined ? undefined : await signingKey(options.signKey);
    const shown = relative(process.cwd(), path);
    const own = project !== undefined && [project.component, project.composed].includes(path) ? project : undefined;
    const description = {
      ...describe(path, own),
      ...(await interfacesOf(component, shown)),
      created: creationTime(process.env["SOURCE_DATE_EPOCH"]),
    };
    const published = await terminal.step(
      "Publish",
      shown,
      async () =>
        publishComponent(component, description, target, {
          plainHttp: options.plainHttp === true,
          signKey,
          slim: options.slim === true,
        }),
      ({ sent }) => `(${formatBytes(sent)} sent)`,
    );
    const { reference, digest } = published;
    process.stdout.write(options.json ? `${JSON.stringify({ reference, digest })}\n` : `${reference}\n`);
  });
}

async function signingKey(file: string): Promise<KeyObject> {
  const { readSigningKey } = await import("../oci/keys.ts");
  return readSigningKey(file, process.env);
}

/** The component that other hosts can serve as well. */
function builtComponent(project: Project | undefined): string {
  if (project === undefined) {
    throw new TenonError(
      "NO_PROJECT",
      "there is no component to publish",
      "name one: tenon publish <reference> <file>.wasm, or go to a project's folder",
    );
  }
  const { component, composed } = project;
  const hint = "run `tenon build -rc` first";
  if (!existsSync(composed)) {
    throw new TenonError("NOT_BUILT", `${relative(process.cwd(), composed)} is not built yet`, hint);
  }
  const isStale = existsSync(component) && statSync(component).mtimeMs > statSync(composed).mtimeMs;
  if (isStale) {
    throw new TenonError(
      "NOT_BUILT",
      `${relative(process.cwd(), composed)} is older than ${relative(process.cwd(), component)}`,
      hint,
    );
  }
  return composed;
}

async function read(path: string): Promise<Buffer> {
  const { ociLimits } = await import("../oci/limits.ts");
  const refused = (problem: string) =>
    new TenonError("MODULE_READ", `cannot read ${relative(process.cwd(), path)}: ${problem}`);
  try {
    const { size } = statSync(path);
    if (size > ociLimits.componentBytes)
      throw refused(`it has ${size} bytes; the limit is ${ociLimits.componentBytes}`);
    return await readFile(path);
  } catch (error) {
    throw error instanceof TenonError ? error : refused(systemReason(error));
  }
}

function describe(path: string, project: Project | undefined): { title: string; version?: string; source?: string } {
  if (project === undefined) return { title: moduleName(path) };
  const { name, version } = project.config.project;
  const source = repositoryOf(join(project.folder, "package.json"));
  return { title: name, version, ...(source === undefined ? {} : { source }) };
}

/** The address of the source code in a `package.json`, without credentials; undefined when it has none. */
export function repositoryOf(file: string): string | undefined {
  let repository: unknown;
  try {
    ({ repository } = readJsonFile(file) as { repository?: unknown });
  } catch {
    return undefined;
  }
  const text =
    typeof repository === "object" && repository !== null ? (repository as { url?: unknown }).url : repository;
  if (typeof text !== "string") return undefined;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(text)?.[1];
  try {
    const url = new URL(short === undefined ? text.replace(/^git\+/, "") : `https://github.com/${short}`);
    if (!["http:", "https:", "ssh:", "git:"].includes(url.protocol)) return undefined;
    url.username = "";
    url.password = "";
    return url.href;
  } catch {
    return undefined;
  }
}

/** Now, or the time that reproducible builds give in seconds (`SOURCE_DATE_EPOCH`). */
function creationTime(epoch: string | undefined): Date {
  if (epoch === undefined || epoch === "") return new Date();
  const time = new Date(/^[0-9]{1,12}$/.test(epoch) ? Number(epoch) * 1000 : Number.NaN);
  if (Number.isNaN(time.getTime())) throw new TenonError("USAGE", "SOURCE_DATE_EPOCH is not a number of seconds");
  return time;
}
