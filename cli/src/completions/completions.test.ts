import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Argument, Command, Option } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import { createProgram } from "../program.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { powershellScript } from "./powershell.ts";
import { type Shell, shells } from "./shells.testing.ts";
import { commandTree, everyCommand } from "./tree.ts";
import { zshScript } from "./zsh.ts";

const write = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** A command with every feature, so that these tests don't change with Tenon's own commands. */
function sample(): Command {
  const program = new Command("tenon").version("1", "-V, --version");
  program
    .command("new")
    .summary('make a [project]: it\'s "new"')
    .argument("<name>")
    .addOption(new Option("-t, --template <name>", "what to begin with").choices(["hello", "rest", "sql"]));
  program
    .command("run")
    .argument("[component...]")
    .option("-p, --port <number>", "port")
    .option("-o, --output <file>", "where to")
    .option("-q, --quiet", "errors only");
  const sidecar = program.command("sidecar").description("serve");
  sidecar.command("sql").option("--read-only", "no changes").option("--data <folder>", "where");
  sidecar.command("kv").option("--limit <bytes>", "how much");
  program.command("completions").addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]));
  return program;
}

let folder: string;
const scripts = new Map<string, string>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-completions-"));
  for (const each of ["modules", "dist", "data"]) await mkdir(join(folder, each));
  for (const file of ["modules/auth.wasm", "dist/shop-composed.wasm", "dist/shop.wasm", "a file.wasm", "notes.txt"]) {
    await writeFile(join(folder, file), "");
  }
  for (const { name } of shells) {
    scripts.set(name, join(folder, `.script.${name}`));
    await writeFile(join(folder, `.script.${name}`), write[name](commandTree(sample())));
  }
});
afterAll(() => rm(folder, { recursive: true }));

const offers = (shell: Shell, line: string) => shell.offers(scripts.get(shell.name) ?? "", line, folder).sort();

/** No PowerShell is here to ask, so the script is read: quotes and brackets end, and every word of a command is in it. */
describe("powershell", () => {
  /** The script without its texts and comments. */
  const plain = (script: string) => {
    const noComments = script.replace(/^\s*#.*$/gm, "");
    return noComments.replace(/'(?:[^']|'')*'/g, "''").replace(/"[^"]*"/g, '""');
  };

  test("quotes and brackets are closed", () => {
    for (const root of [commandTree(sample()), commandTree(createProgram())]) {
      const open: string[] = [];
      const closing: Readonly<Record<string, string>> = { "(": ")", "{": "}", "[": "]" };
      for (const [each] of plain(powershellScript(root)).matchAll(/[(){}[\]'"]/g)) {
        if (closing[each] !== undefined) open.push(closing[each]);
        else if (each !== "'" && each !== '"') expect(each).toBe(open.pop());
      }
      expect(open).toEqual([]);
    }
  });

  test("texts are quoted, typographic quotes as well", () => {
    const script = powershellScript(commandTree(sample()));
    expect(script).toContain(`Name = 'new'; About = 'make a [project]: it''s "new"'`);
    const program = new Command("tenon").option("--odd", "it\u2019s $(touch evaluated)");
    expect(powershellScript(commandTree(program))).toContain("About = 'it\u2019\u2019s $(touch evaluated)'");
  });

  test("every command of tenon and every option is offered", () => {
    const root = commandTree(createProgram());
    const script = powershellScript(root);
    for (const { path, options } of everyCommand(root)) {
      const entry = script.slice(script.indexOf(`'${["", ...path].join(" ")}' = @{`));
      expect(entry).not.toBe("");
      for (const flag of options.flatMap((option) => option.flags)) expect(entry).toContain(`'${flag}'`);
      if (path.length > 0) expect(script).toContain(`Name = '${path.at(-1)}'`);
    }
  });
});

describeEach("$name", shells, (shell) => {
  test.each([
    ["tenon ", ["completions", "help", "new", "run", "sidecar"]],
    ["tenon si", ["sidecar"]],
    ["tenon sidecar ", ["help", "kv", "sql"]],
    ["tenon sidecar sql --read", ["--read-only"]],
    ["tenon sidecar kv --read", []],
    ["tenon new -t ", ["hello", "rest", "sql"]],
    ["tenon new --template=", ["hello", "rest", "sql"]],
    ["tenon new --template s", ["sql"]],
    ["tenon new demo --tem", ["--template"]],
    ["tenon completions ", ["bash", "fish", "zsh"]],
    ["tenon completions bash ", []],
    ["tenon run -p ", []],
    ["tenon run -p 80 --qu", ["--quiet"]],
    ["tenon help r", ["run"]],
    ["tenon nonsense ", []],
  ])("%j", (line, expected) => {
    // fish offers --template=hello as a whole.
    const found = offers(shell, line).map((each) => each.replace(/^--\w+=/, ""));
    // zsh goes on to options after the last argument.
    expect(line.includes("-") ? found : found.filter((each) => !each.startsWith("-"))).toEqual(expected);
  });

  test("components are .wasm files, the project's modules, and folders on the way to them", () => {
    const found = offers(shell, "tenon run ").map((each) => each.replace(/\/$/, "").replaceAll("\\ ", " "));
    expect(found).toEqual(expect.arrayContaining(["a file.wasm", "auth", "dist", "modules", "shop"]));
    expect(found).not.toContain("notes.txt");
    expect(found.filter((each) => each === "shop")).toHaveLength(1);
  });

  test("files where files belong", () => {
    expect(offers(shell, "tenon run -o no")).toEqual(["notes.txt"]);
    expect(offers(shell, "tenon sidecar sql --data da").map((each) => each.replace(/\/$/, ""))).toEqual(["data"]);
  });

  test.each(["$(touch evaluated)", "`touch evaluated`", "'$(touch evaluated)", "--template=$(touch evaluated)"])(
    "what was typed is not evaluated: %s",
    (typed) => {
      for (const line of [`tenon ${typed}`, `tenon run ${typed}`, `tenon new -t ${typed}`, `tenon run ${typed} -`]) {
        offers(shell, line);
        expect(existsSync(join(folder, "evaluated"))).toBe(false);
      }
    },
  );

  test("file names are not evaluated either", async () => {
    const file = join(folder, "modules", "$(touch evaluated).wasm");
    await writeFile(file, "");
    try {
      expect(offers(shell, "tenon run ").map((each) => each.replaceAll("\\", ""))).toContain("$(touch evaluated)");
      expect(existsSync(join(folder, "evaluated"))).toBe(false);
    } finally {
      await rm(file);
    }
  });

  test("every command of tenon and every option is offered", async () => {
    const root = commandTree(createProgram());
    const script = join(folder, `.whole.${shell.name}`);
    await writeFile(script, write[shell.name](root));
    for (const { path, options } of root.commands) {
      expect(shell.offers(script, `tenon ${path.join(" ")}`, folder)).toContain(path.at(-1));
      const flags = options.flatMap((option) => option.flags).filter((flag) => flag.startsWith("--"));
      const offered = shell.offers(script, `tenon ${path.join(" ")} --`, folder).map((each) => each.replace(/=$/, ""));
      expect(offered).toEqual(expect.arrayContaining(flags));
    }
  });
});
