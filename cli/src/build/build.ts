/** A build in its steps: bundle, componentize, and compose on request. */
import { createHash } from "node:crypto";
import { access, constants, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { systemReason, TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { type Project, sourceHint } from "../project/project.ts";
import { formatBytes, type Terminal } from "../terminal.ts";
import { type Bundle, bundle, type Probes } from "./bundle.ts";
import { prepareEngine } from "./engine.ts";
import { BuildEnvironment, ReadsEnvironment } from "./environment.ts";
import { isHostCall } from "./explain.ts";
import { withFunctionNames } from "./function-names.ts";
import { Lookups } from "./lookups.ts";
import { referenceComponentizer } from "./reference.ts";
import { snapshotComponentizer } from "./snapshot.ts";

/** Options of a build. */
export interface BuildOptions {
  /** Smaller output for serving, at the cost of a longer build. */
  readonly release: boolean;
  /** Also compose with the bridge. */
  readonly compose: boolean;
  /** Let componentize-js make the component, with its own engine. */
  readonly reference?: boolean;
  /** Answer 500 to a response that does not match its declared type, as `tenon dev` does. */
  readonly checkResponses?: boolean;
  /**
   * Called with the files that the bundle was made from, and those that were looked for, also when there is no bundle; `isWhole` is
   * false then.
   */
  readonly read?: (files: readonly string[], isWhole: boolean) => void;
  /** The probes of `tenon replay --until`. */
  readonly probes?: Probes;
}

/** A file that was written. */
export interface WrittenFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

/** The files and figures of a build. */
export interface BuildResult {
  readonly component: WrittenFile;
  readonly composed?: WrittenFile;
}

/**
 * Builds a project: bundle, componentize, and compose on request. Reports the result of each step. Files are written
 * whole or not at all, so a server that reads them sees the old one or the new one.
 *
 * @throws TenonError `BUILD` for errors in the sources, and the codes of composition
 */
export async function buildProject(project: Project, options: BuildOptions, terminal: Terminal): Promise<BuildResult> {
  const lookups = options.read && new Lookups(project.source);
  let isWhole = false;
  const tell = () => lookups && options.read?.(lookups.files(), isWhole);
  await requireSource(project).catch((error) => {
    tell();
    throw error;
  });
  const shown = (path: string) => relative(process.cwd(), path);
  const how = {
    minify: options.release,
    host: options.reference === true ? "reference" : "engine",
    checkResponses: options.checkResponses === true,
    ...(lookups && { lookups }),
    ...(options.probes && { probes: options.probes }),
  } as const;
  let bundled: Bundle = await terminal.step(
    "Bundle",
    shown(project.source),
    async () => {
      try {
        const made = await bundle(project, how);
        isWhole = true;
        return made;
      } finally {
        tell();
      }
    },
    ({ size }) => `(${formatBytes(size)} of JavaScript)`,
  );
  for (const warning of bundled.warnings) terminal.say(`warning: ${warning}`);
  // Outside of the step, whose time is the build's: the engine is prepared once, and that is said.
  const environment = new BuildEnvironment(project.config.env, project.config.secrets);
  const componentize = options.reference
    ? referenceComponentizer
    : snapshotComponentizer(await prepareEngine(bundled.engineFunctions, terminal), terminal, options, environment);
  const component = await terminal.step(
    "Componentize",
    shown(project.component),
    async () => {
      let seed: string | undefined;
      const made = async (): Promise<Uint8Array> => {
        try {
          return await componentize(bundled);
        } catch (error) {
          // With a seed, random values need no host. A call of another kind fails again with the same error.
          const isForSeed = !options.reference && seed === undefined && isHostCall(error);
          if (!isForSeed && !(error instanceof ReadsEnvironment)) throw error;
          if (isForSeed)
            seed = createHash("sha256")
              .update(await readFile(bundled.file))
              .digest("hex");
          bundled = await bundle(project, { ...how, ...(seed && { seed }), environment: environment.variables });
          return made();
        }
      };
      const bytes = await made();
      const map = await readFile(bundled.sourceMap, "utf8");
      const named = options.release ? withFunctionNames(map, await readFile(bundled.file, "utf8")) : map;
      await write(project.sourceMap, Buffer.from(named));
      return { bytes, artifact: await write(project.component, bytes) };
    },
    ({ artifact }) => `(${formatBytes(artifact.bytes)})`,
  );
  if (!options.compose) return { component: component.artifact };
  const composed = await terminal.step(
    "Compose",
    shown(project.composed),
    async () => {
      const bridge = await bridgeOverride(project);
      return write(project.composed, await fromNative(native().compose(Buffer.from(component.bytes), bridge)));
    },
    ({ bytes }) => `(${formatBytes(bytes)})`,
  );
  return { component: component.artifact, composed };
}

/** @internal */
export async function requireSource(project: Project): Promise<void> {
  const { source } = project;
  const refused = (problem: string, hint?: string) =>
    new TenonError("BUILD", `cannot read ${relative(process.cwd(), source)}: ${problem}`, hint);
  try {
    await access(source, constants.R_OK);
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw refused(systemReason(error), isAbsent ? sourceHint(project) : undefined);
  }
  if (!(await stat(source)).isFile()) throw refused("it is not a regular file");
}

/** The bridge that `tenon.toml` names instead of the one that ships. */
async function bridgeOverride(project: Project): Promise<Buffer | undefined> {
  const { bridge } = project.config.composition;
  if (bridge === undefined) return undefined;
  const file = isAbsolute(bridge) ? bridge : join(project.folder, bridge);
  try {
    return await readFile(file);
  } catch (error) {
    throw new TenonError("CONFIG", `cannot read composition.bridge, ${file}: ${systemReason(error)}`);
  }
}

async function write(path: string, bytes: Uint8Array): Promise<WrittenFile> {
  const folder = dirname(path);
  const partial = join(folder, `.${basename(path)}.${process.pid}.part`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(partial, bytes);
    await rename(partial, path);
  } catch (error) {
    // Cleanup may fail for the same reason; ignore it.
    await rm(partial, { force: true }).catch(() => {});
    throw new TenonError("WRITE", `cannot write ${path}: ${systemReason(error)}`);
  }
  return { path, bytes: bytes.byteLength };
}
