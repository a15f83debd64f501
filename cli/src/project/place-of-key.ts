/** The places of keys in a project's `tenon.toml`, for errors that show up after it was read. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { readTextFile } from "../text-file.ts";
import { readToml, type TomlEntries } from "./config/toml.ts";

/** Returns `tenon.toml:9: ` for a key such as `secrets.KEY`, and nothing for one that the file does not have. */
export function placeOfKey(folder: string, section: string, name: string): string {
  const file = join(folder, "tenon.toml");
  if (!existsSync(file)) return "";
  try {
    let entries: TomlEntries | undefined = readToml(readTextFile(file));
    for (const each of section.split(".")) entries = entries?.get(each)?.entries;
    const entry = entries?.get(name);
    return entry === undefined ? "" : `${relative(process.cwd(), file)}:${entry.key.line}: `;
  } catch {
    return "";
  }
}
