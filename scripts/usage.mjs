// Arguments of scripts: `--help` prints the comment at the head of a script, and a wrong argument ends it with a message.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fail } from "./setup.mjs";

/** Parses the arguments of the script at a URL, as `parseArgs` of Node does. */
export function argumentsOf(url, config) {
  const given = process.argv.slice(2);
  const end = given.indexOf("--");
  if ((end < 0 ? given : given.slice(0, end)).includes("--help")) {
    console.log(headOf(url));
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const [first] = error.message.split(". ");
    fail(`${first}; --help has the usage`);
  }
}

/** The comment at the head of a script. */
function headOf(url) {
  const lines = readFileSync(fileURLToPath(url), "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
}
