// The packages of wit/ as one text, for tools that take no folder.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Reads them; another world can be appended. */
export function packages() {
  const wit = fileURLToPath(new URL("../../wit", import.meta.url));
  const files = (from) =>
    readdirSync(from)
      .filter((name) => name.endsWith(".wit"))
      .sort()
      .map((name) => readFileSync(join(from, name), "utf8"));
  const line = /^package (\S+);\n/m;
  const own = files(wit);
  const [, name] = line.exec(own[0]);
  const others = files(join(wit, "deps")).map(
    (text) => `package ${line.exec(text)[1]} {\n${text.replace(line, "")}\n}\n`,
  );
  return `package ${name};\n${others.join("\n")}\n${own.map((text) => text.replace(line, "")).join("\n")}`;
}
