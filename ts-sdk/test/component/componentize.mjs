// node componentize.mjs <bundle> <output>: makes a component from a bundle as `tenon build` does.
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { prepareEngine } from "../../../cli/dist/build/engine.js";
import { Terminal } from "../../../cli/dist/terminal.js";

const [source, output] = process.argv.slice(2);
const engine = await prepareEngine(new Terminal());
const { component } = await engine.build(basename(source), await readFile(source), [], []);
await writeFile(output, component);
