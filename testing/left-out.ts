import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Reporter, TestModule } from "vitest/node";
import type {} from "./needs.ts";
import { howToInstall, type ProgramName } from "./programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Prints one line for each missing program at the end of a run: the skipped tests, and how to install the program. */
export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = leftOut(modules);
    if (lines.length > 0) process.stderr.write(`${lines.join("\n")}\n\n`);
  }
}

function leftOut(modules: readonly TestModule[]): string[] {
  const programs = new Map<ProgramName, { count: number; files: Set<string> }>();
  for (const module of modules) {
    for (const test of module.children.allTests("skipped")) {
      for (const name of test.meta().missing ?? []) {
        const entry = programs.get(name) ?? { count: 0, files: new Set() };
        entry.count++;
        entry.files.add(relative(root, module.moduleId));
        programs.set(name, entry);
      }
    }
  }
  return [...programs].map(([name, { count, files }]) => {
    const what = `${count} ${count === 1 ? "test" : "tests"} of ${[...files].join(", ")}`;
    return `left out: ${what}, because ${name} is not installed; install it: ${howToInstall(name)}`;
  });
}
