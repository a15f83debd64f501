import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Command, Option } from "commander";
import { systemReason, TenonError } from "../errors.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import type { DocumentProcess } from "../schema/apart.ts";
import type { Terminal } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly check?: boolean;
  readonly workspaces?: boolean;
  readonly openapi: "3.0" | "3.1";
  readonly json?: boolean;
}

/** `tenon schema`: the OpenAPI documents of a package, or of all packages of a workspace. */
export function schemaCommand(program: Command): void {
  const command = program
    .command("schema")
    .summary("write the OpenAPI document")
    .description(
      "Writes openapi.json beside package.json, the OpenAPI document of the routes in src/handler.ts, or in the file that tenon.toml names. At the root of " +
        "a workspace it does so for every package that has routes.",
    )
    .option("--check", "write nothing; fail when the file is out of date, and print the difference")
    .option("-w, --workspaces", "all packages of the workspace, from within one of them too")
    .addOption(
      new Option("--openapi <version>", "the version of OpenAPI; 3.1 has JSON Schema 2020-12")
        .choices(["3.0", "3.1"])
        .default("3.0"),
    )
    .option("--json", "print the written files, or the differences, as JSON");
  withCommonOptions(command).action(async (options: Options) => {
    const terminal = terminalFor(options);
    const { packagesFrom } = await import("../schema/packages.ts");
    const folders = packagesFrom(process.cwd(), options.workspaces === true);
    const { DocumentProcess } = await import("../schema/apart.ts");
    const documents = new DocumentProcess();
    try {
      await (options.check ? check : writeAll)(folders, documents, terminal, options);
    } finally {
      documents.close();
    }
  });
}

async function writeAll(
  folders: readonly string[],
  documents: DocumentProcess,
  terminal: Terminal,
  options: Options,
): Promise<void> {
  const { schemaFile } = await import("../schema/document.ts");
  const written: { path: string; bytes: number }[] = [];
  for (const folder of folders) {
    const path = relative(process.cwd(), join(folder, schemaFile));
    const text = await documents.document(folder, options.openapi);
    await write(path, text);
    const bytes = Buffer.byteLength(text);
    written.push({ path, bytes });
    terminal.say(`${terminal.bold("Generate".padStart(12))} ${path} (${bytes} bytes)`);
  }
  if (options.json) process.stdout.write(`${JSON.stringify(written)}\n`);
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new TenonError("WRITE", `cannot write ${path}: ${systemReason(error)}`);
  }
}

/** The output of `--check --json` for a document. */
interface Checked {
  readonly path: string;
  readonly up_to_date: boolean;
  /** The changes of writing it again, as a unified diff; empty when there are none. */
  readonly difference: string;
}

/** @throws TenonError `SCHEMA_OUTDATED` after all differences are on standard output */
async function check(
  folders: readonly string[],
  documents: DocumentProcess,
  terminal: Terminal,
  { json, openapi }: Options,
): Promise<void> {
  const { createTwoFilesPatch } = await import("diff");
  const { schemaFile } = await import("../schema/document.ts");
  const checked: Checked[] = [];
  for (const folder of folders) {
    const path = relative(process.cwd(), join(folder, schemaFile));
    const wanted = await documents.document(folder, openapi);
    const found = await readIfThere(path);
    const same = found === wanted;
    const difference = same ? "" : createTwoFilesPatch(path, path, found ?? "", wanted, "on disk", "of the routes");
    checked.push({ path, up_to_date: same, difference });
    if (same) terminal.say(`${terminal.bold("Check".padStart(12))} ${path} is up to date`);
    else if (!json) process.stdout.write(difference);
  }
  if (json) process.stdout.write(`${JSON.stringify(checked)}\n`);
  const outdated = checked.filter((one) => !one.up_to_date).map(({ path }) => path);
  if (outdated.length > 0) {
    throw new TenonError(
      "SCHEMA_OUTDATED",
      `out of date: ${outdated.join(", ")}`,
      `run \`tenon schema${openapi === "3.0" ? "" : ` --openapi ${openapi}`}\` to write it anew`,
    );
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new TenonError("SCHEMA", `cannot read ${path}: ${systemReason(error)}`);
  }
}
