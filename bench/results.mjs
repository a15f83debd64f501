// Writes a program's section into bench/RESULTS.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("RESULTS.md", import.meta.url));

const load = loadavg()[0].toFixed(1);

/** The machine, the date, and the machine's other load at the start of the measurement. */
export const conditions = `load average ${load}, ${cpus().length} × ${cpus()[0].model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;

/** Replaces or adds the section called `name`, and prints it. */
export function record(name, text) {
  const section = `## ${name}\n\n${text.trim()}\n`;
  const head = "# Results\n\nEach section is written by the program that it is named after.\n";
  const old = existsSync(file) ? readFileSync(file, "utf8") : head;
  const parts = old.split(/^(?=## )/m).filter((part) => !part.startsWith(`## ${name}\n`));
  writeFileSync(file, [...parts.map((part) => part.trimEnd()), section].join("\n\n"));
  console.log(section);
}
