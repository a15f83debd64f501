/** The project's folder of recordings, and the recordings in it by the ids of their requests. */
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { TenonError } from "../errors.ts";
import { defaultConfig } from "../project/config.ts";
import { findProject } from "../project/project.ts";
import { tapeOf } from "./tapes.ts";

/** A folder of recordings, with its bounds. */
export interface Folder {
  readonly folder: string;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

/** The folder of recordings that the project configures; undefined when it configures none. */
async function configuredFolder(): Promise<Folder | undefined> {
  const project = await findProject(process.cwd());
  const { record } = project?.config ?? defaultConfig(process.env);
  if (record.folder === undefined) return undefined;
  const { maxBytes, maxAgeMs } = record;
  return {
    folder: resolve(project?.folder ?? ".", record.folder),
    maxBytes,
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  };
}

/** @throws TenonError `USAGE` when the project configures no folder */
export async function folderOfProject(): Promise<Folder> {
  const configured = await configuredFolder();
  if (configured !== undefined) return configured;
  throw new TenonError(
    "USAGE",
    "the folder of recordings must be given, because no tenon.toml names one",
    "give its path, or set `folder` in [record] of the project's tenon.toml",
  );
}

/** The path for an argument: a file or folder as it is, and the id of a request as the project's recording of it. */
export async function pathOf(given: string): Promise<string> {
  const isThere = await access(given).then(
    () => true,
    () => false,
  );
  if (isThere) return given;
  const folder = await configuredFolder();
  const found = folder && (await tapeOf(given, folder.folder).catch(() => undefined));
  return found ?? given;
}
