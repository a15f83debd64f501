// A part of a page that a program writes: between `<!-- name: written by … -->` and `<!-- end -->`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** Replaces the part called `name` of a page; the page is named from the clone's folder. */
export function writeSection(page, name, text) {
  const file = join(root, page);
  const before = readFileSync(file, "utf8");
  const begin = before.indexOf(`<!-- ${name}: `);
  const from = before.indexOf("-->", begin) + 3;
  const to = before.indexOf("<!-- end -->", from);
  if (begin < 0 || to < 0) throw new Error(`${page} has no part ${name}`);
  writeFileSync(file, `${before.slice(0, from)}\n${text}\n${before.slice(to)}`);
}
