// embed.mjs MODULE OUT: puts two custom sections into a core module: the types of the world `engine` (wit/), where encoders of
// components look for them, and the names of the functions of "tenon:engine", by which a build chooses a variant.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { componentEmbed } from "@bytecodealliance/jco";

const wit = fileURLToPath(new URL("../../wit", import.meta.url));
const files = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".wit"))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
const line = /^package (\S+);\n/m;
// One text: our package, and each other one as a block.
const own = files(wit);
const [, name] = line.exec(own[0]);
const others = files(join(wit, "deps")).map(
  (text) => `package ${line.exec(text)[1]} {\n${text.replace(line, "")}\n}\n`,
);
const witSource = `package ${name};\n${own.map((text) => text.replace(line, "")).join("\n")}\n${others.join("\n")}`;
const [module, out] = process.argv.slice(2);
const binary = readFileSync(module);
const embedded = await componentEmbed({ binary, witSource, world: "engine" });
writeFileSync(out, Buffer.concat([embedded, section("tenon-functions", functionNames(binary).join("\n"))]));

/** Asks the engine itself for the names. */
function functionNames(binary) {
  const module = new WebAssembly.Module(binary);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    // Only the engine's seed has a result.
    imports[from][name] = () => 1n;
  }
  let printed = "";
  imports["sdk:core/log@0.1.0"].write = (_, at, length) => {
    printed += Buffer.from(exports.memory.buffer, at, length);
  };
  const { exports } = new WebAssembly.Instance(module, imports);
  const put = (text) => {
    const bytes = Buffer.from(text);
    const at = exports.cabi_realloc(0, 0, 1, bytes.length);
    new Uint8Array(exports.memory.buffer).set(bytes, at);
    return [at, bytes.length];
  };
  const source = `import * as all from "tenon:engine";
all.print(Object.keys(all).sort().join(" "));
export const handler = { handle() {} };`;
  if (exports.initialize(...put("functions.js"), ...put(source)) !== 0) throw new Error(printed);
  return printed.trim().split(" ");
}

/** A custom section (Core 5.5.3). */
function section(name, content) {
  const leb = (value) => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)]);
  const text = Buffer.from(name);
  const body = Buffer.concat([Buffer.from(leb(text.length)), text, Buffer.from(content)]);
  return Buffer.concat([Buffer.from([0, ...leb(body.length)]), body]);
}
