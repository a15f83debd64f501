/** `[sidecars]` of a project as a runtime takes it: with the URLs of the stores, which `tenon.toml` only refers to. */
import { resolve } from "node:path";
import type { Sidecars } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import type { InProcessTable } from "./config/in-process.ts";
import type { Environment } from "./config/parse.ts";
import { placeOfKey } from "./place-of-key.ts";
import { missingHint, valueAt } from "./secrets.ts";

/**
 * The sidecars of a section.
 *
 * @param folder the base of relative paths
 * @param section the section's name in errors
 * @throws TenonError `CONFIG` naming each sidecar whose URL is unavailable, and never a URL
 */
export function resolveSidecars(
  values: Readonly<Record<string, string | InProcessTable>>,
  folder: string,
  environment: Environment,
  section = "sidecars",
): Sidecars {
  const problems: string[] = [];
  const missing: string[] = [];
  const sidecars = Object.entries(values).flatMap(([name, value]): (readonly [string, Sidecars[string]])[] => {
    if (typeof value === "string") return [[name, value]];
    const { url = "", urlFile, ...others } = value;
    const source = urlFile === undefined ? url : `file:${urlFile}`;
    const isElsewhere = urlFile !== undefined || url.startsWith("env:");
    const found = isElsewhere ? valueAt(source, folder, environment) : { value: url };
    if ("value" in found) return [[name, { ...others, url: withFolder(found.value, folder) }]];
    problems.push(`${placeOfKey(folder, section, name)}${section}.${name}: ${found.problem}`);
    if (url.startsWith("env:")) missing.push(url.slice("env:".length));
    return [];
  });
  if (problems.length > 0)
    throw new TenonError("CONFIG", problems.join("\n"), missingHint(missing, folder, environment));
  return Object.fromEntries(sidecars);
}

/** A URL of a file or a folder, whose path is relative to a folder. */
function withFolder(url: string, folder: string): string {
  const [, scheme, path] = /^(sqlite:|file:)(?!\/)(.+)$/s.exec(url) ?? [];
  return path === undefined ? url : `${scheme}${resolve(folder, path)}`;
}
