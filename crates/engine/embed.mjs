// embed.mjs MODULE OUT: puts the types of the world `engine` (wit/) into a core module, where encoders of components look for them.
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
writeFileSync(out, await componentEmbed({ binary: readFileSync(module), witSource, world: "engine" }));
