import { readFileSync } from "node:fs";

/** A file's text with replacements, each of which has to apply. */
export function patched(path, replacements) {
  let text = readFileSync(path, "utf8");
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}
