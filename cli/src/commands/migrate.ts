import { resolve } from "node:path";
import type { Command } from "commander";
import type { InProcessSidecar } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import { exitOnInterrupt } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { findProject, type Project } from "../project/project.ts";
import { withEnvironmentFile } from "../project/secrets.ts";
import { resolveSidecars } from "../project/sidecars.ts";
import { TOKEN_VARIABLE, tokenFrom } from "./sidecar-options.ts";

interface Options extends CommonOptions {
  readonly folder?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}

/** `tenon migrate`: apply a project's migrations to a database behind a sidecar. */
export function migrateCommand(program: Command): void {
  const command = program
    .command("migrate")
    .summary("apply the project's migrations to its database")
    .description(
      "Applies the files of migrations/<dialect>/, or of migrations/, to the database behind a sidecar `sql`: in the order of " +
        "their names, each once and in one transaction. Without an address it takes the sidecar `db` of tenon.toml, or the " +
        "development services while `tenon dev` runs.",
    )
    .argument("[address]", "the sidecar: unix:///run/db.sock or http://127.0.0.1:7001")
    .option("--folder <folder>", "the folder of the migrations; migrations/ of the project when left out")
    .option("--token-file <file>", `file with the sidecar's bearer token; the variable ${TOKEN_VARIABLE} when left out`)
    .option("--json", 'print a line {"dialect", "applied", "before"}');
  withCommonOptions(command).action(run);
}

async function run(named: string | undefined, options: Options): Promise<void> {
  exitOnInterrupt();
  const terminal = terminalFor(options);
  const project = await findProject(process.cwd());
  const home = project?.folder ?? process.cwd();
  const address = named ?? (project && (configured(project) ?? (await developmentServices(project.folder))));
  if (address === undefined) {
    throw new TenonError(
      "USAGE",
      "no database is named, and no `tenon dev` of this project runs",
      "start `tenon dev`, or give the address of a sidecar: tenon migrate unix:///run/db.sock",
    );
  }
  const { migrate } = await import("../embed/migrate.ts");
  const folder = options.folder === undefined ? resolve(home, "migrations") : resolve(options.folder);
  const migrated = await migrate({ address, folder, token: tokenFrom(options) });
  for (const name of migrated.applied) terminal.note("Migrate", name);
  if (migrated.applied.length === 0)
    terminal.note("Migrate", `nothing to do: ${migrated.before.length} files are applied`);
  if (options.json) process.stdout.write(`${JSON.stringify(migrated)}\n`);
}

function configured({ config, folder }: Project): string | InProcessSidecar | undefined {
  const { db } = config.sidecars;
  return db && resolveSidecars({ db }, folder, withEnvironmentFile(folder, process.env))["db"];
}

async function developmentServices(folder: string): Promise<string | undefined> {
  const { servicesOf } = await import("../dev/running.ts");
  return servicesOf(folder);
}
