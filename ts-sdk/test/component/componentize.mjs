// node componentize.mjs <bundle> <wit folder> <output>
import { writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const [sourcePath, witPath, output] = process.argv.slice(2);
const { component } = await componentize({ sourcePath, witPath, worldName: "handler-glue" });
await writeFile(output, component);
