// node componentize.mjs <bundle> <output>: a component of a bundle, made as `tenon build` makes one.
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { prepareEngine } from "../../../cli/dist/build/engine.js";
import { Terminal } from "../../../cli/dist/terminal.js";

const [source, output] = process.argv.slice(2);
const engine = await prepareEngine(new Terminal());
const { component } = await engine.build(basename(source), await readFile(source), []);
await writeFile(output, component);
