import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { Pty } from "./pty.ts";
import { root, tenon } from "./servers.ts";

let folder: string;
const terminals: Pty[] = [];

/** Makes a folder for the projects of a test file, and ends each test's {@link develop} afterwards. */
export function developing(): void {
  beforeAll(async () => {
    // Inside the clone, where handlers find the SDK.
    await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
    folder = await mkdtemp(join(root, "cli/e2e/.tenon/dev-"));
  });
  afterEach(() => {
    for (const terminal of terminals.splice(0)) terminal.kill();
  });
  afterAll(() => rm(folder, { recursive: true }));
}

/** A project of one handler. */
export async function project(name: string, handler: string, config = ""): Promise<string> {
  const at = join(folder, name);
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "${name}"\n${config}`);
  await writeFile(join(at, "src/handler.ts"), handler);
  return at;
}

/** `tenon dev` on a terminal. */
export function develop(cwd: string, args = ""): Pty {
  const terminal = new Pty(`${process.execPath} ${tenon} dev ${args}`, cwd);
  terminals.push(terminal);
  return terminal;
}

/** The base of the module, once it is served, and the address of the services. */
export async function served(terminal: Pty, name: string): Promise<{ base: string; url: string; services: string }> {
  const [, url = ""] = await terminal.sees(new RegExp(`Serve (http://\\S+)/run/${name}/\n`));
  const [, services = ""] = await terminal.sees(/Services (http:\/\/\S+)\/\n/);
  return { base: `${url}/run/${name}`, url, services };
}
